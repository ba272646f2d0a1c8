package operators

import "graft/model"

// Names of the calls around the network's operators. Only tables of devices have their times; in other tables, they
// belong to the rest of a step.
const (
	batching   = "batch"     // selecting the examples of a batch
	converting = "normalize" // converting the bytes of images to the network's input
	losing     = "loss"      // computing the loss in both passes
)

// around reports whether an operator is outside of the network.
func around(name string) bool { return name == batching || name == converting || name == losing }

// losingCall is the index of the call of the loss.
const losingCall = 1

// Number of instructions that convert images, for trees and for graphs.
const (
	treeConversions  = 1
	graphConversions = 4
)

// surround lists the calls around the network's operators. The call of the loss is empty until the shape of the output
// is known.
func (l *lister) surround() {
	n := l.network
	l.calls = append(l.calls, l.around(batching, n.Input), Call{})
	if n.Tokens() {
		return
	}
	convert := l.around(converting, n.Input)
	if l.next = treeConversions; n.Graph != nil {
		l.next = graphConversions
	} else if l.path == Fast && len(n.Input) == 3 {
		convert.Name += channelsLast
	}
	convert.length = l.next
	if convert.sizes[3] = 1; len(n.Input) == 3 { // pixels of an image
		convert.sizes[3] = n.Input[1] * n.Input[2]
	}
	l.calls = append(l.calls, convert)
}

// around returns a call on a batch of examples.
func (l *lister) around(name string, example model.Shape) Call {
	count := l.rows * example.Count()
	return Call{Name: name, Bytes: width * float64(count), Optional: true, sizes: sizes{count, l.rows, example[0]}}
}
