package runs

import (
	"graft/simulation/evaluation"
)

// EvaluationOutcome is the outcome.json of an evaluation.
type EvaluationOutcome struct {
	Compared *EvaluationReport `json:"compared"` // null if tables were held out
	LeftOut  *LeaveOutReport   `json:"left_out"` // null if no tables were held out
	Members  []memberVerdict   `json:"members"`  // each policy that is one seed of several
	Repeats  []repeatedRuns    `json:"repeats"`  // sequences that ran more than once
}

// repeatedRuns holds the accuracies of several runs of the sequence that a chooser always takes.
type repeatedRuns struct {
	Table      int       `json:"table"`      // index of the compared table, from 0
	Chooser    string    `json:"chooser"`    // chooser that takes the sequence
	Accuracies []float64 `json:"accuracies"` // accuracies of its runs, between 0 and 1
}

// memberVerdict is the verdict on one member, a policy of one seed, in one table.
type memberVerdict struct {
	Member int    `json:"member"` // index of the policy, from 1, in the order of seeds
	Table  int    `json:"table"`  // index of the compared table, from 0: several tables may share a name
	Group  string `json:"group"`  // group that was held out with the table; empty if none was
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

// Comparison returns the part that both kinds of evaluations have.
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

// Values lists a number for each member of a chooser in a table.
func (o *EvaluationOutcome) Values(table int, chooser string, of func(evaluation.Score) float64) (values []float64) {
	for _, m := range o.Members {
		if m.Policy == chooser && m.Table == table {
			values = append(values, of(m.Score))
		}
	}
	return values
}

// Spread lists the accuracies of a chooser in a table: of its members if there are several, otherwise of the repeated
// runs of its sequence; nil for a single one.
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
	Steps    int    `json:"steps"`     // maximum number of learning steps
	Seeds    int    `json:"seeds"`     // seeds per learning
	// Tried are the assignments to select from; groups[].tuned gives the selected ones, and 0 means no assignment.
	Tried []string `json:"tried,omitempty"`
	*evaluation.LeaveOutReport
}

// ShownBaselines lists the baselines shown next to policies for each group.
var ShownBaselines = []string{"best fixed", "random", "never"}

// MeanNoise averages noise and noise floor over the tables of a group.
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
	StructuralPolicy PolicyOrigin = "structural" // graft's own, for any network
	OriginalPolicy   PolicyOrigin = "original"   // the original's, which uses a vocabulary
)

// EvaluationReport compares policies with baselines in tables; `graft evaluate --json` prints it.
type EvaluationReport struct {
	Policies  []EvaluatedPolicy     `json:"policies"`     // given policies
	Against   string                `json:"against"`      // baseline of differences: the first policy
	Floor     float64               `json:"floor_points"` // noise floor, mean over the tables
	Tables    []EvaluatedTable      `json:"tables"`       // given tables
	Standings []evaluation.Standing `json:"standings"`    // results over all tables
}

// EvaluatedPolicy describes an evaluated policy.
type EvaluatedPolicy struct {
	Policy  string       `json:"policy"`            // path as given
	Name    string       `json:"name"`              // name in the rest of the report
	Kind    PolicyOrigin `json:"kind"`              // structural or original
	Vocab   string       `json:"vocab,omitempty"`   // vocabulary as given; the original's policies
	Prefix  *bool        `json:"prefix,omitempty"`  // token 0 precedes the layers; the original's policies
	Members int          `json:"members,omitempty"` // voting members; structural policies
	Trees   int          `json:"trees,omitempty"`   // trees of a forest, instead of members; structural policies
	Learned []string     `json:"learned,omitempty"` // kinds of actions that it learned from; structural policies
	// operations, and the kinds of layers on which it learned to judge them
	Targets []string          `json:"targets,omitempty"`
	Notes   map[string]string `json:"notes,omitempty"` // notes of the learning run
}

// EvaluatedTable describes a table and the results of all choosers in it.
type EvaluatedTable struct {
	Table     string   `json:"table"`     // path as given
	Dataset   string   `json:"dataset"`   // training dataset of the sequences
	Budget    float64  `json:"budget_s"`  // budget of the scenario, in seconds
	Start     float64  `json:"start_s"`   // start of the sequences in the budget, in seconds
	Decisions int      `json:"decisions"` // decisions in a sequence
	Actions   []string `json:"actions"`   // empty if they depend on the network
	evaluation.TableScores
	Steps []EvaluatedSteps `json:"steps"` // one entry per policy
}

// EvaluatedSteps holds the decisions of one policy.
type EvaluatedSteps struct {
	Chooser string            `json:"chooser"` // name of the chooser
	Steps   []evaluation.Step `json:"steps"`   // its decisions, in order
}

// SplitStandings returns the choosers that could choose in all tables, and the names of the others.
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

// RegretOf returns the regret of a verdict, in points.
func RegretOf(v evaluation.Score) float64 { return v.Regret }
