package runs

import (
	"graft/simulation/evaluation"
)

// EvaluationOutcome is the outcome.json of an evaluation.
type EvaluationOutcome struct {
	Compared *EvaluationReport `json:"compared"` // null where tables were left out
	LeftOut  *LeaveOutReport   `json:"left_out"` // null where none were
	Members  []memberVerdict   `json:"members"`  // each policy by itself that is a seed of several
	Repeats  []repeatedRuns    `json:"repeats"`  // of sequences that ran more than once
}

// repeatedRuns holds the accuracies of several runs of the sequence that a chooser always takes.
type repeatedRuns struct {
	Table      int       `json:"table"`      // place among the tables that were compared in, from 0
	Chooser    string    `json:"chooser"`    // name of the chooser of the sequence
	Accuracies []float64 `json:"accuracies"` // of its runs, between 0 and 1
}

// memberVerdict is the verdict on one member, a policy of one seed, in one table.
type memberVerdict struct {
	Member int    `json:"member"` // which of them, from 1, in the order of their seeds
	Table  int    `json:"table"`  // place among the tables that were compared in, from 0: several may have one name
	Group  string `json:"group"`  // that was left out with the table; empty where nothing was
	evaluation.Score
}

// NewEvaluationOutcome makes the outcome of one of the two reports; the other is nil.
func NewEvaluationOutcome(r *EvaluationReport, left *LeaveOutReport) *EvaluationOutcome {
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

// Comparison is the part that both kinds of evaluations have.
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

// Values lists a number of each member of a chooser in a table.
func (o *EvaluationOutcome) Values(table int, chooser string, of func(evaluation.Score) float64) (values []float64) {
	for _, m := range o.Members {
		if m.Policy == chooser && m.Table == table {
			values = append(values, of(m.Score))
		}
	}
	return values
}

// Spread lists the accuracies of a chooser in a table: of its members if there are several, else of
// the repeated runs of its sequence; nil for a single one.
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

// LeaveOutReport is the report of leave-one-out; `graft evaluate --leave-out --json` prints it.
type LeaveOutReport struct {
	LeaveOut string `json:"leave_out"` // scenario, network, dataset, budget or held-out
	For      string `json:"for"`       // known or new
	Steps    int    `json:"steps"`     // of learning at most
	Seeds    int    `json:"seeds"`     // that learned each time
	// Tried are assignments of which the best or none was taken, as groups[].tuned says, whose 0 is none.
	Tried []string `json:"tried,omitempty"`
	*evaluation.LeaveOutReport
}

// ShownBaselines lists the baselines shown beside policies for each group.
var ShownBaselines = []string{"best fixed", "random", "never"}

// MeanNoise averages noise and floor over the tables of a group.
func (r LeaveOutReport) MeanNoise(group string) (noise, floor float64) {
	count := 0.0
	for _, t := range r.Tables {
		if t.Group == group {
			noise, floor, count = noise+t.Noise, floor+t.Floor, count+1
		}
	}
	return noise / count, floor / count
}

// PolicyOrigin is the kind of a policy: graft's own or the original's.
type PolicyOrigin string

const (
	StructuralPolicy PolicyOrigin = "structural" // graft's own, which reads any network
	OriginalPolicy   PolicyOrigin = "original"   // of the original's, which reads by a vocabulary
)

// EvaluationReport compares policies with baselines in tables; `graft evaluate --json` prints it.
type EvaluationReport struct {
	Policies  []EvaluatedPolicy     `json:"policies"`     // that were given
	Against   string                `json:"against"`      // the first policy, to which differences are
	Floor     float64               `json:"floor_points"` // mean over the tables
	Tables    []EvaluatedTable      `json:"tables"`       // that were given
	Standings []evaluation.Standing `json:"standings"`    // over all tables
}

// EvaluatedPolicy describes a policy that was evaluated.
type EvaluatedPolicy struct {
	Policy  string       `json:"policy"`            // as it was given, as is the vocabulary
	Name    string       `json:"name"`              // in all that follows
	Kind    PolicyOrigin `json:"kind"`              // structural or original
	Vocab   string       `json:"vocab,omitempty"`   // of the original's only, as is the next
	Prefix  *bool        `json:"prefix,omitempty"`  // token 0 is read before the layers
	Members int          `json:"members,omitempty"` // that vote; of structural ones only, as are the next
	Trees   int          `json:"trees,omitempty"`   // of a forest, in place of members
	Learned []string     `json:"learned,omitempty"` // kinds of actions that it has learned to judge
	// operations and the kinds of layers on which it has learned to judge them
	Targets []string          `json:"targets,omitempty"`
	Notes   map[string]string `json:"notes,omitempty"` // that learning left
}

// EvaluatedTable describes a table and the results of all choosers in it.
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

// EvaluatedSteps holds the decisions of one policy.
type EvaluatedSteps struct {
	Chooser string            `json:"chooser"` // its name
	Steps   []evaluation.Step `json:"steps"`   // what it did, decision by decision
}

// SplitStandings separates the choosers that could choose in all tables from the names of the
// others.
func SplitStandings(all []evaluation.Standing) (whole []evaluation.Standing, partial []string) {
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
