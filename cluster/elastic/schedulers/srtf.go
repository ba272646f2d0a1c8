package schedulers

import "graft/cluster/elastic"

// newSRTF orders jobs by remaining time at their best speed, in slots.
func newSRTF(w *elastic.World) elastic.Scheduler {
	if w.Keeps(elastic.RemainingFraction) {
		return newOrdered((*elastic.Job).Left)
	}
	peaks := newPeaks(w)
	return newOrdered(peaks.left)
}
