package runs

import (
	"errors"
	"slices"
	"strings"

	"graft/results"
	"graft/results/document"
	"graft/simulation/evaluation"
)

// EvaluationOutcome is what an evaluation came to, as outcome.json of its folder has it.
type EvaluationOutcome struct {
	Compared *EvaluationReport `json:"compared"` // null where tables were left out
	LeftOut  *LeaveReport      `json:"left_out"` // null where none were
	Members  []memberVerdict   `json:"members"`  // each policy by itself that is a seed of several
	Repeats  []repeatedRuns    `json:"repeats"`  // of sequences that ran more than once
}

// repeatedRuns are the runs of a sequence that a chooser is certain of.
type repeatedRuns struct {
	Table      int       `json:"table"`      // place among the tables that were compared in, from 0
	Chooser    string    `json:"chooser"`    // who takes the sequence
	Accuracies []float64 `json:"accuracies"` // of its runs, between 0 and 1
}

// memberVerdict is how one of several policies that differ in their seed fared in a
// table.
type memberVerdict struct {
	Member int    `json:"member"` // which of them, from 1, in the order of their seeds
	Table  int    `json:"table"`  // place among the tables that were compared in, from 0: several may have one name
	Group  string `json:"group"`  // that was left out with the table; empty where nothing was
	evaluation.Score
}

// NewEvaluationOutcome is of one of the two reports; the other is nil.
func NewEvaluationOutcome(r *EvaluationReport, left *LeaveReport) *EvaluationOutcome {
	o := &EvaluationOutcome{Compared: r, LeftOut: left, Members: []memberVerdict{}, Repeats: []repeatedRuns{}}
	c := o.Comparison()
	for at, trial := range c.Tables {
		for _, s := range c.Standings {
			if runs := trial.Runs[s.Policy]; runs != nil {
				o.Repeats = append(o.Repeats, repeatedRuns{at, s.Policy, runs})
			}
			if s.Role == evaluation.RoleBaseline {
				continue
			}
			for k, v := range trial.Each[s.Policy] {
				o.Members = append(o.Members, memberVerdict{k + 1, at, trial.Group, v})
			}
		}
	}
	return o
}

// Comparison is what both kinds of evaluations have.
func (o *EvaluationOutcome) Comparison() *evaluation.Comparison {
	if o.LeftOut != nil && o.LeftOut.LeaveOutReport != nil {
		return o.LeftOut.Comparison
	}
	c := &evaluation.Comparison{}
	if o.Compared == nil {
		return c
	}
	c.Against, c.Floor, c.Standings = o.Compared.Against, o.Compared.Floor, o.Compared.Standings
	for _, t := range o.Compared.Tables {
		c.Tables = append(c.Tables, t.TableScores)
	}
	return c
}

// Values are a figure of each member of a chooser in a table.
func (o *EvaluationOutcome) Values(table int, chooser string, of func(evaluation.Score) float64) (values []float64) {
	for _, m := range o.Members {
		if m.Policy == chooser && m.Table == table {
			values = append(values, of(m.Score))
		}
	}
	return values
}

// Spread are the accuracies between which a chooser's lies in a table: of its members
// where there are several, or of the runs of its sequence; nil where there is but one.
func (o *EvaluationOutcome) Spread(table int, chooser string) []float64 {
	if values := o.Values(table, chooser, accuracyOf); len(values) > 1 {
		return values
	}
	for _, r := range o.Repeats {
		if r.Table == table && r.Chooser == chooser {
			return r.Accuracies
		}
	}
	return nil
}

// LeaveReport is what `graft evaluate --leave-out --json` prints.
type LeaveReport struct {
	LeaveOut string `json:"leave_out"` // scenario or network
	For      string `json:"for"`       // known or new
	Steps    int    `json:"steps"`     // of learning at most
	Seeds    int    `json:"seeds"`     // that learned each time
	*evaluation.LeaveOutReport
}

// ShownRivals are those who stand beside the policies for each group.
var ShownRivals = []string{"best fixed", "random", "never"}

// Chance is the mean noise and floor of a group's tables.
func (r LeaveReport) Chance(group string) (noise, floor float64) {
	count := 0.0
	for _, t := range r.Tables {
		if t.Group == group {
			noise, floor, count = noise+t.Noise, floor+t.Floor, count+1
		}
	}
	return noise / count, floor / count
}

// PolicyOrigin says whose a policy is.
type PolicyOrigin string

const (
	StructuralPolicy PolicyOrigin = "structural" // graft's own, which reads any network
	OriginalPolicy   PolicyOrigin = "original"   // of the original's, which reads by a vocabulary
)

// EvaluationReport is what `graft evaluate --json` prints.
type EvaluationReport struct {
	Policies  []EvaluatedPolicy     `json:"policies"`     // that were given
	Against   string                `json:"against"`      // the first policy, to whom differences are
	Floor     float64               `json:"floor_points"` // mean over the tables
	Tables    []EvaluatedTable      `json:"tables"`       // that were given
	Standings []evaluation.Standing `json:"standings"`    // over all tables
}

// EvaluatedPolicy is a policy that was given.
type EvaluatedPolicy struct {
	Policy  string            `json:"policy"`            // as it was given, as is the vocabulary
	Name    string            `json:"name"`              // in all that follows
	Kind    PolicyOrigin      `json:"kind"`              // structural or original
	Vocab   string            `json:"vocab,omitempty"`   // of the original's only, as is the next
	Prefix  *bool             `json:"prefix,omitempty"`  // token 0 is read before the layers
	Members int               `json:"members,omitempty"` // that vote; of structural ones only, as are the next
	Learned []string          `json:"learned,omitempty"` // kinds of actions that it has learned to judge
	Notes   map[string]string `json:"notes,omitempty"`   // that learning left
}

// EvaluatedTable is a table that was given, and how all fared there.
type EvaluatedTable struct {
	Table     string   `json:"table"`     // as it was given
	Dataset   string   `json:"dataset"`   // that the sequences trained on
	Budget    float64  `json:"budget_s"`  // of the scenario, in seconds
	Start     float64  `json:"start_s"`   // when in the budget sequences begin, in seconds
	Decisions int      `json:"decisions"` // in a sequence
	Actions   []string `json:"actions"`   // empty where they depend on the network
	evaluation.TableScores
	Steps []EvaluatedSteps `json:"steps"` // one entry for each policy
}

// EvaluatedSteps are a policy's decisions.
type EvaluatedSteps struct {
	Chooser string            `json:"chooser"` // its name
	Steps   []evaluation.Step `json:"steps"`   // what it did, decision by decision
}

// InAllTables tells those who could choose in all tables from the others.
func InAllTables(all []evaluation.Standing) (whole []evaluation.Standing, partial []string) {
	most := 0
	for _, s := range all {
		most = max(most, s.Tables)
	}
	for _, s := range all {
		if s.Tables < most {
			partial = append(partial, s.Policy)
			continue
		}
		whole = append(whole, s)
	}
	return whole, partial
}

func accuracyOf(v evaluation.Score) float64 { return v.Accuracy }

// RegretOf is the regret of a verdict, in points.
func RegretOf(v evaluation.Score) float64 { return v.Regret }

// EvaluationKind is the folders of graft evaluate --out.
var EvaluationKind = &Kind{Name: "evaluation", Title: "evaluation", Titles: "evaluations", fits: isRunOf("verdicts.csv", "members.csv"), read: readEvaluationRun,
	series: func(r *Run) ([]Series, error) {
		return streamSeries(r, "verdicts", "members", "standings", "folds")
	}}

func readEvaluationRun(f *Folder, r *Run) error {
	o := &EvaluationOutcome{}
	err := f.own(r, o)
	r.Seeded = false // it is of all seeds that learned
	if err != nil || !r.Ended {
		return err
	}
	r.Quantities = evaluationQuantities(o)
	return o.check()
}

// check says why an outcome is none of an evaluation's.
func (o *EvaluationOutcome) check() error {
	if len(o.Comparison().Tables) == 0 {
		return errors.New(OutcomeFile + " says nothing of any table: it is damaged; evaluate again, in another folder or with --force")
	}
	return nil
}

// evaluationQuantities are the regrets of the policies, and of some that need no
// learning. The first policy's have the same names in all evaluations.
func evaluationQuantities(o *EvaluationOutcome) []quantity {
	c := o.Comparison()
	var policies, rivals []quantity
	named := map[evaluation.Role]bool{}
	for _, s := range c.Standings {
		if s.Tables < len(c.Tables) {
			continue
		}
		if s.Role == evaluation.RoleBaseline {
			if slices.Contains(ShownRivals, s.Policy) {
				rivals = append(rivals, seedless(strings.ReplaceAll(s.Policy, " ", "_")+"_regret", document.UnitPoints, noAim, s.Regret))
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
	return finite(slices.Concat(policies, rivals, []quantity{seedless("chance_regret", document.UnitPoints, noAim, c.Floor), seedless("tables", "", noAim, float64(len(c.Tables)))})...)
}

// memberRegrets are the mean regrets of a chooser's members over the tables.
func memberRegrets(o *EvaluationOutcome, c *evaluation.Comparison, chooser string) quantity {
	q := quantity{Unit: document.UnitPoints, Aim: downward}
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

// ReadEvaluation reads the outcome of an evaluation that ended.
func ReadEvaluation(r *Run) (*EvaluationOutcome, error) {
	o := &EvaluationOutcome{}
	return o, results.ReadOutcome(r.Fsys, r.Path, o)
}
