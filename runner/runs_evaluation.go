package main

import (
	"errors"
	"slices"
	"strings"

	"graft/results"
	"graft/simulation/evaluation"
)

// evaluationRuns is the folders of graft evaluate --out.
var evaluationRuns = &runKind{name: "evaluation", title: "evaluation", titles: "evaluations", fits: isRunOf("verdicts.csv", "members.csv"), read: readEvaluationRun, detail: readEvaluationDetail,
	series: func(r *runData) ([]runSeries, error) {
		return streamSeries(r, "verdicts", "members", "standings", "folds")
	}}

func readEvaluationRun(f *runFolderView, r *runData) error {
	o := &evaluationOutcome{}
	err := f.own(r, o)
	r.Seeded = false // it is of all seeds that learned
	if err != nil || !r.Ended {
		return err
	}
	r.Quantities = evaluationQuantities(o)
	return o.check()
}

// check says why an outcome is none of an evaluation's.
func (o *evaluationOutcome) check() error {
	if len(o.comparison().Tables) == 0 {
		return errors.New(outcomeFile + " says nothing of any table: it is damaged; evaluate again, in another folder or with --force")
	}
	return nil
}

// evaluationQuantities are the regrets of the policies, and of some that need no
// learning. The first policy's have the same names in all evaluations.
func evaluationQuantities(o *evaluationOutcome) []quantity {
	c := o.comparison()
	var policies, rivals []quantity
	named := map[evaluation.Role]bool{}
	for _, s := range c.Standings {
		if s.Tables < len(c.Tables) {
			continue
		}
		if s.Role == evaluation.RoleBaseline {
			if slices.Contains(shownRivals, s.Policy) {
				rivals = append(rivals, seedless(strings.ReplaceAll(s.Policy, " ", "_")+"_regret", unitPoints, noAim, s.Regret))
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
	return finite(slices.Concat(policies, rivals, []quantity{seedless("chance_regret", unitPoints, noAim, c.Floor), seedless("tables", "", noAim, float64(len(c.Tables)))})...)
}

// memberRegrets are the mean regrets of a chooser's members over the tables.
func memberRegrets(o *evaluationOutcome, c *evaluation.Comparison, chooser string) quantity {
	q := quantity{Unit: unitPoints, Aim: downward}
	for table := range c.Tables {
		for k, v := range o.values(table, chooser, regretOf) {
			if k == len(q.Values) {
				q.Seeds, q.Values = append(q.Seeds, int64(k+1)), append(q.Values, 0)
			}
			q.Values[k] += v / float64(len(c.Tables))
		}
	}
	return q
}

// readEvaluation reads the outcome of an evaluation that ended.
func readEvaluation(r *runData) (*evaluationOutcome, error) {
	o := &evaluationOutcome{}
	return o, results.ReadOutcome(r.fsys, r.Path, o)
}
