package learning

import (
	"fmt"
	"math"

	"graft/internal/stat"
	"graft/simulation"
	"graft/simulation/tables"
)

// Reward names the transformation of accuracies into rewards; the zero value is Standard.
type Reward string

// Transformations of accuracies. Standard and Tangent are scaled to a mean of zero and a standard deviation of one per
// table, so all tables have the same weight and beta has the same effect in each table.
const (
	Standard Reward = "" // accuracy
	// tan(accuracy * pi / 2) as in the original system, which stretches high accuracies
	Tangent Reward = "tangent"
	// Points is the accuracy with one standard deviation for all tables together. A table in which actions have small
	// effects has little weight, and learning reduces the mean regret.
	Points Reward = "points"
)

// Validate returns an error for an unknown reward.
func (r Reward) Validate() error {
	if r != Standard && r != Tangent && r != Points {
		return fmt.Errorf("reward is %q; must be empty, %s or %s", string(r), Tangent, Points)
	}
	return nil
}

// rewards returns the rewards of a table's records; Points are not scaled here. Smooth moves each accuracy towards its
// value in Smoothed, by a share from 0 to 1.
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
	return r.scaled(values)
}

// scaled shifts values to a mean of zero and, except for Points, scales them to a standard deviation of one; equal
// values become zeros.
func (r Reward) scaled(values []float64) []float64 {
	mean, deviation := stat.Population(values)
	if r == Points {
		deviation = 1
	}
	out := make([]float64, len(values))
	for k, v := range values {
		if deviation > 0 {
			out[k] = (v - mean) / deviation
		}
	}
	return out
}

// allRewards returns the rewards of the training trees, pooled by Options.Pool.
func (o Options) allRewards(trees []*simulation.Tree) [][]float64 {
	all := make([][]float64, len(trees))
	for k, t := range trees {
		all[k] = o.Reward.rewards(t.Table, o.Smooth)
	}
	o.pool(trees, all)
	if o.Reward == Points {
		shareDeviation(all)
	}
	return all
}

// pool moves rewards towards the mean of their sequence over all trees.
func (o Options) pool(trees []*simulation.Tree, all [][]float64) {
	if o.Pool == 0 {
		return
	}
	sums, counts := map[string]float64{}, map[string]float64{}
	for k, t := range trees {
		for r := range t.Records {
			sums[tables.Tuple(t.Records[r].Sequence)] += all[k][r]
			counts[tables.Tuple(t.Records[r].Sequence)]++
		}
	}
	for k, t := range trees {
		for r := range t.Records {
			name := tables.Tuple(t.Records[r].Sequence)
			all[k][r] += o.Pool * (sums[name]/counts[name] - all[k][r])
		}
		all[k] = o.Reward.scaled(all[k])
	}
}

// shareDeviation divides all rewards by one number, so their mean variance over the tables is one.
func shareDeviation(all [][]float64) {
	variance := 0.0
	for _, rewards := range all {
		_, deviation := stat.Population(rewards)
		variance += deviation * deviation / float64(len(all))
	}
	if variance == 0 {
		return
	}
	for _, rewards := range all {
		for k := range rewards {
			rewards[k] /= math.Sqrt(variance)
		}
	}
}
