package evaluation

import (
	"math/rand/v2"
	"slices"

	"graft/simulation"
)

// Interval is a mean and where it lies with 95% confidence.
type Interval struct {
	Mean float64 `json:"mean"` // of what was drawn
	Low  float64 `json:"low"`  // its lower end
	High float64 `json:"high"` // its upper end
}

// resamples is how many samples a bootstrap draws.
const resamples = 2000

// Bootstrap is the mean of values and its interval: the percentiles of the means of
// samples that are drawn from the values with replacement (Efron 1979). The same seed
// gives the same interval.
func Bootstrap(values []float64, seed uint64) Interval {
	mean, _ := simulation.MeanAndDeviation(values)
	random := rand.New(rand.NewPCG(seed, 0x626f6f74)) // a stream for this alone
	means := make([]float64, resamples)
	for k := range means {
		for range values {
			means[k] += values[random.IntN(len(values))] / float64(len(values))
		}
	}
	slices.Sort(means)
	return Interval{mean, means[resamples*25/1000], means[resamples*975/1000]}
}

// Summary is what several policies that differ in their seed alone did in the same
// scenarios, or one chooser without a seed.
type Summary struct {
	Policy   string   `json:"chooser"`        // its name
	Seeds    int      `json:"seeds"`          // how many there are
	Regret   Interval `json:"regret_points"`  // mean over scenarios, and its interval over seeds
	TopFive  float64  `json:"top_five"`       // share of scenarios and seeds whose rank is 5 or better
	LowHalf  int      `json:"in_lower_half"`  // scenarios and seeds whose rank is in the lower half
	Worst    float64  `json:"worst_points"`   // the most regret of all
	WorstOne string   `json:"worst_scenario"` // and where
}

// Summarize takes the verdicts of each seed, on the same trees.
func Summarize(chooser string, seeds [][]Score) Summary {
	s := Summary{Policy: chooser, Seeds: len(seeds), Worst: -1}
	var each []float64
	count := 0.0
	for _, verdicts := range seeds {
		sum := 0.0
		for _, v := range verdicts {
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
		each = append(each, sum/float64(len(verdicts)))
	}
	s.TopFive /= count
	s.Regret = Bootstrap(each, 1)
	return s
}
