package trainer

import (
	"graft/model"
)

// Size holds the quantities of a network that determine its costs, for one example.
type Size struct {
	Layers     int   // with weights, counted each time they run
	Operations int64 // floating-point, forward, of linear layers and of convolutions over all channels; a multiply-add is two
	Grouped    int64 // the same of grouped convolutions, such as depthwise ones, which processors run far slower
	Bytes      int64 // of the input and the activations as float32, without those of flattening
	Parameters int64 // that an optimizer trains
}

// SizeOf sums the sizes of a network's layers.
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
