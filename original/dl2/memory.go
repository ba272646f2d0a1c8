package dl2

import (
	"math"

	"graft/internal/random/numpy"
	"graft/learn/replay"
)

// MemoryOptions holds the options of DL2's published replay memory.
type MemoryOptions struct {
	Capacity int // number of transitions to keep; the mean reward is over the last Capacity rewards
	// draws transitions uniformly without replacement, and only if the memory is full; false draws by priority
	Even bool
	// ByReward sets the priority of a new transition to its reward minus the mean reward, or to 1 if the difference is
	// less than 1. False sets it to the largest priority in the memory.
	ByReward     bool
	EvictLeast   bool // replaces the transition with the lowest priority; false replaces the oldest
	MeanBaseline bool // whether rewards are relative to their mean; the limit on errors is then 4
	// whether a value network exists; if MeanBaseline is false, value errors are limited to 7 with a value network and
	// to 1 without one
	Critic bool
}

// Constants of the replay.
const (
	betaStep  = 1e-4 // increment of beta per draw; beta starts at 0.1
	firstBeta = 0.1
	errorEps  = 0.01 // added to errors
	errorRoot = 0.9  // exponent of errors
	overBound = 1.2  // divisor of the bound for the first priority
)

// Memory is DL2's published replay memory. As in DL2's program, it compares priorities of different scales: with
// ByReward, a new transition's priority is a reward, but later priorities are powers of errors.
type Memory[T any] struct {
	*replay.Memory[T]
	o       MemoryOptions
	beta    float64
	rewards []float64 // last rewards, the newest at the end
}

// NewMemory creates an empty memory.
func NewMemory[T any](o MemoryOptions) (*Memory[T], error) {
	m, err := replay.NewMemory[T](o.Capacity)
	return &Memory[T]{Memory: m, o: o, beta: firstBeta}, err
}

// Full reports whether the memory is full. Each new transition then replaces another transition.
func (m *Memory[T]) Full() bool { return m.Len() == m.Capacity() }

// bound returns the upper bound on errors.
func (m *Memory[T]) bound() float64 {
	switch {
	case m.o.MeanBaseline:
		return 4
	case m.o.Critic:
		return 7
	}
	return 1
}

// Store adds a transition with its reward.
func (m *Memory[T]) Store(item T, reward float64) error {
	m.rewards = append(m.rewards, reward)
	if len(m.rewards) > m.o.Capacity {
		m.rewards = m.rewards[1:]
	}
	priority := m.first(reward)
	if m.o.EvictLeast && !m.o.Even && m.Full() {
		return m.Replace(m.Least(), item, priority)
	}
	return m.Add(item, priority)
}

// first returns the priority of a new transition.
func (m *Memory[T]) first(reward float64) float64 {
	switch {
	case m.o.Even:
		return 1
	case m.o.ByReward:
		return max(1, reward-m.MeanReward())
	}
	if most := m.Most(); most > 0 {
		return most
	}
	return m.bound() / overBound
}

// MeanReward returns the mean of the most recent rewards. The number of rewards in the mean is limited to the capacity
// of the memory.
func (m *Memory[T]) MeanReward() float64 {
	sum := 0.0
	for _, r := range m.rewards {
		sum += r
	}
	return sum / float64(max(1, len(m.rewards)))
}

// Beta returns the exponent of the importance weights that the last draw used.
func (m *Memory[T]) Beta() float64 { return m.beta }

// Sample draws n transitions. If the option Even is set, all importance weights are 1, and n is limited to the number
// of transitions in the memory.
func (m *Memory[T]) Sample(n int, random *numpy.Random) (d replay.Draw, err error) {
	if m.o.Even {
		for _, k := range random.Choice(m.Len(), n) {
			d.Places, d.Weights = append(d.Places, m.Nth(k)), append(d.Weights, 1)
		}
		return d, nil
	}
	m.beta = min(1, m.beta+betaStep)
	return m.Draw(n, m.beta, random)
}

// Learned updates the priority of the transition at index place from off, the error of the transition's predicted
// value. It has no effect if the option Even is set.
func (m *Memory[T]) Learned(place int, off float64) error {
	if m.o.Even {
		return nil
	}
	return m.Set(place, math.Pow(min(math.Abs(off)+errorEps, m.bound()), errorRoot))
}
