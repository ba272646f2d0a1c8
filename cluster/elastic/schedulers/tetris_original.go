package schedulers

import "graft/cluster/elastic"

// originalTetris decides like the Tetris of DL2's simulator: it adds the weighted remaining work to the score, includes
// jobs at their maximum in the means, and leaves a node as soon as the job with the highest score does not fit. The
// order of its sums affects its results: scores often differ only by rounding.
type originalTetris struct {
	needs             []elastic.Resources // next bundle of each job
	works, alignments []float64           // by job
	meanWork          float64
}

// Schedule implements [elastic.Scheduler].
func (t *originalTetris) Schedule(w *elastic.World) {
	t.begin(w)
	for node := range w.Nodes() {
		for {
			j := t.top(w, node)
			if j == nil || !w.AddOn(j, node, elastic.Bundle) {
				break
			}
		}
	}
}

// begin computes the values that stay constant within a slot.
func (t *originalTetris) begin(w *elastic.World) {
	t.needs, t.works, t.meanWork = t.needs[:0], t.works[:0], 0
	for _, j := range w.Jobs() {
		need := w.Demand(j, elastic.Bundle)
		work := float64(need.Sum()) * j.Left()
		t.needs, t.works = append(t.needs, need), append(t.works, work)
		t.meanWork += work
	}
	t.meanWork /= float64(len(t.works))
}

// top returns the job with the highest score among jobs that may grow; nil leaves the node.
func (t *originalTetris) top(w *elastic.World, node int) (best *elastic.Job) {
	weight := t.align(w.Free(node)) / t.meanWork
	if weight == 0 {
		return nil
	}
	highest := 0.0
	for k, j := range w.Jobs() {
		// The conversion forbids a fused multiply-add, which rounds differently.
		score := t.alignments[k] + float64(weight*t.works[k])
		if (best == nil || score > highest) && w.Allowed(j, elastic.Bundle) {
			best, highest = j, score
		}
	}
	return best
}

// align computes the alignment of all jobs with a node's free resources and returns the mean.
func (t *originalTetris) align(free elastic.Resources) (mean float64) {
	t.alignments = t.alignments[:0]
	for _, need := range t.needs {
		alignment := 0
		for k := range need {
			alignment += free[k] * need[k]
		}
		t.alignments = append(t.alignments, float64(alignment))
		mean += float64(alignment)
	}
	return mean / float64(len(t.needs))
}
