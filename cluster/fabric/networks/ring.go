package networks

import (
	"errors"
	"fmt"
	"sync"

	"graft/cluster/fabric"
	"graft/internal/validate"
	"graft/model"
	"graft/trainer/clock"
)

// RingOptions determines the step times of a network that trains data-parallel.
type RingOptions struct {
	Batch   int            // examples per step, which the devices share
	Profile *clock.Profile // device profile; its exchanges are exchanges within a node
	Tree    *fabric.Tree   // network between the nodes
	PerNode int            // devices per node
	Devices int            // requested number of devices, on which the rate is 1
}

// Ring returns the step times of a network that trains data-parallel. Each device computes its share of the batch, and
// then all devices add their gradients. Over several nodes, a ring passes every message over the links of each node
// (2(n-1)/n of its size for n devices; Patarasuk and Yuan, JPDC 2009), or takes the time that the profile has for this
// number of devices, whichever is longer.
func Ring(n *model.Network, o RingOptions) (fabric.Ring, error) {
	var f validate.Faults
	f.Unless(o.Batch >= 1 && o.Batch <= clock.MostRows, "batch is %d; must be from 1 to %d", o.Batch, clock.MostRows)
	f.Unless(o.PerNode >= 1 && o.Devices >= 1, "a job requests %d devices on nodes of %d; both must be at least 1",
		o.Devices, o.PerNode)
	if err := errors.Join(f...); err != nil {
		return fabric.Ring{}, err
	}
	t := &ringTimes{network: n, options: o, messages: clock.Messages(n), known: map[[2]int]fabric.RingStep{}}
	if err := o.Profile.Knows(t.work(1)); err != nil {
		return fabric.Ring{}, fmt.Errorf("step times of %s: %w", n.Name(), err)
	}
	ring := fabric.Ring{Step: t.step}
	for left := o.Devices; left > 0; left -= o.PerNode {
		ring.Asked = append(ring.Asked, min(left, o.PerNode))
	}
	return ring, nil
}

// ringTimes computes step times, and remembers them by the numbers of devices and of nodes. It is safe for concurrent
// use.
type ringTimes struct {
	network  *model.Network
	options  RingOptions
	messages []int64 // sizes of the exchanged tensors, in bytes
	mutex    sync.Mutex
	known    map[[2]int]fabric.RingStep
}

func (t *ringTimes) work(devices int) clock.Work {
	return clock.Work{Kind: clock.Steps, Count: 1, Rows: t.options.Batch, Network: t.network, Devices: devices}
}

func (t *ringTimes) step(placement []int) (fabric.RingStep, error) {
	devices, nodes := 0, len(placement)
	for _, n := range placement {
		devices += n
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	at := [2]int{devices, nodes}
	made, known := t.known[at]
	if !known {
		w := t.work(devices)
		if err := t.options.Profile.Knows(w); err != nil {
			return fabric.RingStep{}, fmt.Errorf("step time of %s on %d devices: %w", t.network.Name(), devices, err)
		}
		made = fabric.RingStep{Time: t.options.Profile.Cost(w).Seconds(),
			Exchange: t.options.Profile.ExchangeSeconds(w), Transfer: t.between(devices, nodes)}
		if more := made.Transfer - made.Exchange; more > 0 {
			made.Time, made.Exchange = made.Time+more, made.Transfer
		}
		t.known[at] = made
	}
	return made, nil
}

// between returns the time of the exchanges of a step in a ring over the links of nodes; zero for one node.
func (t *ringTimes) between(devices, nodes int) (seconds float64) {
	if nodes <= 1 {
		return 0
	}
	n, tree := float64(devices), t.options.Tree
	for _, bytes := range t.messages {
		seconds += 2*(n-1)/n*float64(bytes)/tree.Bandwidth + 2*float64(nodes-1)*tree.Latency
	}
	return seconds
}
