package schedulers

import "graft/cluster/elastic"

// tetris packs nodes one after another (Grandl et al., "Multi-Resource Packing for Cluster Schedulers", SIGCOMM 2014).
// The score of a job on a node is the alignment of its demand with the free resources minus its remaining work,
// weighted by the ratio of the two means.
type tetris struct {
	peaks      *peaks
	candidates []candidate
}

type candidate struct {
	job       *elastic.Job
	alignment float64
	work      float64
}

func newTetris(w *elastic.World) elastic.Scheduler {
	if w.Keeps(elastic.LongestFirst) {
		return &originalTetris{}
	}
	return &tetris{peaks: newPeaks(w)}
}

// Schedule implements [elastic.Scheduler].
func (t *tetris) Schedule(w *elastic.World) {
	for node := range w.Nodes() {
		for t.collect(w, node) {
			w.AddOn(t.top().job, node, elastic.Bundle)
		}
	}
}

// collect finds the jobs whose next bundle fits on a node; ok is false if none exist.
func (t *tetris) collect(w *elastic.World, node int) (ok bool) {
	t.candidates = t.candidates[:0]
	free, total := w.Free(node), w.Total()
	for _, j := range w.Jobs() {
		need := w.Demand(j, elastic.Bundle)
		if !w.Allowed(j, elastic.Bundle) || !need.Within(free) {
			continue
		}
		c := candidate{job: j}
		for k := range need {
			if total[k] > 0 { // shares of the cluster, so that no kind outweighs others by its unit
				share := float64(need[k]) / float64(total[k])
				c.alignment += share * float64(free[k]) / float64(total[k])
				c.work += share
			}
		}
		c.work *= t.peaks.left(j)
		t.candidates = append(t.candidates, c)
	}
	return len(t.candidates) > 0
}

// top returns the candidate with the highest score; the first on a tie.
func (t *tetris) top() (best candidate) {
	alignment, work := 0.0, 0.0
	for _, c := range t.candidates {
		alignment += c.alignment
		work += c.work
	}
	highest := 0.0
	for k, c := range t.candidates {
		score := c.alignment
		if work > 0 {
			score -= alignment / work * c.work
		}
		if k == 0 || score > highest {
			best, highest = c, score
		}
	}
	return best
}
