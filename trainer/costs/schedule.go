package costs

// mostPasses limits the size of a simulated schedule: micro batches times stages.
const mostPasses = 1 << 20

// stage is the time of a micro batch on a stage of a pipeline.
type stage struct{ forward, backward float64 }

func (s stage) total() float64 { return s.forward + s.backward }
func (s stage) plus(other stage) stage {
	return stage{s.forward + other.forward, s.backward + other.backward}
}
func (s stage) times(n int) stage { return stage{s.forward * float64(n), s.backward * float64(n)} }

// oneForwardOneBackward returns the time of a pipeline in which stage k of n first runs n-1-k forward passes, then
// alternates forward and backward passes. Messages to the next and to the previous stage take time, during which both
// stages work. Times of a pass only depend on the passes before it, so each sweep over the stages advances every stage
// as far as its messages have arrived.
func oneForwardOneBackward(stages []stage, microBatches int, message float64) float64 {
	n := len(stages)
	if n == 1 {
		return stages[0].total() * float64(microBatches)
	}
	workers := make([]worker, n)
	for k := range workers {
		workers[k] = worker{stage: stages[k], ahead: min(microBatches, n-1-k), micro: microBatches}
	}
	for !done(workers) {
		for k := range workers {
			workers[k].advance(neighbour(workers, k-1), neighbour(workers, k+1), message)
		}
	}
	end := 0.0
	for k := range workers {
		end = max(end, workers[k].clock)
	}
	return end
}

// worker is a stage of the simulated pipeline.
type worker struct {
	stage
	ahead     int // forward passes before the first backward pass
	micro     int // micro batches
	clock     float64
	forwards  []float64 // end of each forward pass
	backwards []float64 // end of each backward pass
}

func done(workers []worker) bool { return len(workers[0].backwards) == workers[0].micro }

// neighbour returns a worker, or nil outside of the pipeline.
func neighbour(workers []worker, k int) *worker {
	if k < 0 || k >= len(workers) {
		return nil
	}
	return &workers[k]
}

// advance runs the passes whose messages have arrived.
func (w *worker) advance(previous, next *worker, message float64) {
	for len(w.backwards) < w.micro {
		if w.forwardIsNext() {
			at, here := arrival(previous, func(p *worker) []float64 { return p.forwards }, len(w.forwards), message)
			if !here {
				return
			}
			w.clock = max(w.clock, at) + w.forward
			w.forwards = append(w.forwards, w.clock)
			continue
		}
		at, here := arrival(next, func(p *worker) []float64 { return p.backwards }, len(w.backwards), message)
		if !here {
			return
		}
		w.clock = max(w.clock, at) + w.backward
		w.backwards = append(w.backwards, w.clock)
	}
}

// forwardIsNext reports whether the next pass of a worker is a forward pass.
func (w *worker) forwardIsNext() bool {
	return len(w.forwards) < w.micro && len(w.forwards)-len(w.backwards) <= w.ahead
}

// arrival returns when a neighbour's result for a micro batch arrives, and whether the neighbour has computed it. The
// ends of the pipeline need no message.
func arrival(from *worker, ends func(*worker) []float64, micro int, message float64) (at float64, here bool) {
	if from == nil {
		return 0, true
	}
	if list := ends(from); micro < len(list) {
		return list[micro] + message, true
	}
	return 0, false
}
