package schedulers

import "graft/cluster/elastic"

// fastest gives each job the numbers of tasks at which it is fastest, the least remaining time
// first. The simulator that had the other baselines first lacks it: there, all but Optimus give
// jobs as many tasks as allowed, which slows most models down. While the cluster has room for
// all, no scheduler does better, up to the cost of scaling.
type fastest struct {
	order *ordered
	peaks *peaks
}

func newPeak(w *elastic.World) elastic.Scheduler {
	peaks := newPeaks(w)
	return &fastest{newOrdered(peaks.left), peaks}
}

// Schedule implements [elastic.Scheduler].
func (f *fastest) Schedule(w *elastic.World) {
	f.order.sort(w.Jobs())
	for _, j := range f.order.jobs {
		if full := !w.Add(j, elastic.Bundle) || !f.grow(w, j); full && w.Keeps(elastic.FirstNode) {
			return
		}
	}
}

// grow adds tasks to a job, those of which it lacks more first; ok is false if the room ends.
func (f *fastest) grow(w *elastic.World, j *elastic.Job) (ok bool) {
	target := f.peaks.of(j.Model)
	for {
		workers, servers := target.workers-len(j.Workers), target.servers-len(j.Servers)
		switch {
		case workers <= 0 && servers <= 0:
			return true
		case workers >= servers:
			ok = w.Add(j, elastic.Worker)
		default:
			ok = w.Add(j, elastic.Server)
		}
		if !ok {
			return false
		}
	}
}
