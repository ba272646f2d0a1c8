package schedulers

import (
	"math"
	"slices"

	"graft/cluster/node"
)

// wfq is weighted fair queueing (Demers, Keshav and Shenker, SIGCOMM 1989; Parekh and Gallager's packet by packet
// generalised processor sharing, 1993). A quantum of a task is a packet of its flow; its length is the requested GPU
// time. The packet that would end first goes first, assuming that all flows are served at once in proportion to their
// weights.
type wfq struct {
	sliced
	flows   map[string]*flow
	tags    map[*node.Task]float64 // virtual end time of a queued task's packet
	virtual float64                // virtual time of the fluid system
	now     float64                // s, time at which virtual was computed
}

// flow is a flow of the fluid system.
type flow struct {
	weight, finish float64 // finish is the virtual end time of its last packet
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

// advance moves the fluid system to a time. Virtual time grows by the capacity divided by the weights of the flows with
// packets.
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
			w.virtual = next // exact, so that the loop ends
		}
		left -= step
	}
	w.now = now
}

// weights sums the weights of flows with packets, smallest first, so that map order does not matter.
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
