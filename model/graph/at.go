package graph

import "slices"

// At returns a copy of the graph whose example is a batch of rows examples of the given shape. Other sizes with the
// names of changed sizes change too. A nil shape keeps the shape of the examples.
func (g *Graph) At(rows int, shape []int) *Graph {
	at := *g
	if len(g.Input.Shape) == 0 {
		return &at
	}
	named := map[string]int{}
	at.Input.Shape = slices.Clone(g.Input.Shape)
	for k := range at.Input.Shape {
		size := &at.Input.Shape[k]
		if k == 0 {
			size.N = rows
		} else if k <= len(shape) {
			size.N = shape[k-1]
		}
		named[size.Name] = size.N
	}
	at.MoreInputs = slices.Clone(g.MoreInputs)
	for k := range at.MoreInputs {
		sizes := slices.Clone(at.MoreInputs[k].Shape)
		for j, size := range sizes {
			if n, known := named[size.Name]; known && size.Name != "" {
				sizes[j].N = n
			}
		}
		at.MoreInputs[k].Shape = sizes
	}
	return &at
}
