package fabric

import (
	"math"
	"slices"

	"graft/cluster/fabric"
	"graft/internal/stat"
)

// played holds the results of an episode. Times are in seconds; NaN where no job completed.
type played struct {
	blocked    float64 // share of the jobs
	completion float64 // mean time from arrival to completion
	tail       float64 // its 99th percentile
	speedup    float64 // mean
	held       float64 // share of the servers' time in which jobs have them
	busy       float64 // and in which they compute
	throughput float64 // bytes that jobs asked for and got, in a second
	causes     map[fabric.Cause]int
	degrees    map[[2]int]int // jobs that started, by model and degree
	ends       []end
}

// end holds how a job ended; the times are zero where it has none.
type end struct {
	status   fabric.Status
	from, to float64
}

func blocked(f *played) float64    { return f.blocked }
func completion(f *played) float64 { return f.completion }

// figures sums an episode; nil for no world.
func figures(w *fabric.World) *played {
	if w == nil {
		return nil
	}
	f := &played{causes: map[fabric.Cause]int{}, degrees: map[[2]int]int{}}
	time := max(w.Record.Sum.To-w.Record.Sum.From, math.SmallestNonzeroFloat64) // no job runs where it is zero
	span := time * float64(w.Study().Network.Size())
	var times, speedups []float64
	for k := range w.Jobs {
		j := &w.Jobs[k]
		f.ends = append(f.ends, end{j.Status, zeroed(j.Started), zeroed(j.Ended)})
		if j.Status == fabric.Blocked {
			f.causes[j.Cause]++
			f.blocked++
		}
		if j.Run == nil {
			continue
		}
		f.degrees[[2]int{j.Model, j.Run.Parted.Degree}]++
		until := j.Ended
		if math.IsNaN(until) {
			until = w.Now
		}
		share := (until - j.Started) * float64(len(j.Run.Placed.Servers)) / span
		f.held += share
		f.busy += share * j.Run.Busy
		if j.Status == fabric.Completed {
			times, speedups = append(times, j.Ended-j.Arrival), append(speedups, w.Study().Sequential(j)/j.Time)
		}
	}
	f.blocked /= float64(len(w.Jobs))
	f.throughput = (w.Record.Sum.DemandMemory + w.Record.Sum.DemandDep) / time
	f.completion, f.tail, f.speedup = math.NaN(), math.NaN(), math.NaN()
	if len(times) > 0 {
		f.completion, f.speedup = stat.Mean(times), stat.Mean(speedups)
		slices.Sort(times)
		f.tail = stat.Quantile(times, 0.99)
	}
	return f
}

func zeroed(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}
