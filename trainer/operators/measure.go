package operators

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"graft/model"
	"graft/trainer/costs/kineto"
)

// mostRows limits the batch sizes that are tried.
const mostRows = 1 << 16

// mostCandidates limits the number of batch sizes that are tried.
const mostCandidates = 32

// FromTrace matches the operators of a trace to a network and returns their times. If rows is zero, FromTrace finds the
// batch size in the trace. If the trace has several steps, times are medians.
func FromTrace(t *kineto.Trace, n *model.Network, rows int) (*Table, error) {
	if err := launched(t); err != nil {
		return nil, err
	}
	steps, err := stepsOf(t)
	if err != nil {
		return nil, err
	}
	candidates := []int{rows}
	if rows == 0 {
		candidates = batchSizes(&steps[0])
	}
	best, most := error(nil), -1
	for _, rows := range candidates {
		calls, err := Calls(n, rows)
		if err != nil {
			best = errors.Join(best, err)
			continue
		}
		forward, _, _ := steps[0].phases()
		found, err := steps[0].match(calls, forward)
		if err == nil {
			return measure(steps, n, calls, rows)
		}
		if len(found) > most {
			best, most = err, len(found)
		}
	}
	if best == nil {
		best = errors.New("the first step has no forward operators with shapes; " +
			"record whole steps with record_shapes=True")
	}
	return nil, best
}

// mostUnlinked limits the share of the device's time in kernels that no operator launched.
const mostUnlinked = 0.1

// launched returns an error if operators did not launch most kernels.
func launched(t *kineto.Trace) error {
	var all, unlinked time.Duration
	first := -1
	for k := range t.Kernels {
		all += t.Kernels[k].Length
		if t.Kernels[k].Operator < 0 {
			unlinked += t.Kernels[k].Length
			if first < 0 {
				first = t.Kernels[k].Event
			}
		}
	}
	if share := unlinked.Seconds() / max(all.Seconds(), 1e-9); share > mostUnlinked {
		return fmt.Errorf("kernels with %.0f%% of the kernel time, such as event %d, were not launched by an "+
			"operator; record without CUDA graphs, and with ProfilerActivity.CPU and ProfilerActivity.CUDA", 100*share,
			first)
	}
	return nil
}

// batchSizes returns the first sizes of the tensors of a step, each once.
func batchSizes(s *step) (sizes []int) {
	forward, _, _ := s.phases()
	for _, k := range forward {
		for _, shape := range s.trace.Operators[k].Shapes {
			if n := shape[0]; n > 0 && n <= mostRows && !slices.Contains(sizes, n) && len(sizes) < mostCandidates {
				sizes = append(sizes, n)
			}
		}
	}
	return sizes
}

// part is a time of the host, a time of the device, and the number of recorded calls in it.
type part struct{ host, device, events float64 }

func (p *part) add(q part) {
	p.host, p.device, p.events = p.host+q.host, p.device+q.device, p.events+q.events
}

// timer measures the steps of a trace.
type timer struct {
	calls   []Call
	inside  []part            // for each operator of the trace: device time and calls, with the operators inside
	samples map[sample][]part // for each call: its times in each step
	rests   []part            // times of each step that belong to no call
	spans   []float64         // durations of the steps, in seconds
}

// sample identifies the times of calls that take equal time, in a direction.
type sample struct {
	same
	back bool
}

func measure(steps []step, n *model.Network, calls []Call, rows int) (*Table, error) {
	m := &timer{calls: calls, samples: map[sample][]part{}, inside: insides(steps[0].trace)}
	for k := range steps {
		if err := m.step(&steps[k]); err != nil {
			return nil, fmt.Errorf("step %d of %d: %w", k+1, len(steps), err)
		}
	}
	return m.table(n.Name(), rows)
}

// insides sums the kernels and the recorded calls of each operator and the operators inside it.
func insides(t *kineto.Trace) []part {
	sums := make([]part, len(t.Operators))
	for k := len(sums) - 1; k >= 0; k-- {
		o := &t.Operators[k]
		sums[k].add(part{device: o.Device.Seconds(), events: 1})
		if o.Parent >= 0 {
			sums[o.Parent].add(sums[k])
		}
	}
	return sums
}

// step adds the samples of a step.
func (m *timer) step(s *step) error {
	forward, back, update := s.phases()
	switch {
	case len(back) == 0:
		return errors.New("the step has no backward pass; record whole training steps")
	case len(update) == 0:
		return errors.New("the step has no optimizer step (a range named Optimizer.step); record whole " +
			"training steps")
	}
	found, err := s.match(m.calls, forward)
	if err != nil {
		return err
	}
	owners := owned(forward, found)
	nodes := m.nodes(s, forward, owners)
	parts := m.segments(s, forward, back, update)
	sums := map[direction]*part{}
	add := func(call int, back, owned bool, k int) {
		if !owned {
			parts.rest.add(parts.of[k])
			return
		}
		at := direction{call, back}
		if sums[at] == nil {
			sums[at] = &part{}
		}
		sums[at].add(parts.of[k])
	}
	for _, k := range forward {
		call, owns := owners[k]
		add(call, false, owns, k)
	}
	call, owns := 0, false
	for _, k := range back {
		if o := &s.trace.Operators[k]; !strings.Contains(o.Name, accumulating) {
			call, owns = nodes[o.Sequence]
		}
		add(call, true, owns, k)
	}
	for at, sum := range sums {
		of := sample{m.calls[at.call].same(), at.back}
		m.samples[of] = append(m.samples[of], *sum)
	}
	m.updates(s, update, parts)
	m.rests = append(m.rests, parts.rest)
	m.spans = append(m.spans, (s.to - s.from).Seconds())
	return nil
}

// direction is a pass of a call.
type direction struct {
	call int
	back bool
}

// owned returns the call that each forward operator belongs to. Operators that match no call prepare the next call;
// operators before the first and after the last call belong to no call.
func owned(forward []int, found matched) map[int]int {
	owners := map[int]int{}
	first := slices.IndexFunc(forward, func(k int) bool { _, hit := found[k]; return hit })
	if first < 0 {
		return owners
	}
	var waiting []int
	for _, k := range forward[first:] {
		waiting = append(waiting, k)
		if call, hit := found[k]; hit {
			for _, w := range waiting {
				owners[w] = call
			}
			waiting = nil
		}
	}
	return owners
}

// nodes returns the call that made each node of autograd: the call around the last operator with the node's number.
func (m *timer) nodes(s *step, forward []int, owners map[int]int) map[int64]int {
	made, at := map[int64]int{}, map[int64]time.Duration{}
	for _, outer := range forward {
		call, owns := owners[outer]
		if !owns {
			call = -1
		}
		for k := outer; k < len(s.trace.Operators); k++ {
			o := &s.trace.Operators[k]
			if k > outer && o.Parent < 0 {
				break
			}
			if before, seen := at[o.Sequence]; o.Sequence > 0 && (!seen || o.Start >= before) {
				made[o.Sequence], at[o.Sequence] = call, o.Start
			}
		}
	}
	for number, call := range made {
		if call < 0 {
			delete(made, number)
		}
	}
	return made
}
