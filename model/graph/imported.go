package graph

import (
	"slices"
	"strings"

	"graft/torch/weights"
)

// Imported is a network that was read from another program's file.
type Imported struct {
	Graph   *Graph
	Weights *weights.Set
	Notes   []string // facts that the file lacks, and changes that graft made
}

// DropSizes removes nodes that compute tensor sizes if nothing reads their results.
func (g *Graph) DropSizes() {
	read := map[Value]bool{}
	for _, v := range g.Outputs() {
		read[v] = true
	}
	kept := make([]Node, 0, len(g.Nodes))
	for k := len(g.Nodes) - 1; k >= 0; k-- {
		n := g.Nodes[k]
		sizes := strings.HasPrefix(n.Operator, "operator.") || n.Operator == "sym_size.int"
		if sizes && !slices.ContainsFunc(n.Results, func(v Value) bool { return read[v] }) {
			continue
		}
		n.Reads(func(v any) {
			if value, ok := v.(Value); ok {
				read[value] = true
			}
		})
		kept = append(kept, n)
	}
	slices.Reverse(kept)
	g.Nodes = kept
}
