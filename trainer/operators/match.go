package operators

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"graft/trainer/costs/kineto"
)

// step is a training step of a trace.
type step struct {
	trace    *kineto.Trace
	from, to time.Duration
	calls    []int // outermost operators, in the order of start times
}

// marked begins the name of a note around a step, which the profiler's schedule writes.
const marked = "ProfilerStep"

// optimizing begins the name of a note around a step of the optimizer.
const optimizing = "Optimizer.step"

// clearing begins the name of a note around the optimizer's removal of gradients.
const clearing = "Optimizer.zero_grad"

// backward begins the names of operators that run a node of autograd.
const backward = "autograd::engine::evaluate_function"

// accumulating is in the name of the nodes that store the gradient of a parameter.
const accumulating = "AccumulateGrad"

// stepsOf divides a trace into steps.
func stepsOf(t *kineto.Trace) ([]step, error) {
	var steps []step
	optimizers := 0
	first, last := t.Operators[0].Start, t.Operators[0].End()
	for k := range t.Operators {
		first, last = min(first, t.Operators[k].Start), max(last, t.Operators[k].End())
	}
	for k := range t.Notes {
		n := &t.Notes[k]
		switch {
		case strings.HasPrefix(n.Name, marked):
			steps = append(steps, step{trace: t, from: n.Start, to: n.End()})
		case strings.HasPrefix(n.Name, optimizing):
			optimizers++
			first, last = min(first, n.Start), max(last, n.End())
		}
	}
	if len(steps) == 0 {
		if optimizers > 1 {
			return nil, fmt.Errorf("the trace has %d optimizer steps and no step markers; "+
				"call the profiler's step() after each step, or record a single step", optimizers)
		}
		steps = []step{{trace: t, from: first, to: last}}
	}
	return steps, divide(steps)
}

// mostSteps limits the steps of a trace.
const mostSteps = 10000

// divide gives each step its outermost operators.
func divide(steps []step) error {
	if len(steps) > mostSteps {
		return fmt.Errorf("the trace has %d steps; the maximum is %d; record fewer steps", len(steps), mostSteps)
	}
	t := steps[0].trace
	for k := range steps[1:] {
		if steps[k+1].from < steps[k].to {
			return fmt.Errorf("steps %d and %d overlap; export the trace again", k+1, k+2)
		}
	}
	for k := range t.Operators {
		o := &t.Operators[k]
		if o.Parent >= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(steps, o.Start, func(s step, at time.Duration) int {
			if s.to <= at {
				return -1
			}
			return 1
		})
		if at < len(steps) && o.Start >= steps[at].from {
			steps[at].calls = append(steps[at].calls, k)
		}
	}
	for k := range steps {
		slices.SortStableFunc(steps[k].calls, func(a, b int) int {
			return int(min(1, max(-1, t.Operators[a].Start-t.Operators[b].Start)))
		})
	}
	return nil
}

// notes returns the notes of a step whose names begin with a prefix.
func (s *step) notes(prefix string) (found []*kineto.Span) {
	for k := range s.trace.Notes {
		n := &s.trace.Notes[k]
		if n.Start >= s.from && n.Start < s.to && strings.HasPrefix(n.Name, prefix) {
			found = append(found, n)
		}
	}
	return found
}

// phases divides the outermost operators of a step. Operators of the optimizer, and operators between the backward pass
// and the optimizer, are not forward operators.
func (s *step) phases() (forward, back, update []int) {
	optimizer := s.notes(optimizing)
	for _, k := range s.calls {
		o := &s.trace.Operators[k]
		within := func(n *kineto.Span) bool { return o.Start >= n.Start && o.Start < n.End() }
		switch {
		case slices.ContainsFunc(optimizer, within):
			update = append(update, k)
		case strings.HasPrefix(o.Name, backward):
			back = append(back, k)
		case len(back) == 0:
			forward = append(forward, k)
		}
	}
	return forward, back, update
}

// plainName returns the name of an operator without prefix and without the mark of operators that change their input.
func plainName(o *kineto.Operator) string {
	name := strings.TrimPrefix(o.Name, "aten::")
	if trimmed := strings.TrimRight(name, "_"); trimmed != "" {
		return trimmed
	}
	return name
}

// key identifies calls in a trace.
type key struct{ name, shapes string }

func (c *Call) key() key { return key{base(c.Name), c.Shapes} }

// same identifies calls that take equal time: strides and paddings change the work, but not the shapes of the inputs.
type same struct {
	name, shapes      string
	operations, bytes float64
	sizes             sizes // of graft's own calls, which have no shapes
}

// ownSizes returns the sizes of a call of graft's own steps.
func (c *Call) ownSizes() sizes {
	if c.sizes[footprint] == 0 {
		return sizes{}
	}
	return c.sizes
}

func (c *Call) same() same { return same{c.Name, c.Shapes, c.Operations, c.Bytes, c.ownSizes()} }

// matched maps outermost operators of a step to calls, by their index in the list of calls.
type matched map[int]int

// match finds the operator of each call. Calls of the same name and shapes are matched in order; other calls may be in
// any order, so a program may compute branches in another order than the network.
func (s *step) match(calls []Call, forward []int) (matched, error) {
	open, names := map[key][]int{}, map[string][]int{}
	for k := range calls {
		if calls[k].Name != Updating {
			at := calls[k].key()
			open[at] = append(open[at], k)
			names[at.name] = append(names[at.name], k)
		}
	}
	found, taken := matched{}, make([]bool, len(calls))
	for _, k := range forward {
		o := &s.trace.Operators[k]
		at := key{plainName(o), shapesText(o.Shapes)}
		list := open[at]
		if len(o.Shapes) == 0 { // versions of PyTorch that do not record the shapes in lists
			list = names[at.name]
		}
		if i := slices.IndexFunc(list, func(k int) bool { return !taken[k] }); i >= 0 {
			found[k], taken[list[i]] = list[i], true
		}
	}
	for k := range calls {
		if c := &calls[k]; !taken[k] && !c.Optional && c.Name != Updating {
			return found, s.missing(c, forward)
		}
	}
	return found, s.extra(found)
}

// extra returns an error if the step has products or convolutions that the network lacks: the trace is of another
// network, or the step runs the network several times.
func (s *step) extra(found matched) error {
	optimizer := s.notes(optimizing)
	for _, k := range s.calls {
		o := &s.trace.Operators[k]
		within := func(n *kineto.Span) bool { return o.Start >= n.Start && o.Start < n.End() }
		_, hit := found[k]
		if _, heavy := operationRate(plainName(o)); heavy && !hit && !slices.ContainsFunc(optimizer, within) {
			return fmt.Errorf("event %d, %s with shapes %s, is not in the network; check that the trace is of this "+
				"network, and record steps with a single forward pass", o.Event, o.Name, shapesText(o.Shapes))
		}
	}
	return nil
}

// missing describes a call that the trace lacks.
func (s *step) missing(c *Call, forward []int) error {
	place := c.Place
	if place != "" {
		place = " of module " + place
	}
	closest := "no " + c.key().name
	for _, k := range forward {
		if o := &s.trace.Operators[k]; plainName(o) == c.key().name {
			closest = fmt.Sprintf("%s of shapes %s in event %d", o.Name, shapesText(o.Shapes), o.Event)
			break
		}
	}
	return fmt.Errorf("the step at event %d has too few calls of %s%s with shapes %s; instead, it has %s; check that "+
		"the trace is of this network, and record it in training mode", s.firstEvent(), c.key().name, place,
		c.Shapes, closest)
}

func (s *step) firstEvent() int {
	if len(s.calls) == 0 {
		return 0
	}
	return s.trace.Operators[s.calls[0]].Event
}
