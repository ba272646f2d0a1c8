package trainer

import (
	"graft/model"
)

// Size is what costs depend on: of a network and, where that counts, of one example.
type Size struct {
	Layers     int   // with weights that run
	Operations int64 // floating-point, forward, of linear layers and of convolutions over all channels; a multiply-add is two
	Grouped    int64 // the same of convolutions in groups, such as those of one channel each, which processors do far fewer of in a second
	Bytes      int64 // that the input and what layers make of it take as float32; flattening makes nothing
	Parameters int64 // that an optimizer moves
}

// SizeOf adds up a network's layers.
func SizeOf(n *model.Network) (Size, error) {
	rows, err := n.Sheet()
	if err != nil {
		return Size{}, err
	}
	size := Size{Bytes: 4 * int64(n.Input.Count())}
	for _, r := range rows {
		size.Parameters += int64(r.Parameters)
		if len(r.Leaf.Layer.Slots()) > 0 {
			size.Layers++
		}
		switch layer := r.Leaf.Layer.(type) {
		case model.Flatten:
			continue
		case model.Conv2d:
			if layer.Groups > 1 {
				size.Grouped += r.Operations
			} else {
				size.Operations += r.Operations
			}
		case model.Linear:
			size.Operations += r.Operations
		}
		size.Bytes += r.ActivationBytes
	}
	return size, nil
}
