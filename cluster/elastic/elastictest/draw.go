// Package elastictest provides a conformance suite for schedulers of elastic jobs, and random studies.
package elastictest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"graft/cluster"
	"graft/cluster/elastic"
)

// Draw creates a study whose jobs can all complete. Many jobs are tied: they have the same arrival, type and length.
func Draw(r *rand.Rand, quirks []cluster.Quirk) elastic.Study {
	s := elastic.Study{Types: drawTypes(r), Options: drawOptions(r, quirks)}
	if r.IntN(3) == 0 {
		s.Speed = elastic.Analytic{WholeShares: r.IntN(2) == 0}
	} else {
		s.Speed = DrawTable(r, s.Types, s.Options.Most+1)
	}
	s.Jobs = drawJobs(r, &s)
	return s
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

func drawOptions(r *rand.Rand, quirks []cluster.Quirk) elastic.Options {
	o := elastic.Options{
		Nodes: pick(r, 1, 2, 3, 5, 1+r.IntN(20)), PerNode: elastic.Resources{8, 8},
		Most: pick(r, 1, 2, 4, 1+r.IntN(16)), Slot: pick[float64](r, 100, 300, 1200), AllReduce: r.IntN(4) == 0,
		Scaling: pick(r, "", elastic.NoScaling, elastic.HotScaling), SpeedError: pick(r, 0, 0, 0.2),
		Seed: r.Uint64(), WholeSlots: r.IntN(6) == 0,
	}
	keep := r.IntN(4) // none, all, or some
	for _, quirk := range quirks {
		if keep == 1 || keep > 1 && r.IntN(2) == 0 {
			o.Quirks = append(o.Quirks, quirk.Name)
		}
	}
	return o
}

func drawTypes(r *rand.Rand) (types []elastic.JobType) {
	for k := range 1 + r.IntN(4) {
		types = append(types, elastic.JobType{
			Name: fmt.Sprint("model", k), Worker: elastic.Resources{1 + r.IntN(3), pick(r, 0, 1, 2, 4)},
			Server: elastic.Resources{1 + r.IntN(3), 0}, EpochSize: pick(r, 1, 50, 100*r.Float64()+1),
			Length: r.Float64(), Compute: 0.05 + r.Float64(), ModelSize: 500 * r.Float64(),
			BetweenBW: 10 + 200*r.Float64(), WithinBW: 20 + 1000*r.Float64(),
		})
	}
	return types
}

// DrawTable generates positive speeds with diminishing returns and random variation.
func DrawTable(r *rand.Rand, types []elastic.JobType, most int) elastic.Table {
	table := elastic.Table{}
	for _, t := range types {
		scale, slow := 1+20*r.Float64(), 0.3*r.Float64()
		for p := 1; p <= most; p++ {
			var row []float64
			for w := 1; w <= most; w++ {
				speed := scale * float64(w) / (1 + slow*float64(w*w)/float64(p) + slow*float64(p))
				row = append(row, speed*(0.8+0.4*r.Float64()))
			}
			table[t.Name] = append(table[t.Name], row)
		}
	}
	return table
}

// drawJobs draws jobs with work for up to about six slots at their best speeds.
func drawJobs(r *rand.Rand, s *elastic.Study) (jobs []elastic.Spec) {
	arrival, id := 0, r.IntN(3)
	for range 1 + r.IntN(25) {
		if r.IntN(3) == 0 {
			arrival += r.IntN(8)
		}
		id += 1 + r.IntN(2)
		kind := r.IntN(len(s.Types))
		_, _, best := elastic.Best(s.Speed, &s.Types[kind], &s.Options)
		real := best * pick(r, 0.1, 1, 2, 5, 6*r.Float64()+0.01)
		estimate := real * pick(r, 1, 1, 1, 0.7+0.6*r.Float64())
		jobs = append(jobs, elastic.Spec{ID: id, Type: kind + 1, Arrival: arrival, Epochs: math.Max(estimate, 1e-6),
			RealEpochs: math.Max(real, 1e-6)})
	}
	return jobs
}
