// Package evaluation evaluates policies on trees: regret relative to the best sequence, gain over never adapting, the
// noise of a table's records, and comparisons with baselines and the oracle, also on tables that were left out of
// learning.
package evaluation

import (
	"fmt"
	"math"
	"slices"

	"graft/internal/stat"
	"graft/simulation"
	"graft/simulation/tables"
)

// Policy chooses sequences of a tree. It is a learned policy, a baseline or the oracle.
type Policy interface {
	// Name returns the policy's name in reports.
	Name() string
	// Distribution returns the probability that the policy takes each record's sequence of actions. The probabilities
	// sum to one.
	Distribution(t *simulation.Tree) ([]float64, error)
}

// Score is the result of a policy on a table. Accuracies are between 0 and 1; regret and gain are in points
// (hundredths of accuracy). For a policy that samples actions, all values are expectations.
type Score struct {
	Scenario string   `json:"scenario"`      // name of the table
	Network  string   `json:"network"`       // network of the table
	Policy   string   `json:"chooser"`       // name of the policy
	Sequence []string `json:"sequence"`      // most likely sequence
	Certain  bool     `json:"certain"`       // the sequence has probability one
	Accuracy float64  `json:"accuracy"`      // accuracy of the sequence in the table
	Regret   float64  `json:"regret_points"` // accuracy of the table's best sequence minus Accuracy
	// Smoothed is the regret computed from smoothed accuracies instead of single runs. It has less noise, but lacks
	// effects that the smoothing model cannot express.
	Smoothed float64 `json:"smoothed_regret_points"`
	Gain     float64 `json:"gain_points"` // gain over never adapting; zero if the table lacks that sequence
	// rank among the table's sequences, from 1; sequences with equal accuracy share the best of their ranks
	Rank float64 `json:"rank"`
	// best rank that noise allows: the best rank of a sequence whose accuracy is at most one standard deviation above
	// the chosen sequence's accuracy. The standard deviation applies to the difference between two accuracies. For a
	// policy that samples actions, this is an expectation, rounded down.
	From   int     `json:"rank_from"`
	To     int     `json:"rank_to"`      // worst rank that noise allows
	Of     int     `json:"rank_of"`      // total number of sequences
	Noise  float64 `json:"noise_points"` // standard deviation of a sequence's accuracy by chance
	Source string  `json:"noise_source"` // source of the noise estimate
	Best   float64 `json:"best"`         // accuracy of the table's best sequence
	Mean   float64 `json:"mean"`         // mean accuracy of all sequences, which a random choice achieves
	// accuracy of the sequence that never adapts; zero if the table lacks that sequence
	Never float64 `json:"never"`
}

// Evaluate scores each policy on each tree.
func Evaluate(trees []*simulation.Tree, policies ...Policy) ([]Score, error) {
	var scores []Score
	for _, t := range trees {
		j := newScorer(t)
		for _, c := range policies {
			shares, err := c.Distribution(t)
			if err != nil {
				return nil, fmt.Errorf("evaluate policy %s on table %s: %w", c.Name(), t.Name, err)
			}
			scores = append(scores, j.scoreOf(c.Name(), shares))
		}
	}
	return scores, nil
}

// scorer holds the data shared by all scores on a tree.
type scorer struct {
	*simulation.Tree
	values []float64 // accuracies of the records
	order  []float64 // the same, ascending
	law    []float64 // the same, smoothed
	noise  float64   // noise in points
	source string    // source of the noise
}

func newScorer(t *simulation.Tree) *scorer {
	j := &scorer{Tree: t, values: simulation.MeanAccuracies(t.Table), law: simulation.Smoothed(t.Table)}
	j.order = slices.Sorted(slices.Values(j.values))
	j.noise, j.source = Noise(t.Table)
	return j
}

// scoreOf scores a distribution over the table's records.
func (j *scorer) scoreOf(policy string, shares []float64) Score {
	likeliest := slices.Index(shares, slices.Max(shares))
	v := Score{Scenario: j.Name, Network: j.Network, Policy: policy, Sequence: j.Records[likeliest].Sequence,
		Certain: shares[likeliest] == 1, Of: len(j.values), Noise: j.noise, Source: j.source,
		Best: slices.Max(j.values)}
	v.Mean = stat.DividedMean(j.values)
	v.Smoothed = simulation.Points * slices.Max(j.law)
	tie := math.Sqrt2 * j.noise / simulation.Points // a difference has the noise of both
	var from, to float64
	for k, share := range shares {
		v.Accuracy += share * j.values[k]
		v.Smoothed -= simulation.Points * share * j.law[k]
		v.Rank += share * float64(1+j.above(j.values[k]))
		from += share * float64(1+j.above(j.values[k]+tie))
		to += share * float64(len(j.order)-j.below(j.values[k]-tie))
	}
	v.From, v.To = int(math.Floor(from+rankRounding)), int(math.Ceil(to-rankRounding))
	v.Regret = simulation.Points * max(0, v.Best-v.Accuracy) // by rounding a sum of shares may exceed the best
	if never := same(j.Tree, tables.None); never >= 0 {
		v.Never = j.values[never]
		v.Gain = simulation.Points * (v.Accuracy - v.Never)
	}
	return v
}

// rankRounding is the largest error of a sum of shares of ranks that is treated as rounding.
const rankRounding = 1e-6

// above is the number of records of a higher accuracy.
func (j *scorer) above(value float64) int {
	end, _ := slices.BinarySearchFunc(j.order, value, func(v, value float64) int {
		if v > value {
			return 1
		}
		return -1
	})
	return len(j.order) - end
}

// below is the number of records of a lower accuracy.
func (j *scorer) below(value float64) int {
	end, _ := slices.BinarySearch(j.order, value)
	return end
}

// same returns the index of the record of one repeated action; negative if there is none.
func same(t *simulation.Tree, action string) int {
	return t.Index(slices.Repeat([]string{action}, t.Decisions)...)
}

// Summary holds the results of a single policy, or of several policies that differ only in their seed, in the same
// scenarios.
type Summary struct {
	Policy string         `json:"chooser"`       // name of the policy
	Seeds  int            `json:"seeds"`         // number of seeds
	Regret stat.OverSeeds `json:"regret_points"` // mean regret over scenarios, with its interval over seeds
	// fraction of all (scenario, seed) pairs in which the rank is 5 or better
	TopFive float64 `json:"top_five"`
	// number of (scenario, seed) pairs in which the rank is in the lower half
	LowHalf  int     `json:"in_lower_half"`
	Worst    float64 `json:"worst_points"`   // largest regret
	WorstOne string  `json:"worst_scenario"` // scenario with the largest regret
}

// Summarize combines the scores of all seeds on the same trees.
func Summarize(policy string, seeds [][]Score) Summary {
	s := Summary{Policy: policy, Seeds: len(seeds), Worst: -1}
	var each []float64
	count := 0.0
	for _, scores := range seeds {
		sum := 0.0
		for _, v := range scores {
			sum += v.Regret
			count++
			if v.Rank <= 5 {
				s.TopFive++
			}
			if v.Rank > float64(v.Of)/2 {
				s.LowHalf++
			}
			if v.Regret > s.Worst {
				s.Worst, s.WorstOne = v.Regret, v.Scenario
			}
		}
		each = append(each, sum/float64(len(scores)))
	}
	s.TopFive /= count
	s.Regret = stat.NewOverSeeds(each, 0.05, stat.Percents)
	return s
}
