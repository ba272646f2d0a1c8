package evaluation

import (
	"graft/stat"
)

// Summary holds the results of several policies that differ only in their seed, in the
// same scenarios, or of one policy without a seed.
type Summary struct {
	Policy   string        `json:"chooser"`        // its name
	Seeds    int           `json:"seeds"`          // how many there are
	Regret   stat.Interval `json:"regret_points"`  // mean over scenarios, and its interval over seeds
	TopFive  float64       `json:"top_five"`       // share of scenarios and seeds whose rank is 5 or better
	LowHalf  int           `json:"in_lower_half"`  // scenarios and seeds whose rank is in the lower half
	Worst    float64       `json:"worst_points"`   // the most regret of all
	WorstOne string        `json:"worst_scenario"` // and where
}

// Summarize takes the scores of each seed, on the same trees.
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
	s.Regret = stat.MeanInterval(each, 1)
	return s
}
