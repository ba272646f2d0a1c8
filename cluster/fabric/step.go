package fabric

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"graft/cluster"
)

// Step holds the results of a simulated training step.
type Step struct {
	Time     float64 // duration of the step in seconds
	Compute  float64 // seconds in which at least one server computes
	Transfer float64 // seconds in which at least one transfer between servers runs
	Ticks    []Tick  // periods in order of time; their lengths sum to Time
}

// Tick is the period between two consecutive events in a step.
type Tick struct {
	Computing int     // number of servers that compute
	Length    float64 // length of the period in seconds
}

// Busy returns the mean fraction of a job's servers that compute during this step. The mean is over the time of the
// step. The argument job is this time in seconds or, with the quirk [StepShare], the run time of the whole job.
func (s *Step) Busy(servers int, job float64) float64 {
	sum := 0.0
	for _, t := range s.Ticks {
		sum += float64(t.Computing) / float64(servers) * (t.Length / job)
	}
	return sum
}

// Watch holds functions that observe the simulation of a step. Nil functions are not called.
type Watch struct {
	// called for each period in which an operation runs without interruption by an operation with higher priority
	Op func(op int, from, to float64)
	// called at the end of each transfer between servers, with the time at which the transfer first made progress and
	// the time at which it ended
	Dep func(dep int, from, to float64)
}

// Timing configures the simulation of a step.
type Timing struct {
	Network Network
	Unit    float64 // seconds per unit of graph.Op.Compute on the simulated devices
	Quirks  cluster.Quirks
	Watch   Watch
}

// ErrStuck reports that a step never ends: its operations wait for each other or for a transfer that never ends.
var ErrStuck = errors.New("the step never ends: the remaining operations wait for a transfer that cannot progress")

// step is a running step.
type step struct {
	timing *Timing
	placed *Placed
	left   []float64 // remaining time of operations
	work   []float64 // remaining work of transfers
	missed []int     // number of inputs that each operation waits for
	rank   []int     // by operation: priority on its server; higher is first
	first  []int     // by transfer: priority; higher is first
	ready  [][]int   // by server: ready operations, lowest rank first
	moving []int     // ready transfers between servers, highest priority first
	still  []int     // ready transfers within servers
	ended  []int     // transfers that ended in this tick
	rates  []float64
	spans  []span    // by server: running operation
	begun  []float64 // by transfer: time of first movement
	undone int
	result Step
}

// Run simulates one training step. Each server runs its ready operation with the highest priority, and the network
// moves ready transfers. Shorter operations and transfers come first; on a tie, operations and transfers that are
// listed later come first.
func (t *Timing) Run(p *Placed) (*Step, error) {
	if err := t.Network.Load(p); err != nil {
		return nil, err
	}
	s := newStep(t, p)
	for s.undone > 0 {
		if err := s.tick(); err != nil {
			return nil, err
		}
	}
	return &s.result, nil
}

func newStep(t *Timing, p *Placed) *step {
	g := p.Parted.Graph
	s := &step{
		timing: t, placed: p, left: make([]float64, len(g.Ops)), work: slices.Clone(p.Work),
		missed: make([]int, len(g.Ops)), rank: make([]int, len(g.Ops)), ready: make([][]int, len(p.Servers)),
		undone: len(g.Ops) + len(g.Deps),
	}
	for k := range g.Ops {
		s.left[k] = g.Ops[k].Compute * t.Unit
	}
	for _, ops := range p.onServer {
		for rank, op := range ranked(ops, s.left) {
			s.rank[op] = rank
		}
	}
	all := make([]int, len(g.Deps))
	for k := range all {
		all[k] = k
	}
	s.first = make([]int, len(g.Deps))
	for rank, dep := range ranked(all, s.work) {
		s.first[dep] = rank
	}
	s.spans = make([]span, len(p.Servers))
	for k := range s.spans {
		s.spans[k].op = -1
	}
	s.begun = make([]float64, len(g.Deps))
	for k := range s.begun {
		s.begun[k] = math.NaN()
	}
	for k := range g.Ops {
		s.missed[k] = s.inputs(k)
		if s.missed[k] == 0 && (len(g.In[k]) == 0 || !t.Quirks.Keeps(CountedSync)) {
			s.wake(k)
		}
	}
	return s
}

// ranked sorts by time, longest first.
func ranked(list []int, time []float64) []int {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(time[b], time[a]) })
	return list
}

// inputs counts the inputs that an operation waits for.
func (s *step) inputs(op int) (n int) {
	for _, dep := range s.placed.Parted.Graph.In[op] {
		if !s.placed.Parted.Graph.Deps[dep].Sync {
			n++
		}
	}
	return n
}

// wake marks an operation as ready.
func (s *step) wake(op int) {
	queue := &s.ready[s.placed.slot[op]]
	at, _ := slices.BinarySearchFunc(*queue, s.rank[op], func(o, rank int) int { return s.rank[o] - rank })
	*queue = slices.Insert(*queue, at, op)
}

// release marks a transfer as ready.
func (s *step) release(dep int) {
	if !s.placed.flows(dep) {
		s.still = append(s.still, dep)
		return
	}
	at, _ := slices.BinarySearchFunc(s.moving, s.first[dep], func(d, rank int) int { return rank - s.first[d] })
	s.moving = slices.Insert(s.moving, at, dep)
}

// tick runs to the next event. Transfers that become ready in it move from the next tick on.
func (s *step) tick() error {
	length := s.length()
	if math.IsInf(length, 1) {
		return fmt.Errorf("simulate a step of %s on %d servers: %w", s.placed.Parted.Graph.Model,
			len(s.placed.Servers), ErrStuck)
	}
	still, moving := s.still, slices.Clone(s.moving)
	s.still = nil
	computing := s.compute(length)
	switch {
	case len(still) > 0:
		for _, dep := range still {
			s.end(dep)
		}
	case len(moving) > 0:
		s.move(moving, length)
		s.result.Transfer += length
	}
	if computing > 0 {
		s.result.Compute += length
	}
	s.result.Time += length
	s.result.Ticks = append(s.result.Ticks, Tick{computing, length})
	return nil
}

// length returns the time to the next event. Transfers within a server take no time.
func (s *step) length() float64 {
	length := math.Inf(1)
	for _, queue := range s.ready {
		if n := len(queue); n > 0 {
			length = min(length, s.left[queue[n-1]])
		}
	}
	if len(s.still) > 0 {
		return min(length, 0)
	}
	s.rates = slices.Grow(s.rates[:0], len(s.moving))[:len(s.moving)]
	s.timing.Network.Rates(s.placed, s.moving, s.rates)
	for k, dep := range s.moving {
		if s.rates[k] > 0 {
			length = min(length, s.work[dep]/s.rates[k])
		}
	}
	return length
}

// compute runs the first operation of each server.
func (s *step) compute(length float64) (computing int) {
	now := s.result.Time
	for slot, queue := range s.ready {
		if len(queue) == 0 {
			continue
		}
		computing++
		op := queue[len(queue)-1]
		s.run(slot, op, now)
		if s.left[op] -= min(length, s.left[op]); s.left[op] == 0 {
			s.ready[slot] = queue[:len(queue)-1]
			s.undone--
			s.run(slot, -1, now+length)
			for _, dep := range s.placed.Parted.Graph.Out[op] {
				s.release(dep)
			}
		}
	}
	return computing
}

// span is an operation with the time since which it runs; -1 means none.
type span struct {
	op    int
	since float64
}

// run lets a server continue with an operation, and reports the operation that it ran before.
func (s *step) run(slot, op int, now float64) {
	was := s.spans[slot]
	if was.op == op {
		return
	}
	if watch := s.timing.Watch.Op; watch != nil && was.op >= 0 {
		watch(was.op, was.since, now)
	}
	s.spans[slot] = span{op, now}
}

// move moves the transfers that were ready when the tick began.
func (s *step) move(moving []int, length float64) {
	all := s.timing.Quirks.Keeps(SharedChannel)
	s.ended = s.ended[:0]
	for k, dep := range moving {
		rate := s.rates[k]
		if all {
			rate = 1
		}
		if rate == 0 {
			continue
		}
		if math.IsNaN(s.begun[dep]) {
			s.begun[dep] = s.result.Time
		}
		if s.work[dep] -= min(length*rate, s.work[dep]); s.work[dep] <= s.rest(dep, rate) {
			s.ended = append(s.ended, dep)
		}
	}
	for _, dep := range s.ended {
		at, _ := slices.BinarySearchFunc(s.moving, s.first[dep], func(d, rank int) int { return rank - s.first[d] })
		s.moving = slices.Delete(s.moving, at, at+1)
		if watch := s.timing.Watch.Dep; watch != nil {
			watch(dep, s.begun[dep], s.result.Time+length)
		}
		s.end(dep)
	}
}

// rest is the remaining work of a transfer that counts as zero: rounding, if rates change during the transfer.
func (s *step) rest(dep int, rate float64) float64 {
	if rate == 1 {
		return 0
	}
	return 1e-12 * s.placed.Work[dep]
}

// end ends a transfer. The operation that it reaches may become ready.
func (s *step) end(dep int) {
	s.undone--
	d := &s.placed.Parted.Graph.Deps[dep]
	if d.Sync && !s.timing.Quirks.Keeps(CountedSync) {
		return
	}
	if s.missed[d.To]--; s.missed[d.To] == 0 {
		s.wake(d.To)
	}
}
