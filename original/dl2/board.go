package dl2

import (
	"slices"

	"graft/cluster/elastic"
	"graft/internal/random/numpy"
)

// board is a world with what a policy sees of it and may do in it.
type board struct {
	Window *elastic.Window // as it was when it was last observed

	shape ShapeOptions
	world *elastic.World
}

func newBoard(w *elastic.World, o ShapeOptions) board {
	return board{Window: elastic.NewWindow(w, o.WindowOptions), shape: o, world: w}
}

// begin gives each job a bundle, as long as the least loaded node has room. It has no effect without
// servers.
func (b *board) begin() {
	if b.shape.NoStart || b.world.AllReduce() {
		return
	}
	for _, j := range b.world.Jobs() {
		b.world.Add(j, elastic.Bundle)
	}
}

// Observe is the state, row by row, until the next call.
func (b *board) Observe() []float64 {
	b.Window.Observe()
	return b.Window.State
}

// mask says which actions are allowed: those of jobs that are there and not at their maximum, and to
// end the slot.
func (b *board) mask() []bool {
	mask, per := make([]bool, b.Window.Actions()), b.Window.PerJob()
	for k, j := range b.Window.Jobs {
		for a := range per {
			mask[per*k+a] = j != nil && b.world.Allowed(j, elastic.Action(a))
		}
	}
	mask[len(mask)-1] = true
	return mask
}

// masked are the probabilities of allowed actions, divided by their sum; ok is false if there is none
// but to end the slot, or if all are zero.
func (b *board) masked(probabilities []float64) (m []float64, mask []bool, ok bool) {
	mask = b.mask()
	m, sum := slices.Clone(probabilities), 0.0
	for k := range m {
		if !mask[k] {
			m[k] = 0
		}
		sum += m[k]
	}
	if !slices.Contains(mask[:len(mask)-1], true) || !(sum > 0) {
		return nil, nil, false
	}
	for k := range m {
		m[k] /= sum
	}
	return m, mask, true
}

// job is the job of an action; nil for the last one and those of empty columns.
func (b *board) job(action int) *elastic.Job {
	if action < 0 || action >= b.Window.Actions()-1 {
		return nil
	}
	return b.Window.Jobs[action/b.Window.PerJob()]
}

// add takes an action of a job, and reports whether there was room.
func (b *board) add(action int) bool {
	return b.world.Add(b.job(action), elastic.Action(action%b.Window.PerJob()))
}

// drawRange is the number of values of a draw of an action.
const drawRange = 100_000

// draw is the first action up to which probabilities sum to more than a draw; the first of all where
// rounding leaves none.
func draw(m []float64, random *numpy.Random) int {
	limit, sum := float64(random.IntN(1, drawRange))/drawRange, 0.0
	for k, p := range m {
		if sum += p; sum > limit {
			return k
		}
	}
	return 0
}

// likeliest is the action with the largest probability, the first of equal ones.
func likeliest(m []float64) int { return slices.Index(m, slices.Max(m)) }
