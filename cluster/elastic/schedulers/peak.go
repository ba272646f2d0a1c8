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
		target := f.peaks.of(j.Model)
		placed := w.Add(j, elastic.Bundle) && grow(w, j, target.workers, target.servers)
		if !placed && w.Keeps(elastic.FirstNode) {
			return
		}
	}
}

// grow adds tasks to a job up to numbers of them, those of which it lacks more first; ok is false
// if the room ends.
func grow(w *elastic.World, j *elastic.Job, workers, servers int) (ok bool) {
	for {
		moreWorkers, moreServers := workers-len(j.Workers), servers-len(j.Servers)
		switch {
		case moreWorkers <= 0 && moreServers <= 0:
			return true
		case moreWorkers >= moreServers:
			ok = w.Add(j, elastic.Worker)
		default:
			ok = w.Add(j, elastic.Server)
		}
		if !ok {
			return false
		}
	}
}
