package operators

import "graft/model"

// Names of the calls around the network's operators. Only tables of devices have their times; in other tables, they
// belong to the rest of a step.
const (
	batching   = "batch"     // selecting the examples of a batch
	converting = "normalize" // converting the bytes of images to the network's input
	losing     = "loss"      // computing the loss in both passes
)

// Number of instructions that convert images, for trees and for graphs.
const (
	treeConversions  = 1
	graphConversions = 4
)

// surroundings lists the calls around the network's operators, and returns the index of the network's first
// instruction.
func surroundings(n *model.Network, rows int, p Path) (calls []Call, first int, err error) {
	out, err := n.Output()
	if err != nil {
		return nil, 0, err
	}
	call := func(name string, shape model.Shape) Call {
		batch := [][]int{append([]int{rows}, shape...)}
		return Call{Name: name, Bytes: width * values(batch), Optional: true,
			sizes: sizes{int(values(batch)), rows, shape[0]}}
	}
	calls = []Call{call(batching, n.Input), call(losing, out)}
	if n.Tokens() {
		return calls, 0, nil
	}
	convert := call(converting, n.Input)
	if first = treeConversions; n.Graph != nil {
		first = graphConversions
	} else if p == Fast && len(n.Input) == 3 {
		convert.Name += channelsLast
	}
	convert.length = first
	if convert.sizes[3] = 1; len(n.Input) == 3 { // pixels of an image
		convert.sizes[3] = n.Input[1] * n.Input[2]
	}
	return append(calls, convert), first, nil
}
