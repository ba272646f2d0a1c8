package simulation

import (
	"fmt"
	"math"
	"slices"

	"graft/stat"
)

// Reward is what learning makes of accuracies. The zero Reward is Standard.
type Reward string

// The rewards. Both are brought to a mean of zero and a deviation of one over the
// table, so that tables count alike and beta means the same for each.
const (
	Standard Reward = ""        // the accuracy itself
	Tangent  Reward = "tangent" // the original's, tan(accuracy * pi / 2), which stretches high accuracies
)

// Validate says whether there is such a reward.
func (r Reward) Validate() error {
	if r != Standard && r != Tangent {
		return fmt.Errorf("there is no reward %q; leave it empty, or write %s", string(r), Tangent)
	}
	return nil
}

// rewards are those of a table's records. Smooth is how far each accuracy is moved
// towards what Smoothed says, from 0 to 1.
func (r Reward) rewards(t *Table, smooth float64) []float64 {
	values := meanAccuracies(t)
	if smooth > 0 {
		for k, s := range Smoothed(t) {
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

func meanAccuracies(t *Table) []float64 {
	values := make([]float64, len(t.Records))
	for k := range t.Records {
		values[k] = t.Records[k].Mean()
	}
	return values
}

// standardized has a mean of zero and a deviation of one, or zeros where all are
// equal.
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

// ridge keeps the fit of Smoothed sound where measures depend on each other.
const ridge = 0.1

// Smoothed are the accuracies that a simple law of a table gives its sequences: how
// often each action is taken, with squares and products, and how early. Noise of
// single runs averages out in it; so does what the law cannot say.
func Smoothed(t *Table) []float64 {
	var rows [][]float64
	names := actionNames(t)
	for k := range t.Records {
		rows = append(rows, lawOf(t.Records[k].Sequence, names))
	}
	return stat.Ridge(rows, meanAccuracies(t), ridge)
}

// actionNames are all actions but none, sorted.
func actionNames(t *Table) []string {
	var names []string
	for k := range t.Records {
		for _, a := range t.Records[k].Sequence {
			if a != none && !slices.Contains(names, a) {
				names = append(names, a)
			}
		}
	}
	slices.Sort(names)
	return names
}

// lawOf measures a sequence.
func lawOf(sequence, names []string) []float64 {
	counts, early := make([]float64, len(names)), make([]float64, len(names))
	for at, a := range sequence {
		if k, ok := slices.BinarySearch(names, a); ok {
			counts[k]++
			early[k] += float64(len(sequence)-at) / float64(len(sequence))
		}
	}
	row := slices.Concat(counts, early)
	for i := range counts {
		for j := i; j < len(counts); j++ {
			row = append(row, counts[i]*counts[j])
		}
	}
	return row
}

// allRewards are those of the trees that are learned from.
func (o TreeLearnOptions) allRewards(trees []*Tree) [][]float64 {
	all := make([][]float64, len(trees))
	sums, counts := map[string]float64{}, map[string]float64{}
	for k, t := range trees {
		all[k] = o.Reward.rewards(t.Table, o.Smooth)
		for r := range t.Records {
			sums[word(t.Records[r].Sequence)] += all[k][r]
			counts[word(t.Records[r].Sequence)]++
		}
	}
	if o.Pool == 0 {
		return all
	}
	for k, t := range trees {
		for r := range t.Records {
			name := word(t.Records[r].Sequence)
			all[k][r] += o.Pool * (sums[name]/counts[name] - all[k][r])
		}
		all[k] = standardized(all[k])
	}
	return all
}
