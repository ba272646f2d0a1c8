package learning

import (
	"fmt"
	"math"

	"graft/simulation"
	"graft/simulation/tables"
	"graft/stat"
)

// Reward names the transformation of accuracies into rewards; zero is Standard.
type Reward string

// The rewards. Both are brought to a mean of zero and a deviation of one over the
// table, so that tables count alike and beta means the same for each.
const (
	Standard Reward = ""        // the accuracy itself
	Tangent  Reward = "tangent" // the original's, tan(accuracy * pi / 2), which stretches high accuracies
)

// Validate rejects unknown rewards.
func (r Reward) Validate() error {
	if r != Standard && r != Tangent {
		return fmt.Errorf("there is no reward %q; leave it empty, or write %s", string(r), Tangent)
	}
	return nil
}

// rewards returns the standardized rewards of a table's records. Smooth moves each
// accuracy towards its value in Smoothed, by a share from 0 to 1.
func (r Reward) rewards(t *tables.Table, smooth float64) []float64 {
	values := simulation.MeanAccuracies(t)
	if smooth > 0 {
		for k, s := range simulation.Smoothed(t) {
			values[k] += smooth * (s - values[k])
		}
	}
	if r == Tangent {
		for k, v := range values {
			values[k] = math.Tan(min(v, 0.9999) * math.Pi / 2)
		}
	}
	return standardized(values)
}

// standardized has a mean of zero and a deviation of one; equal values become zeros.
func standardized(values []float64) []float64 {
	mean, deviation := stat.Population(values)
	out := make([]float64, len(values))
	for k, v := range values {
		if deviation > 0 {
			out[k] = (v - mean) / deviation
		}
	}
	return out
}

// allRewards returns the rewards of the trees to learn from, pooled by Options.Pool.
func (o Options) allRewards(trees []*simulation.Tree) [][]float64 {
	all := make([][]float64, len(trees))
	sums, counts := map[string]float64{}, map[string]float64{}
	for k, t := range trees {
		all[k] = o.Reward.rewards(t.Table, o.Smooth)
		for r := range t.Records {
			sums[tables.Tuple(t.Records[r].Sequence)] += all[k][r]
			counts[tables.Tuple(t.Records[r].Sequence)]++
		}
	}
	if o.Pool == 0 {
		return all
	}
	for k, t := range trees {
		for r := range t.Records {
			name := tables.Tuple(t.Records[r].Sequence)
			all[k][r] += o.Pool * (sums[name]/counts[name] - all[k][r])
		}
		all[k] = standardized(all[k])
	}
	return all
}
