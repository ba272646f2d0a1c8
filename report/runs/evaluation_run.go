package runs

import (
	"errors"
	"graft/report/document"
	"graft/simulation/evaluation"
	"math"
	"slices"
	"strings"
)

// EvaluationKind describes the run folders that graft evaluate --out writes for policies.
var EvaluationKind = &Kind{Name: "evaluation", By: "graft evaluate", Title: "evaluation", Titles: "evaluations",
	matches: hasManifestAnd("verdicts.csv", "members.csv"), read: readEvaluationRun, list: evaluationOverview,
	series: func(r *Run) ([]Series, error) {
		list, err := streamSeries(r, "verdicts", "members", "standings", "folds")
		for k := range list {
			if list[k].Name == "standings" {
				dropUnknown(&list[k])
			}
		}
		return list, err
	}}

// dropUnknown marks the numbers of candidates without a result in any table as missing. Earlier versions stored such
// candidates with a regret of 0, the best value.
func dropUnknown(standings *Series) {
	tables := standings.Column("tables")
	if tables == nil {
		return
	}
	for _, c := range standings.Columns {
		for k := range c.Values {
			if tables.Values[k] == 0 && c.Name != "seeds" && c.Name != "tables" {
				c.Values[k] = math.NaN()
			}
		}
	}
}

func readEvaluationRun(f *Folder, r *Run) error {
	o := &EvaluationOutcome{}
	err := f.readOwn(r, o)
	r.Seeded = false // it covers all seeds that learned
	if err != nil || !r.Ended {
		return err
	}
	r.Quantities = evaluationQuantities(o)
	return o.check()
}

// check returns an error for an outcome without tables.
func (o *EvaluationOutcome) check() error {
	if len(o.Comparison().Tables) == 0 {
		return errors.New(OutcomeFile + " has no tables: the file is damaged; evaluate again, " +
			"in another folder or with option \"force\"")
	}
	return nil
}

// evaluationQuantities lists the regrets of policies and of some baselines. The names for the first policy are equal in
// all evaluations.
func evaluationQuantities(o *EvaluationOutcome) []Quantity {
	c := o.Comparison()
	var policies, baselines []Quantity
	named := map[evaluation.Role]bool{}
	for _, s := range c.Standings {
		if s.Tables < len(c.Tables) {
			continue
		}
		if s.Role == evaluation.RoleBaseline {
			if slices.Contains(ShownBaselines, s.Policy) {
				baselines = append(baselines, seedless(strings.ReplaceAll(s.Policy, " ", "_")+"_regret",
					document.UnitPoints, Neutral, s.Regret))
			}
			continue
		}
		q := memberRegrets(o, c, s.Policy)
		if len(q.Values) == 0 { // only the mean is known
			q.Seeds, q.Values = nil, []float64{s.Regret}
		}
		q.Name = map[evaluation.Role]string{evaluation.RoleVote: "vote_regret", evaluation.RolePolicy: "regret"}[s.Role]
		if named[s.Role] {
			q.Name += "_of_" + s.Policy
		}
		if named[s.Role] = true; s.Role == evaluation.RoleVote && len(q.Values) == 1 {
			q.Seeds = nil
		}
		policies = append(policies, q)
	}
	return finite(slices.Concat(policies, baselines, []Quantity{seedless("chance_regret", document.UnitPoints, Neutral,
		c.Floor), seedless("tables", "", Neutral, float64(len(c.Tables)))})...)
}

// memberRegrets lists the regret of each member of a chooser, averaged over the tables.
func memberRegrets(o *EvaluationOutcome, c *evaluation.Comparison, chooser string) Quantity {
	q := Quantity{Unit: document.UnitPoints, Better: Lower}
	for table := range c.Tables {
		for k, v := range o.Values(table, chooser, RegretOf) {
			if k == len(q.Values) {
				q.Seeds, q.Values = append(q.Seeds, int64(k+1)), append(q.Values, 0)
			}
			q.Values[k] += v / float64(len(c.Tables))
		}
	}
	return q
}
