package imports

import (
	"fmt"
	"strings"

	"graft/internal/words"
	"graft/model/graph"
	"graft/net2net/rewrite"
	"graft/report/document"
	"graft/tracing/axes"
)

// Network describes a network that consists of a graph of operators.
type Network struct {
	Name       string      `json:"name"`       // class name in prints
	Input      string      `json:"input"`      // type and sizes of each input; named sizes are variable
	Print      string      `json:"print"`      // network as PyTorch prints it
	Modules    int         `json:"modules"`    // number of modules, including the network itself
	Operators  int         `json:"operators"`  // number of operators
	Parameters int         `json:"parameters"` // number of trained parameters
	Blocks     []string    `json:"blocks"`     // paths of blocks that can be repeated
	Axes       []GraphAxis `json:"axes"`       // axes that can be widened
}

// GraphAxis is a group of tensor dimensions that surgery widens together.
type GraphAxis struct {
	Name    string `json:"name"`    // name for surgery
	Size    int    `json:"size"`    // current size
	Meaning string `json:"meaning"` // description in words
}

// Describe returns the description of a graph. If graft cannot infer the graph's shapes, the description has no blocks
// or axes, but the graph can run and train.
func Describe(g *graph.Graph) *Network {
	n := &Network{Name: g.Name, Input: described(g.Inputs()), Print: g.String(),
		Modules: len(g.Modules), Operators: len(g.Nodes), Parameters: g.Parameters(), Blocks: []string{},
		Axes: []GraphAxis{}}
	read, err := axes.Read(g)
	if err != nil {
		return n
	}
	blocks, _ := rewrite.Blocks(read)
	for _, b := range blocks {
		n.Blocks = append(n.Blocks, b.Path)
	}
	for _, axis := range read.List() {
		name := read.Name(axis)
		if axis.Fixed != "" || name == "" {
			continue
		}
		if _, err := rewrite.Widen(read, axis, 2*axis.Size, rewrite.Options{}); err == nil {
			n.Axes = append(n.Axes, GraphAxis{name, axis.Size, read.Meaning(axis)})
		}
	}
	return n
}

func described(inputs []graph.Input) string {
	var texts []string
	for _, in := range inputs {
		texts = append(texts, fmt.Sprint(in.DType, " ", in.Shape))
	}
	return strings.Join(texts, ", ")
}

// Write writes the description as text.
func (n *Network) Write(p *document.Printer) error {
	p.Line("%s", document.PrintableLines(n.Print))
	p.Line("\nA graph of %s, %s and %s; input: %s", words.Plural(n.Modules, "module"),
		words.Plural(n.Operators, "operator"), words.Plural(n.Parameters, "parameter"), n.Input)
	if len(n.Blocks) > 0 {
		p.Line("blocks, for deepen:BLOCK: %s", document.Printable(strings.Join(n.Blocks, ", ")))
	}
	if len(n.Axes) > 0 {
		t := document.NewTable("axis", "size", "meaning")
		for _, a := range n.Axes {
			t.Add(document.Printable(a.Name), a.Size, document.Printable(a.Meaning))
		}
		p.Line("\nAxes, for widen:AXIS:SIZE:")
		p.Table(t)
	}
	return p.Err
}
