package operators

import (
	"fmt"

	"graft/model"
	"graft/model/graph"
)

// lister lists the operators of a network's training step. It can list one network after another, and then uses the
// same memory again.
type lister struct {
	path    Path
	network *model.Network
	rows    int
	calls   []Call
	next    int   // index of graft's next instruction
	output  []int // shape of the network's output on the batch

	layers   []listed                     // of trees: the layers of the last calls
	readers  []readers                    // of trees, by value
	slots    map[*model.Leaf][]model.Slot // of trees: the tensors of the layers
	flows    map[graph.Value]bool         // of graphs: the values with a gradient
	permuted map[graph.Value]bool         // of graphs: the values with permuted dimensions
	names    map[string]bool              // names of the calls

	sizes  []int   // memory of shapes
	shapes [][]int // memory of lists of shapes
}

// newLister creates a lister for steps that run on a path.
func newLister(p Path) *lister {
	return &lister{path: p, slots: map[*model.Leaf][]model.Slot{}, flows: map[graph.Value]bool{},
		permuted: map[graph.Value]bool{}, names: map[string]bool{}}
}

// list lists the calls around the network's operators, the forward pass, and the optimizer's updates. The next call of
// list overwrites the calls.
func (l *lister) list(n *model.Network, rows int) ([]Call, error) {
	l.network, l.rows, l.next = n, rows, 0
	l.calls, l.layers, l.sizes, l.shapes = l.calls[:0], l.layers[:0], l.sizes[:0], l.shapes[:0]
	l.readers = append(l.readers[:0], readers{}) // of the input
	clear(l.slots)
	clear(l.flows)
	clear(l.permuted)
	if err := l.all(); err != nil {
		return nil, fmt.Errorf("list the operators of %s: %w", n.Name(), err)
	}
	return l.calls, nil
}

func (l *lister) all() (err error) {
	if l.path != Program {
		l.surround()
	}
	if l.network.Graph != nil {
		err = l.graph()
	} else {
		err = l.tree()
	}
	if err != nil {
		return err
	}
	l.updates()
	if l.path == Program {
		return nil
	}
	l.calls[losingCall] = l.around(losing, l.output[1:])
	for k := range l.calls {
		switch c := &l.calls[k]; {
		case c.leads:
			c.Name += ofInput
		case c.still:
			c.Name += withoutGradient
		}
	}
	size, different := footprintOf(l.calls), l.kinds()
	for k := range l.calls {
		c := &l.calls[k]
		c.sizes[footprint], c.sizes[kinds] = size, different
	}
	return nil
}

// kinds returns the number of different operators of the step.
func (l *lister) kinds() int {
	clear(l.names)
	for k := range l.calls {
		l.names[l.calls[k].Name] = true
	}
	return len(l.names)
}

// updates lists the optimizer's work.
func (l *lister) updates() {
	for _, leaf := range l.network.Leaves() {
		slots, known := l.slots[leaf]
		if !known {
			slots = leaf.Layer.Slots()
		}
		for k := range slots {
			if s := &slots[k]; s.Role.Trained() && s.Tied == "" {
				l.calls = append(l.calls, l.path.updateOf(s.Count()))
			}
		}
	}
}

// batch returns the shape of a batch of examples.
func (l *lister) batch(example model.Shape) []int {
	from := len(l.sizes)
	l.sizes = append(append(l.sizes, l.rows), example...)
	return l.sizes[from:len(l.sizes):len(l.sizes)]
}
