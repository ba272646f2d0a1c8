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

	layers  []listed                   // of trees: the layers of the last calls
	readers []readers                  // of trees, by value
	updated map[*model.Leaf][]int      // of trees: the sizes of the layers' parameters
	values  map[graph.Value]graphValue // of graphs
	names   map[string]bool            // names of the calls

	batches map[layerAt]*layerCall // layers of trees that were listed before
	joined  map[[2]string]string   // names that were joined before
	shapes  [][]int                // memory of lists of shapes
}

// newLister creates a lister for steps that run on a path.
func newLister(p Path) *lister {
	return &lister{path: p, updated: map[*model.Leaf][]int{}, values: map[graph.Value]graphValue{},
		names: map[string]bool{}, batches: map[layerAt]*layerCall{},
		joined: map[[2]string]string{}}
}

// list lists the calls around the network's operators, the forward pass, and the optimizer's updates. The next call of
// list overwrites the calls.
func (l *lister) list(n *model.Network, rows int) ([]Call, error) {
	l.network, l.rows, l.next = n, rows, 0
	l.calls, l.layers = l.calls[:0], l.layers[:0]
	l.readers = append(l.readers[:0], readers{}) // of the input
	clear(l.updated)
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
			c.Name = l.join(c.Name, ofInput)
		case c.still:
			c.Name = l.join(c.Name, withoutGradient)
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
		all, known := l.updated[leaf]
		if !known {
			all = updatesOf(leaf.Layer.Slots())
		}
		for _, size := range all {
			l.calls = append(l.calls, l.path.updateOf(size))
		}
	}
}

// updatesOf returns the sizes of the parameters among the tensors of a layer.
func updatesOf(slots []model.Slot) (all []int) {
	for k := range slots {
		if s := &slots[k]; s.Role.Trained() && s.Tied == "" {
			all = append(all, s.Count())
		}
	}
	return all
}

// batch returns the shape of a batch of examples.
func (l *lister) batch(example model.Shape) []int {
	return append(append(make([]int, 0, 1+len(example)), l.rows), example...)
}

// join returns a name with an ending. It builds each name once.
func (l *lister) join(name, ending string) string {
	if ending == "" {
		return name
	}
	at := [2]string{name, ending}
	both, known := l.joined[at]
	if !known {
		both = name + ending
		l.joined[at] = both
	}
	return both
}
