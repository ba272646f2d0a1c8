package dl2

import (
	"slices"

	"graft/cluster/elastic"
	"graft/internal/random/numpy"
)

// board is a world with the policy's observations and actions.
type board struct {
	Window *elastic.Window // window at the last observation

	shape ShapeOptions
	world *elastic.World
}

func newBoard(w *elastic.World, o ShapeOptions) board {
	return board{Window: elastic.NewWindow(w, o.WindowOptions), shape: o, world: w}
}

// begin gives each job a bundle, as long as the least loaded node has room. It has no effect without servers.
func (b *board) begin() {
	if b.shape.NoStart || b.world.AllReduce() {
		return
	}
	for _, j := range b.world.Jobs() {
		b.world.Add(j, elastic.Bundle)
	}
}

// Observe returns the observation for the policy, row by row. The returned slice is valid until the next call.
func (b *board) Observe() []float64 {
	b.Window.Observe()
	return b.Window.State
}

// mask returns the allowed actions: actions of present jobs below their maximum, and the end of the slot.
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

// masked returns the probabilities of allowed actions, divided by their sum. It returns false for ok if only the end of
// the slot is allowed, or if all probabilities are zero.
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

// job returns the job of an action; nil for the last action and for empty columns.
func (b *board) job(action int) *elastic.Job {
	if action < 0 || action >= b.Window.Actions()-1 {
		return nil
	}
	return b.Window.Jobs[action/b.Window.PerJob()]
}

// add takes an action for a job, and reports whether there was room.
func (b *board) add(action int) bool {
	return b.world.Add(b.job(action), elastic.Action(action%b.Window.PerJob()))
}

// drawRange is the number of values of a draw.
const drawRange = 100_000

// draw returns the first action at which the cumulative probability exceeds a draw. If rounding leaves none, it returns
// the first action.
func draw(m []float64, random *numpy.Random) int {
	limit, sum := float64(random.IntN(1, drawRange))/drawRange, 0.0
	for k, p := range m {
		if sum += p; sum > limit {
			return k
		}
	}
	return 0
}

// likeliest returns the action with the highest probability; the first of equal ones.
func likeliest(m []float64) int { return slices.Index(m, slices.Max(m)) }
