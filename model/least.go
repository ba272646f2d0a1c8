package model

// LeastRows returns the minimum number of examples per training batch, and the path of the layer that requires more
// than one example. That layer is the first BatchNorm with one value per channel and example, because the values of a
// single example then have no variance. If a batch of one example is enough, the path is empty.
func (n *Network) LeastRows() (least int, path string, err error) {
	if n.Graph != nil {
		return n.leastGraphRows()
	}
	rows, err := n.Sheet()
	if err != nil {
		return 0, "", err
	}
	for _, r := range rows {
		if _, norm := r.Leaf.Layer.(BatchNorm); norm && positions(r.In) == 1 {
			return 2, r.Path, nil
		}
	}
	return 1, "", nil
}

// positions is the number of values per channel of an example.
func positions(shape Shape) int { return shape[1:].Count() }

func (n *Network) leastGraphRows() (least int, path string, err error) {
	shapes, err := n.Graph.Shapes()
	if err != nil {
		return 0, "", Faults{{Text: err.Error()}}
	}
	for _, node := range n.Graph.Nodes {
		if len(node.Results) == 0 {
			continue
		}
		shape := shapes[node.Results[0]]
		one := len(shape) > 1 && Shape(shape[2:]).Count() == 1
		switch {
		case one && node.Operator == "batch_norm.default":
			return 2, node.Module, nil
		case one && node.Operator == "instance_norm.default":
			return 0, "", Faults{{Path: node.Module,
				Text: "instance normalization of a single value per channel has no variance; remove this layer"}}
		}
	}
	return 1, "", nil
}
