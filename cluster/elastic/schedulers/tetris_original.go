package schedulers

import "graft/cluster/elastic"

// originalTetris decides as the Tetris of DL2's simulator, which adds the weighted remaining work
// to the score, counts jobs at their maximum in the means, and leaves a node as soon as the job
// with the highest score does not fit. The order of its sums is part of its results: scores
// often differ by rounding alone.
type originalTetris struct {
	alignments, works []float64
}

// Schedule implements [elastic.Scheduler].
func (t *originalTetris) Schedule(w *elastic.World) {
	for node := range w.Nodes() {
		for {
			j := t.top(w, node)
			if j == nil || !w.AddOn(j, node, elastic.Bundle) {
				break
			}
		}
	}
}

// top returns the job with the highest score among those that may grow; nil leaves the node.
func (t *originalTetris) top(w *elastic.World, node int) (best *elastic.Job) {
	weight := t.measure(w, node)
	if weight == 0 {
		return nil
	}
	highest := 0.0
	for k, j := range w.Jobs() {
		if !w.Allowed(j, elastic.Bundle) {
			continue
		}
		// The conversion forbids a fused multiply-add, which rounds differently.
		score := t.alignments[k] + float64(weight*t.works[k])
		if best == nil || score > highest {
			best, highest = j, score
		}
	}
	return best
}

// measure computes alignment and remaining work of all jobs and returns the ratio of their means.
func (t *originalTetris) measure(w *elastic.World, node int) (weight float64) {
	t.alignments, t.works = t.alignments[:0], t.works[:0]
	free, jobs := w.Free(node), w.Jobs()
	alignment, work := 0.0, 0.0
	for _, j := range jobs {
		need := w.Demand(j, elastic.Bundle)
		a := 0
		for k := range need {
			a += free[k] * need[k]
		}
		t.alignments = append(t.alignments, float64(a))
		t.works = append(t.works, float64(need.Sum())*j.Left())
		alignment += float64(a)
		work += t.works[len(t.works)-1]
	}
	if work == 0 {
		return 0
	}
	n := float64(len(jobs))
	return (alignment / n) / (work / n)
}
