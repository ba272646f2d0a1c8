package operators

import "graft/model"

// lister lists the operators of a network's training step.
type lister struct {
	path    Path
	network *model.Network
	rows    int
	calls   []Call
	next    int // index of graft's next instruction
	output  []int

	// for trees:
	layers  []listed                     // layers of the last calls
	readers []readers                    // by value
	slots   map[*model.Leaf][]model.Slot // tensors of the layers
	// memory of shapes and of lists of shapes
	sizes  []int
	shapes [][]int
}

// list lists the calls around the network's operators, the forward pass, and the optimizer's updates.
func (l *lister) list() (err error) {
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
	size := footprintOf(l.calls)
	for k := range l.calls {
		c := &l.calls[k]
		if c.sizes[footprint] = size; c.leads {
			c.Name += ofInput
		}
	}
	return nil
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
