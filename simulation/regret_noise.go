package simulation

import (
	"math"
	"math/rand/v2"
	"slices"
)

// What the noise of a table was read from.
const (
	NoiseOfSeeds  = "seeds"     // the spread of runs that differ in their seed alone
	NoiseOfOrders = "orders"    // the spread of sequences of the same actions in another order: order counts in it, so it is too high if anything
	NoiseUnknown  = "not known" // there are neither: it is taken for zero
)

// leastFreedom is how many values an estimate of noise needs beyond the means that it
// is about.
const leastFreedom = 3

// Noise is the standard deviation of the accuracies of a table's sequences, in
// points, that comes from chance alone, and what it was read from.
func Noise(t *Table) (points float64, source string) {
	var seeds pooled
	for k := range t.Records {
		seeds.add(t.Records[k].Accuracy)
	}
	if seeds.freedom >= leastFreedom {
		return inPoints * seeds.deviation() / math.Sqrt(seeds.size()), NoiseOfSeeds
	}
	groups := map[string][]float64{}
	for k := range t.Records {
		actions := slices.Sorted(slices.Values(t.Records[k].Sequence))
		groups[word(actions)] = append(groups[word(actions)], t.Records[k].Mean())
	}
	var orders pooled
	for _, group := range groups {
		orders.add(group)
	}
	if orders.freedom >= leastFreedom {
		return inPoints * orders.deviation(), NoiseOfOrders
	}
	return 0, NoiseUnknown
}

// pooled is the variance of groups, each about its own mean.
type pooled struct{ squares, freedom, groups, values float64 }

func (s *pooled) add(group []float64) {
	_, deviation := meanAndDeviation(group)
	s.squares += deviation * deviation * float64(len(group))
	s.freedom += float64(len(group) - 1)
	s.groups++
	s.values += float64(len(group))
}

func (s *pooled) deviation() float64 { return math.Sqrt(s.squares / s.freedom) }

// size is how many values a group has on average.
func (s *pooled) size() float64 { return s.values / s.groups }

// Floor is the regret, in points, that even whoever knows the truth must expect from
// a table of single runs: as if the smoothed table were the truth, the best sequence
// of it is taken, and tables are drawn with normal noise of a deviation in points.
func Floor(t *Table, noise float64, draws int, random *rand.Rand) float64 {
	truth := Smoothed(t)
	best := slices.Index(truth, slices.Max(truth))
	sum := 0.0
	for range draws {
		most, mine := math.Inf(-1), 0.0
		for k, v := range truth {
			v += noise / inPoints * random.NormFloat64()
			if most = max(most, v); k == best {
				mine = v
			}
		}
		sum += most - mine
	}
	return inPoints * sum / float64(draws)
}
