package vocab

import "graft/model"

// LayerKeys are the printed layers in the order of registration: the keys of
// the original's vocabularies.
func LayerKeys(n *model.Network) []string {
	var names []string
	for _, leaf := range n.Leaves() {
		names = append(names, leaf.Layer.String())
	}
	return names
}
