package schedulers

import (
	"math"
	"slices"

	"graft/cluster/node"
)

// wfq is weighted fair queueing (Demers, Keshav and Shenker, SIGCOMM 1989; Parekh and Gallager's packet by
// packet generalised processor sharing, 1993). A quantum of a task is a packet of its flow; its length is
// the GPU time that it asks for. The packet that would end first if all flows were served at once, each in
// proportion to its weight, goes first.
type wfq struct {
	sliced
	flows   map[string]*flow
	tags    map[*node.Task]float64 // virtual time at which the packet of a queued task ends
	virtual float64                // time of the fluid system
	now     float64                // s, at which it was computed
}

// flow is a flow of the fluid system.
type flow struct {
	weight, finish float64 // finish is the virtual time at which its last packet ends
}

func newWFQ(o node.SchedulerOptions) node.Scheduler {
	return &wfq{sliced: sliced{o.Quantum}, flows: map[string]*flow{}, tags: map[*node.Task]float64{}}
}

// Decide implements [node.Scheduler].
func (w *wfq) Decide(m *node.Machine) (d node.Decision) {
	w.advance(m.Now.Seconds(), float64(len(m.Devices)))
	lowest := 0.0
	for _, t := range m.Queue {
		if f := w.tag(t); d.Start == nil || f < lowest {
			if on := least(load)(m, t); on != nil {
				d, lowest = node.Decision{Start: t, On: on}, f
			}
		}
	}
	delete(w.tags, d.Start)
	return d
}

// tag returns the tag of a queued task, and adds its packet to the flow if it is new.
func (w *wfq) tag(t *node.Task) float64 {
	tag, known := w.tags[t]
	if !known {
		length := min(w.quantum, t.Left()).Seconds() * t.Cores / 100
		f := w.flow(t)
		f.finish = max(w.virtual, f.finish) + length/f.weight
		tag = f.finish
		w.tags[t] = tag
	}
	return tag
}

func (w *wfq) flow(t *node.Task) *flow {
	f := w.flows[t.Flow]
	if f == nil {
		f = &flow{weight: t.Weight}
		w.flows[t.Flow] = f
	}
	return f
}

// advance moves the fluid system to a time: the virtual time grows by the capacity over the weights of the
// flows that have packets in it.
func (w *wfq) advance(now, capacity float64) {
	for left := now - w.now; left > 0; {
		weights, next := 0.0, math.Inf(1)
		for _, f := range w.flows {
			if f.finish > w.virtual {
				next = min(next, f.finish)
			}
		}
		if math.IsInf(next, 1) {
			break
		}
		weights = w.weights()
		step := min(left, (next-w.virtual)*weights/capacity)
		if w.virtual += step * capacity / weights; step < left {
			w.virtual = next // exactly, so that the loop ends
		}
		left -= step
	}
	w.now = now
}

// weights sums those of flows with packets, from the smallest, so that the order of the map is of no
// account.
func (w *wfq) weights() float64 {
	var all []float64
	for _, f := range w.flows {
		if f.finish > w.virtual {
			all = append(all, f.weight)
		}
	}
	return sum(all)
}

func sum(values []float64) (total float64) {
	slices.Sort(values)
	for _, v := range values {
		total += v
	}
	return total
}
