package evaluation

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"graft/internal/stat"
	"graft/simulation"
	"graft/simulation/tables"
)

// Sources of a table's noise estimate.
const (
	NoiseOfSeeds = "seeds" // spread of runs that differ only in their seed
	// spread of sequences with the same actions in a different order; this includes the effect of order, so it is an
	// upper bound
	NoiseOfOrders = "orders"
	NoiseUnknown  = "not known" // no estimate is possible; the noise counts as zero
)

// leastFreedom is the minimum degrees of freedom of a noise estimate.
const leastFreedom = 3

// Noise estimates the noise of a table. It returns the noise, in points, and the source of the estimate. Noise is the
// standard deviation of a sequence's accuracy due to chance.
func Noise(t *tables.Table) (points float64, source string) {
	seeds := paired(t)
	if seeds.freedom == 0 {
		seeds = unpaired(t)
	}
	if seeds.freedom >= leastFreedom {
		return simulation.Points * seeds.deviation() / math.Sqrt(seeds.values/seeds.groups), NoiseOfSeeds
	}
	var orders pooled
	for _, group := range sameActions(t) {
		orders.add(group)
	}
	if orders.freedom >= leastFreedom {
		return simulation.Points * orders.deviation(), NoiseOfOrders
	}
	return 0, NoiseUnknown
}

// paired is the variance of seeds about the mean of their sequence and of their seed, if all sequences ran with the
// same seeds. An effect of a seed that is common to all sequences changes no ranks. It is zero otherwise.
func paired(t *tables.Table) (p pooled) {
	seeds := t.Records[0].Seeds
	if len(seeds) < 2 || slices.ContainsFunc(t.Records,
		func(r tables.Record) bool { return !slices.Equal(r.Seeds, seeds) }) {
		return p
	}
	bySeed := make([]float64, len(seeds))
	for k := range t.Records {
		mean := t.Records[k].Mean()
		for n, v := range t.Records[k].Accuracy {
			bySeed[n] += (v - mean) / float64(len(t.Records))
		}
	}
	for k := range t.Records {
		mean := t.Records[k].Mean()
		for n, v := range t.Records[k].Accuracy {
			p.squares += (v - mean - bySeed[n]) * (v - mean - bySeed[n])
		}
	}
	p.groups, p.values = float64(len(t.Records)), float64(len(t.Records)*len(seeds))
	p.freedom = (p.groups - 1) * float64(len(seeds)-1)
	return p
}

// unpaired is the variance of seeds about the mean of their sequence.
func unpaired(t *tables.Table) (p pooled) {
	for k := range t.Records {
		p.add(t.Records[k].Accuracy)
	}
	return p
}

// sameActions returns the accuracies of sequences with the same actions, group by group, in the order of the table, so
// sums are rounded the same way each time.
func sameActions(t *tables.Table) [][]float64 {
	var groups [][]float64
	places := map[string]int{}
	for k := range t.Records {
		actions := tables.Tuple(slices.Sorted(slices.Values(t.Records[k].Sequence)))
		place, known := places[actions]
		if !known {
			place = len(groups)
			places[actions], groups = place, append(groups, nil)
		}
		groups[place] = append(groups[place], t.Records[k].Mean())
	}
	return groups
}

// pooled is the variance within groups, each about its own mean.
type pooled struct{ squares, freedom, groups, values float64 }

func (s *pooled) add(group []float64) {
	_, deviation := stat.Population(group)
	s.squares += deviation * deviation * float64(len(group))
	s.freedom += float64(len(group) - 1)
	s.groups++
	s.values += float64(len(group))
}

func (s *pooled) deviation() float64 { return math.Sqrt(s.squares / s.freedom) }

// OracleRegret returns the expected regret of an oracle on a table of single runs, in points. It treats the smoothed
// accuracies as the true accuracies; the oracle takes the sequence with the highest true accuracy. It averages over
// random tables, which it draws by adding normal noise to the true accuracies. The argument noise is the standard
// deviation in points, and draws is the number of random tables.
func OracleRegret(t *tables.Table, noise float64, draws int, random *rand.Rand) float64 {
	truth := simulation.Smoothed(t)
	best := slices.Index(truth, slices.Max(truth))
	sum := 0.0
	for range draws {
		most, mine := math.Inf(-1), 0.0
		for k, v := range truth {
			v += noise / simulation.Points * random.NormFloat64()
			if most = max(most, v); k == best {
				mine = v
			}
		}
		sum += most - mine
	}
	return simulation.Points * sum / float64(draws)
}

// NoiseEstimate is the estimated noise of a table, in points.
type NoiseEstimate struct {
	Noise  float64 `json:"noise_points"` // standard deviation of a sequence's accuracy by chance
	Source string  `json:"noise_source"` // source of the estimate
	Floor  float64 `json:"floor_points"` // expected regret of an oracle
}

// Limits of the number of tables drawn for an oracle's regret, which have about this number of records in total.
const (
	floorRecords = 2000000
	fewestDraws  = 100
	mostDraws    = 4000
)

// EstimateNoise estimates the noise of a table, and the regret of an oracle under this noise. The noise is multiplied
// by the argument share: a value below one corrects an estimate that is too high, and zero means one.
func EstimateNoise(t *tables.Table, share float64) NoiseEstimate {
	c := NoiseEstimate{}
	c.Noise, c.Source = Noise(t)
	c.Noise *= cmp.Or(share, 1)
	draws := min(max(floorRecords/max(1, len(t.Records)), fewestDraws), mostDraws)
	c.Floor = OracleRegret(t, c.Noise, draws, rand.New(rand.NewPCG(1, 1)))
	return c
}
