package kineto

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// mostNested limits the operators inside one another.
const mostNested = 4096

// rounding is the longest time by which an operator may end after the operator around it or after the start of the next
// one: some versions of PyTorch write whole microseconds.
const rounding = time.Microsecond

// trace nests the operators and links kernels to them.
func (p *parser) trace() (*Trace, error) {
	switch {
	case !p.listed:
		return nil, fmt.Errorf("the file has no key traceEvents; %s", foreign)
	case len(p.raw) == 0 && len(p.kernels) > 0:
		return nil, fmt.Errorf("the trace has %d kernels and no operators; record ProfilerActivity.CPU, too",
			len(p.kernels))
	case len(p.raw) == 0:
		return nil, fmt.Errorf("none of %d events is an operator (category cpu_op); %s", p.events, foreign)
	case !p.shaped:
		return nil, errors.New("the operators have no shapes; record the trace with record_shapes=True")
	}
	t := &Trace{Events: p.events, Notes: p.notes, Syncs: p.syncs}
	slices.SortStableFunc(p.raw, func(a, b operator) int {
		return cmp.Or(cmp.Compare(a.Thread, b.Thread), bySpan(&a.Span, &b.Span))
	})
	slices.SortStableFunc(t.Notes, func(a, b Span) int { return bySpan(&a, &b) })
	slices.SortStableFunc(t.Syncs, func(a, b Span) int { return bySpan(&a, &b) })
	for k := range p.raw {
		t.Operators = append(t.Operators, p.raw[k].Operator)
	}
	if err := t.nest(); err != nil {
		return nil, err
	}
	if err := p.link(t); err != nil {
		return nil, err
	}
	return t, p.join(t)
}

// bySpan orders spans so that a span precedes the spans inside it.
func bySpan(a, b *Span) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.Length, a.Length))
}

// nest sets the parents of operators, and their own times.
func (t *Trace) nest() error {
	var around []int
	for k := range t.Operators {
		o := &t.Operators[k]
		for len(around) > 0 && !t.Operators[around[len(around)-1]].holds(&o.Span) {
			around = around[:len(around)-1]
		}
		o.Own = o.Length
		if len(around) > 0 {
			o.Parent = around[len(around)-1]
			parent := &t.Operators[o.Parent]
			if o.End() > parent.End()+rounding {
				return fmt.Errorf("event %d, %s, begins inside event %d, %s, of the same thread and ends after it; "+
					"export the trace again", o.Event, o.Name, parent.Event, parent.Name)
			}
			parent.Own -= o.Length
		}
		if len(around) == mostNested {
			return fmt.Errorf("event %d, %s, is inside %d other operators; the maximum is %d", o.Event, o.Name,
				mostNested, mostNested-1)
		}
		around = append(around, k)
	}
	return nil
}

// holds reports whether another span begins inside a span, and not only by rounding.
func (s *Span) holds(inner *Span) bool {
	end := s.End()
	return inner.Thread == s.Thread && inner.Start < end && (inner.End() <= end || inner.Start < end-rounding)
}

// join pairs the ends of flows. A flow whose forward operator is not in the trace is omitted.
func (p *parser) join(t *Trace) error {
	for _, id := range slices.Sorted(maps.Keys(p.flows)) {
		f := p.flows[id]
		switch {
		case !f.begun || !f.arrived:
			continue
		case f.to.At < f.from.At:
			return fmt.Errorf("flow %d from a forward to a backward operator ends %v before it begins; "+
				"export the trace again", id, f.from.At-f.to.At)
		}
		t.Flows = append(t.Flows, Flow{ID: id, From: f.from, To: f.to})
	}
	return nil
}

// link finds the operator of each kernel: the innermost one around the runtime call, or else the one that the kernel
// names.
func (p *parser) link(t *Trace) error {
	if len(p.kernels) == 0 {
		return nil
	}
	byExternal := map[int64]int{}
	for k := range p.raw {
		byExternal[p.raw[k].external] = k
	}
	delete(byExternal, 0)
	for _, k := range p.kernels {
		at := -1
		if l, known := p.launches[k.correlation]; known && k.correlation != 0 {
			if at = t.innermost(l.thread, l.at); k.Start < l.at {
				return fmt.Errorf("event %d, %s, begins %v before its launch (correlation %d); export the trace again",
					k.Event, k.Name, l.at-k.Start, k.correlation)
			}
		}
		if named, known := byExternal[k.external]; at < 0 && known {
			at = named
		}
		if at >= 0 {
			t.Operators[at].Device += k.Length
		}
		t.Kernels = append(t.Kernels, Kernel{k.Span, at})
	}
	return nil
}

// innermost returns the index of the innermost operator of a thread around a point in time, or -1.
func (t *Trace) innermost(thread int, at time.Duration) int {
	k, _ := slices.BinarySearchFunc(t.Operators, Point{thread, at}, func(o Operator, p Point) int {
		if o.Thread != p.Thread {
			return cmp.Compare(o.Thread, p.Thread)
		}
		if o.Start <= p.At {
			return -1
		}
		return 1
	})
	for k--; k >= 0; k = t.Operators[k].Parent {
		o := &t.Operators[k]
		if o.Thread != thread {
			return -1
		}
		if at < o.End() {
			return k
		}
	}
	return -1
}
