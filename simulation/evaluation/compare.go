package evaluation

import (
	"errors"
	"fmt"
	"slices"

	"graft/internal/stat"
	"graft/simulation"
)

// Role is the kind of a candidate in a comparison.
type Role string

// Roles of candidates.
const (
	RolePolicy   Role = "policy" // learned policy; with several seeds, each seed is evaluated alone
	RoleVote     Role = "vote"   // policies of several seeds that decide together
	RoleBaseline Role = "rival"  // policy that needs no learning
)

// Tables that a candidate used for its choice.
const (
	SeenThis   = "this table"
	SeenThese  = "these tables"
	SeenOthers = "the other tables"
)

// Candidate is a row of a comparison: a policy, or several policies that differ only in their seed. Several policies
// are compared by their mean.
type Candidate struct {
	Name     string
	Role     Role
	Seen     string // tables from which it learned or was selected; empty means none or unknown
	Policies []Policy
	Ties     int // number of equally good choices whose results a baseline averages; zero without a choice
}

// BaselineCandidates returns the baselines as candidates. The argument seen describes the tables on which fixed
// sequences were selected.
func BaselineCandidates(learn []*simulation.Tree, seen string) ([]Candidate, error) {
	baselines, err := Baselines(learn)
	var candidates []Candidate
	for _, r := range baselines {
		e := Candidate{Name: r.Name(), Role: RoleBaseline, Policies: []Policy{r}}
		if chosen, ok := r.(interface{ Ties() int }); ok {
			e.Ties = chosen.Ties()
		}
		switch r.Name() {
		case nameOneStep, nameOneEpoch, nameOptimum:
			e.Seen = SeenThis
		case nameFixed, nameSmoothed, nameAction, namePlateau, nameLinear:
			e.Seen = seen
		}
		candidates = append(candidates, e)
	}
	return candidates, err
}

// TableScores holds the scores of all candidates on a table.
type TableScores struct {
	Scenario string `json:"scenario"` // name of the table
	Network  string `json:"network"`  // network of the table
	// group of tables with which the table was left out; empty if it was not left out
	Group     string `json:"group,omitempty"`
	Sequences int    `json:"sequences"` // number of sequences in the table
	NoiseEstimate
	// Scores holds the mean score of each candidate over its seeds. A baseline whose sequence is not in the table is
	// left out.
	Scores []Score `json:"verdicts"`
	// baselines that are left out, because their sequence is not in the table
	Missing []MissingScore `json:"missing,omitempty"`
	// policies with decisions outside of the range of their training tables
	Outside []OutsideDecisions `json:"outside,omitempty"`
	// number of equally good choices whose results a baseline averages, by the baseline's name; baselines with a single
	// best choice are left out
	Ties map[string]int `json:"ties,omitempty"`
	// scores of each candidate, one for each seed, by the candidate's name
	Each map[string][]Score `json:"-"`
	// Runs maps the name of a candidate to the accuracies of all runs of its sequence. It leaves out candidates that do
	// not choose one sequence with certainty, and sequences that ran only once.
	Runs map[string][]float64 `json:"-"`
}

// MissingScore is a baseline that cannot choose in a table.
type MissingScore struct {
	Policy string `json:"chooser"` // name of the baseline
	Why    string `json:"why"`     // reason
}

// Standing is the result of a candidate over all tables. Regrets are in points (hundredths of accuracy).
type Standing struct {
	Policy string `json:"chooser"` // name of the candidate
	Role   Role   `json:"role"`    // role of the candidate: policy, vote or baseline
	// description of the tables from which the candidate learned or was selected; empty means none or unknown
	Seen   string  `json:"has_seen"`
	Seeds  int     `json:"seeds"`         // number of seeds in the mean; all seeds of a vote count as one
	Tables int     `json:"tables"`        // number of tables in which the candidate could choose
	Regret float64 `json:"regret_points"` // mean regret over tables, in points
	// mean regret computed from smoothed accuracies instead of single runs, in points
	Smoothed float64 `json:"smoothed_regret_points"`
	// OverTables is the 95% interval of the regret by a bootstrap over the tables; null for fewer than two tables.
	OverTables *stat.Interval `json:"over_tables"`
	// 95% interval of the regret over the groups of tables that leave-one-out leaves out together; null for fewer than
	// two groups, or if each group is one table
	OverGroups *stat.Interval `json:"over_groups"`
	// interval of the regret over seeds, by Student's t-distribution; null for fewer than three seeds
	OverSeeds *stat.Interval `json:"over_seeds"`
	TopFive   float64        `json:"top_five"`       // fraction of tables and seeds with a rank of 5 or better
	LowHalf   int            `json:"in_lower_half"`  // number of pairs of table and seed with a rank in the lower half
	Worst     float64        `json:"worst_points"`   // largest regret, in points
	WorstOne  string         `json:"worst_scenario"` // scenario with the largest regret
	// Decisions counts decisions whose choice is within noise of the best, over tables and seeds; null for candidates
	// that choose whole sequences.
	Decisions *DecisionShare `json:"decisions"`
	// Difference is the difference from the reference candidate; null for the reference itself, and if the score of
	// either candidate is missing for any table.
	Difference *Difference `json:"difference"`
}

// Comparison holds the results of candidates over tables.
type Comparison struct {
	Against string        `json:"against"`      // name of the reference candidate, for differences
	Floor   float64       `json:"floor_points"` // expected regret of an oracle, averaged over the tables, in points
	Tables  []TableScores `json:"tables"`       // scores of each table
	// standings in the order of the candidates, not ranked; candidates that cannot choose in any table are left out
	Standings []Standing `json:"standings"`
	// comparisons of each policy with each of several baselines; null unless several baselines were named
	Contrasts []Contrast `json:"contrasts,omitempty"`
}

// Compare scores candidates on trees. Differences are relative to the candidate whose name is the argument against.
func Compare(trees []*simulation.Tree, candidates []Candidate, against string) (*Comparison, error) {
	c := &comparer{}
	for _, t := range trees {
		if err := c.add(t, "", candidates); err != nil {
			return nil, err
		}
	}
	return c.result(against)
}

type comparer struct {
	trials     []TableScores
	scores     []map[string]*scored // results of each trial's candidates, by name
	candidates []Candidate          // in the order of their first trial
}

// scored is the result of a candidate on a tree.
type scored struct {
	each   []Score // scores of its policies
	mean   Score
	shares []float64      // probabilities of the records, mean over its policies
	steps  *DecisionShare // decisions of its policies; nil if one chooses whole sequences
	outer  OutsideDecisions
}

// add evaluates candidates on a tree.
func (c *comparer) add(t *simulation.Tree, group string, candidates []Candidate) error {
	j := newScorer(t)
	trial := TableScores{Scenario: t.Name, Network: t.Network, Group: group, Sequences: len(t.Records),
		NoiseEstimate: EstimateNoise(t.Table, 1), Ties: map[string]int{}, Each: map[string][]Score{},
		Runs: map[string][]float64{}}
	scores := map[string]*scored{}
	for _, e := range candidates {
		if !slices.ContainsFunc(c.candidates, func(o Candidate) bool { return o.Name == e.Name }) {
			c.candidates = append(c.candidates, e)
		}
		m, err := j.score(e)
		if why := noSequence(""); errors.As(err, &why) {
			trial.Missing = append(trial.Missing, MissingScore{e.Name, why.Error()})
			continue
		}
		if err != nil {
			return fmt.Errorf("score policy %s on table %s: %w", e.Name, t.Name, err)
		}
		scores[e.Name] = m
		if e.Ties > 1 {
			trial.Ties[e.Name] = e.Ties
		}
		trial.Scores = append(trial.Scores, m.mean)
		trial.Each[e.Name] = m.each
		if m.outer.Decisions > 0 {
			trial.Outside = append(trial.Outside, m.outer)
		}
		if r := t.Find(m.mean.Sequence...); m.mean.Certain && r != nil && len(r.Accuracy) > 1 {
			trial.Runs[e.Name] = r.Accuracy
		}
	}
	c.trials, c.scores = append(c.trials, trial), append(c.scores, scores)
	return nil
}

func (j *scorer) score(e Candidate) (*scored, error) {
	m := &scored{shares: make([]float64, len(j.Records)), steps: &DecisionShare{},
		outer: OutsideDecisions{Policy: e.Name}}
	for _, policy := range e.Policies {
		shares, err := policy.Distribution(j.Tree)
		if err != nil {
			return nil, err
		}
		m.each = append(m.each, j.scoreOf(policy.Name(), shares))
		m.outer.add(j.Tree, policy, slices.Index(shares, slices.Max(shares)))
		for k, share := range shares {
			m.shares[k] += share / float64(len(e.Policies))
		}
		steps, err := j.decisions(policy)
		if err != nil {
			return nil, err
		}
		m.steps = m.steps.and(steps)
	}
	m.mean = j.scoreOf(e.Name, m.shares)
	m.mean.Certain = !slices.ContainsFunc(m.each,
		func(v Score) bool { return !v.Certain || !slices.Equal(v.Sequence, m.mean.Sequence) })
	return m, nil
}

func (c *comparer) result(against string) (*Comparison, error) {
	if len(c.trials) == 0 || len(c.candidates) == 0 {
		return nil, fmt.Errorf("compare policies: got %d tables and %d policies; expected at least one of each",
			len(c.trials),
			len(c.candidates))
	}
	r := &Comparison{Against: against, Tables: c.trials}
	for _, t := range c.trials {
		r.Floor += t.Floor / float64(len(c.trials))
	}
	for _, e := range c.candidates {
		s := c.standing(e)
		if s.Tables == 0 {
			continue
		}
		if e.Name != against && s.Tables == len(c.trials) {
			s.Difference = c.difference(e.Name, against)
		}
		r.Standings = append(r.Standings, s)
	}
	return r, nil
}

func (c *comparer) standing(e Candidate) Standing {
	s := Standing{Policy: e.Name, Role: e.Role, Seen: e.Seen, Seeds: len(e.Policies)}
	decided := &DecisionShare{}
	each, groups := make([][]Score, len(e.Policies)), newGroups()
	for k, t := range c.trials {
		m := c.scores[k][e.Name]
		if m == nil {
			continue
		}
		s.Tables++
		s.Smoothed += m.mean.Smoothed
		groups.add(t, m.mean.Regret)
		decided = decided.and(m.steps)
		for at, v := range m.each {
			each[at] = append(each[at], v)
		}
	}
	if s.Tables == 0 {
		return s
	}
	u := Summarize(e.Name, each)
	s.Regret, s.TopFive, s.LowHalf, s.Worst, s.WorstOne = u.Regret.Mean, u.TopFive, u.LowHalf, u.Worst, u.WorstOne
	s.Smoothed /= float64(s.Tables)
	s.Decisions = decided
	s.OverTables, s.OverGroups = groups.intervals()
	s.OverSeeds = u.Regret.Interval()
	return s
}

// Standing returns the standing of a policy, or nil if the policy was not compared or cannot choose in any table.
func (c *Comparison) Standing(policy string) *Standing {
	k := slices.IndexFunc(c.Standings, func(s Standing) bool { return s.Policy == policy })
	if k < 0 {
		return nil
	}
	return &c.Standings[k]
}

// Mean returns a policy's mean regret, in points, over the tables of a group that was excluded from training. It
// returns false if there are no such tables, or if the policy's score is missing for any of them.
func (c *Comparison) Mean(policy, group string) (float64, bool) {
	sum, count := 0.0, 0
	for _, t := range c.Tables {
		if t.Group != group {
			continue
		}
		k := slices.IndexFunc(t.Scores, func(v Score) bool { return v.Policy == policy })
		if k < 0 {
			return 0, false
		}
		sum, count = sum+t.Scores[k].Regret, count+1
	}
	return sum / float64(max(1, count)), count > 0
}
