package operators

import (
	"slices"
	"time"

	"graft/internal/stat"
	"graft/trainer/costs/kineto"
)

// segments holds the times of a step's outermost operators.
type segments struct {
	of        map[int]part // by operator
	rest      part         // times between the passes
	optimizer float64      // seconds of the optimizer outside of operators
}

// segments divides a step. The time between two operators belongs to the second one, except the time before a pass.
func (m *timer) segments(s *step, forward, back, update []int) *segments {
	seg := &segments{of: map[int]part{}}
	starts := map[int]bool{}
	for _, pass := range [][]int{forward, back, update} {
		if len(pass) > 0 {
			starts[pass[0]] = true
		}
	}
	stepped := s.notes(optimizing)
	at := s.from
	for _, k := range s.calls {
		o := &s.trace.Operators[k]
		p := m.inside[k]
		begin, end := max(at, o.Start), max(at, o.End())
		if p.host = s.busy(begin, end); starts[k] {
			seg.rest.host += s.busy(at, begin)
		} else {
			p.host += s.busy(at, begin)
		}
		seg.of[k], at = p, end
	}
	seg.rest.host += s.busy(at, s.to)
	for _, n := range s.notes(clearing) {
		seg.optimizer += n.Length.Seconds()
	}
	for _, n := range stepped {
		if i := slices.IndexFunc(update, func(k int) bool { return s.trace.Operators[k].Start >= n.Start }); i >= 0 {
			seg.optimizer += (s.trace.Operators[update[i]].Start - n.Start).Seconds()
		}
	}
	seg.optimizer = min(seg.optimizer, seg.rest.host)
	seg.rest.host -= seg.optimizer
	for _, k := range s.calls {
		if !slices.Contains(forward, k) && !slices.Contains(back, k) && !slices.Contains(update, k) {
			seg.rest.add(seg.of[k])
		}
	}
	return seg
}

// busy returns the seconds of a period in which the host did not wait for the device.
func (s *step) busy(from, to time.Duration) float64 {
	work := to - from
	syncs := s.trace.Syncs
	k, _ := slices.BinarySearchFunc(syncs, from, func(n kineto.Span, at time.Duration) int {
		if n.End() <= at {
			return -1
		}
		return 1
	})
	for ; k < len(syncs) && syncs[k].Start < to; k++ {
		work -= max(0, min(to, syncs[k].End())-max(from, syncs[k].Start))
	}
	return max(0, work).Seconds()
}

// updates adds the samples of the optimizer. An operator on one parameter belongs to the parameters of its size. The
// time of an operator on lists of tensors is divided in proportion to their sizes.
func (m *timer) updates(s *step, update []int, seg *segments) {
	counts, all := map[int]int{}, 0
	for k := range m.calls {
		if c := &m.calls[k]; c.Name == Updating {
			counts[int(c.Bytes)/width]++
			all++
		}
	}
	sums := map[int]*part{}
	for size := range counts {
		sums[size] = &part{}
	}
	for _, k := range update {
		shapes := s.trace.Operators[k].Shapes
		if len(shapes) <= 3 { // the operands of an operator on one parameter have its shape
			shapes = shapes[:min(1, len(shapes))]
		}
		known := slices.DeleteFunc(slices.Clone(shapes),
			func(shape []int) bool { return counts[int(values([][]int{shape}))] == 0 })
		p, whole := seg.of[k], values(known)
		if whole == 0 {
			seg.rest.add(p)
		}
		for _, shape := range known {
			size := values([][]int{shape})
			share := size / whole
			sums[int(size)].add(part{p.host * share, p.device * share, p.events * share})
		}
	}
	for size, sum := range sums {
		n := float64(counts[size])
		u := Program.updateOf(size)
		at := sample{u.same(), false}
		m.samples[at] = append(m.samples[at], part{sum.host/n + seg.optimizer/float64(all), sum.device / n,
			sum.events / n})
	}
}

// middle returns the medians of samples.
func middle(samples []part) part {
	pick := func(of func(part) float64) float64 {
		list := make([]float64, len(samples))
		for k := range samples {
			list[k] = of(samples[k])
		}
		slices.Sort(list)
		return stat.Quantile(list, 0.25)
	}
	return part{pick(func(p part) float64 { return p.host }), pick(func(p part) float64 { return p.device }),
		pick(func(p part) float64 { return p.events })}
}
