package runs

import (
	"encoding/json"
	"slices"

	"graft/simulation/evaluation"
)

// EvaluationOutcome is the content of outcome.json for an evaluation.
type EvaluationOutcome struct {
	Compared *EvaluationReport `json:"compared"` // comparison on the given tables; null for leave-one-out
	LeftOut  *LeaveOutReport   `json:"left_out"` // report of leave-one-out; null for a comparison on the given tables
	Members  []memberVerdict   `json:"members"`  // scores of each policy that is one seed of several
	Repeats  []repeatedRuns    `json:"repeats"`  // accuracies of sequences that ran more than once
}

// UnmarshalJSON reads an outcome. Candidates without a result in any table become missing scores: earlier versions
// stored them with a regret of 0, the best value, and without the reason.
func (o *EvaluationOutcome) UnmarshalJSON(text []byte) error {
	type plain EvaluationOutcome
	if err := json.Unmarshal(text, (*plain)(o)); err != nil {
		return err
	}
	if r := o.Compared; r != nil {
		var tables []*evaluation.TableScores
		for k := range r.Tables {
			tables = append(tables, &r.Tables[k].TableScores)
		}
		r.Standings = withResults(r.Standings, tables)
	}
	o.LeftOut.dropUnknown()
	return nil
}

// dropUnknown is like dropUnknownStandings for a report that may be nil or empty.
func (r *LeaveOutReport) dropUnknown() {
	if r != nil && r.LeaveOutReport != nil {
		dropUnknownStandings(r.Comparison)
	}
}

// dropUnknownStandings turns candidates without a result in any table into missing scores.
func dropUnknownStandings(c *evaluation.Comparison) {
	if c == nil {
		return
	}
	var tables []*evaluation.TableScores
	for k := range c.Tables {
		tables = append(tables, &c.Tables[k])
	}
	c.Standings = withResults(c.Standings, tables)
}

// unknownReason is the reason for missing scores in outcomes of earlier versions.
const unknownReason = "the version of graft that evaluated it did not store the reason"

// withResults returns the standings with a result, and adds the others to the missing scores of all tables.
func withResults(standings []evaluation.Standing, tables []*evaluation.TableScores) []evaluation.Standing {
	var list []evaluation.Standing
	for _, s := range standings {
		if s.Tables > 0 {
			list = append(list, s)
			continue
		}
		for _, t := range tables {
			if !slices.ContainsFunc(t.Missing, func(m evaluation.MissingScore) bool { return m.Policy == s.Policy }) {
				t.Missing = append(t.Missing, evaluation.MissingScore{Policy: s.Policy, Why: unknownReason})
			}
		}
	}
	return list
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

// NewEvaluationOutcome creates an outcome from a comparison or from a leave-one-out report; the other argument must be
// nil.
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

// Comparison returns the results of all policies and baselines over all tables, from a plain or a leave-one-out
// evaluation.
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

// Values applies a function to the scores of a chooser (a policy or a baseline) on a table. It returns one result per
// seed if the chooser was learned with several seeds, and otherwise nil.
func (o *EvaluationOutcome) Values(table int, chooser string, of func(evaluation.Score) float64) (values []float64) {
	for _, m := range o.Members {
		if m.Policy == chooser && m.Table == table {
			values = append(values, of(m.Score))
		}
	}
	return values
}

// Spread returns the accuracies of a chooser (a policy or a baseline) on a table. If the chooser was learned with
// several seeds, there is one accuracy per seed. Otherwise there is one accuracy for each repeated run of the sequence
// that the chooser chose. Spread returns nil if there is only one accuracy.
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

// LeaveOutReport is the report of a leave-one-out evaluation; `graft evaluate --leave-out --json` prints it.
type LeaveOutReport struct {
	// kind of group that each evaluation leaves out: scenario, network, dataset, budget or held-out
	LeaveOut string `json:"leave_out"`
	For      string `json:"for"`   // purpose of the policies: known or new scenarios
	Steps    int    `json:"steps"` // maximum number of learning steps
	Seeds    int    `json:"seeds"` // number of policies learned per group, one per seed
	// Tried lists the candidates for tuning; each assigns values to configuration keys. groups[].tuned holds the
	// numbers of the selected candidates, from 1; 0 means that no candidate was selected.
	Tried []string `json:"tried,omitempty"`
	*evaluation.LeaveOutReport
}

// ShownBaselines lists the names of the baselines that are shown next to policies for each group.
var ShownBaselines = []string{"best fixed", "random", "never"}

// MeanNoise returns the noise of the accuracies and the noise floor of the regret, averaged over the tables in the
// left-out group with the given name.
func (r LeaveOutReport) MeanNoise(group string) (noise, floor float64) {
	count := 0.0
	for _, t := range r.Tables {
		if t.Group == group {
			noise, floor, count = noise+t.Noise, floor+t.Floor, count+1
		}
	}
	return noise / count, floor / count
}

// PolicyOrigin names the program whose file format a policy uses: graft or the original system.
type PolicyOrigin string

const (
	StructuralPolicy PolicyOrigin = "structural" // policy of graft, for any network
	OriginalPolicy   PolicyOrigin = "original"   // policy in the original system's format, which uses a vocabulary
)

// EvaluationReport compares policies with baselines on tables; `graft evaluate --json` prints it.
type EvaluationReport struct {
	Policies []EvaluatedPolicy `json:"policies"` // evaluated policies
	// name of the policy that differences are relative to, which is the first policy
	Against   string                `json:"against"`
	Floor     float64               `json:"floor_points"` // noise floor, averaged over the tables
	Tables    []EvaluatedTable      `json:"tables"`       // evaluated tables
	Standings []evaluation.Standing `json:"standings"`    // results over all tables
}

// EvaluatedPolicy describes an evaluated policy: its file, its kind and its training data.
type EvaluatedPolicy struct {
	Policy string       `json:"policy"` // path of the policy, as given
	Name   string       `json:"name"`   // name in the rest of the report
	Kind   PolicyOrigin `json:"kind"`   // structural or original
	// path of the vocabulary for a policy in the original system's format, as in option --vocab
	Vocab string `json:"vocab,omitempty"`
	// whether a policy in the original system's format reads token 0 before the tokens of the network's layers
	Prefix  *bool    `json:"prefix,omitempty"`
	Members int      `json:"members,omitempty"` // number of voting members of a structural policy
	Trees   int      `json:"trees,omitempty"`   // number of trees of a structural policy that is a forest
	Learned []string `json:"learned,omitempty"` // kinds of actions in the training data of a structural policy
	// operations and layer kinds that occur in the actions of a structural policy's training data
	Targets []string          `json:"targets,omitempty"`
	Notes   map[string]string `json:"notes,omitempty"` // notes from the run that learned the policy
}

// EvaluatedTable describes a table, with the results of all policies and baselines on it.
type EvaluatedTable struct {
	Table   string  `json:"table"`    // path of the table, as given
	Dataset string  `json:"dataset"`  // name of the training dataset
	Budget  float64 `json:"budget_s"` // budget of the scenario, in seconds
	// part of the budget that is already used when the sequences begin, in seconds
	Start     float64  `json:"start_s"`
	Decisions int      `json:"decisions"` // number of decisions per sequence
	Actions   []string `json:"actions"`   // choices at every decision; empty if they depend on the network
	evaluation.TableScores
	Steps []EvaluatedSteps `json:"steps"` // decisions of each policy
}

// EvaluatedSteps holds the decisions of one policy.
type EvaluatedSteps struct {
	Chooser string            `json:"chooser"` // name of the chooser
	Steps   []evaluation.Step `json:"steps"`   // decisions of the policy, in order
}

// SplitStandings returns the standings of the policies and baselines that have a result for every table, and the names
// of the others.
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

// RegretOf returns a score's regret, in percentage points of accuracy.
func RegretOf(v evaluation.Score) float64 { return v.Regret }
