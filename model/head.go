package model

import "fmt"

// WithClasses returns the network itself if it has one output per class. Otherwise it returns a copy in which the last
// linear layer is resized; this layer must not have tensors yet.
func (n *Network) WithClasses(classes int) (*Network, error) {
	out, err := n.Output()
	if err != nil {
		return nil, err
	}
	if len(out) == 1 && out[0] == classes {
		return n, nil
	}
	twin := n.Sketch()
	leaves := twin.Leaves()
	for k := len(leaves) - 1; k >= 0 && len(out) == 1; k-- {
		if l, linear := leaves[k].Layer.(Linear); linear && l.Out == out[0] && leaves[k].Weights == nil {
			l.Out = classes
			leaves[k].Layer = l
			break
		}
	}
	if now, err := twin.Output(); err != nil || len(now) != 1 || now[0] != classes {
		return nil, fmt.Errorf("%s outputs %v; expected %d classes, but graft found no final linear layer to resize; "+
			"change the last layers in the network file", n.Name(), out, classes)
	}
	return twin, nil
}
