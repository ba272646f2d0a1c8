package schedulers

import "graft/cluster/elastic"

// fastest gives each job the numbers of tasks at which it is fastest, least remaining time first. DL2's simulator, the
// source of the other baselines, lacks it: there, all except Optimus give jobs the maximum number of tasks, which slows
// most models down. While the cluster has room for all jobs, no scheduler is better, except for the cost of scaling.
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

// grow adds tasks to a job up to target numbers, the kind with the larger shortfall first; ok is false if there is no
// more room.
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
