package model

import (
	"fmt"
	"strings"

	"graft/model/graph"
	"graft/torch"
	"graft/torch/weights"
)

// Held is a layer that represents a module of a graph. It holds the module's tensors and printed text. The graph, not
// the layer, runs the operators.
type Held struct {
	Class, Extra string
	Print        string // printed text of a module whose class defines it; usually empty
	Tensors      []Slot
}

// String returns the layer as PyTorch prints it.
func (h Held) String() string {
	if h.Print != "" {
		return h.Print
	}
	return h.Class + "(" + h.Extra + ")"
}

// Slots returns the module's own tensors.
func (h Held) Slots() []Slot { return h.Tensors }

// Infer returns an error, because only the graph can infer shapes.
func (h Held) Infer(Shape) (Shape, error) { return nil, fmt.Errorf("%s: %w", h.Class, errGraph) }

// Operations returns zero, because the graph counts the operations.
func (Held) Operations(_, _ Shape) int64 { return 0 }

// Channels reports that the channels stay the same.
func (Held) Channels() Channels { return Channels{} }

// Emit returns its input, because the graph is compiled as a whole.
func (Held) Emit(_ *torch.Builder, x torch.Value, _ []*torch.Tensor) torch.Value { return x }

var errGraph = fmt.Errorf("the network is a graph; its layers cannot run separately")

// own is the name of a leaf with the tensors of a module that also has parts. It does not appear in paths.
const own = ""

// treeOf makes the tree of a graph's modules, with their tensors. It is for people; its flow does not run.
func treeOf(g *graph.Graph) *Container {
	parents := map[string]bool{"": true}
	for _, m := range g.Modules[1:] {
		parents[parentPath(m.Path)] = true
	}
	slots := slotsOf(g)
	root := &Container{Class: g.Modules[0].Class}
	containers := map[string]*Container{"": root}
	hold := func(c *Container, path string) {
		if len(slots[path]) > 0 {
			c.Children = append(c.Children, Child{own, &Leaf{Layer: Held{Class: c.Class, Tensors: slots[path]}}})
		}
	}
	hold(root, "")
	for _, m := range g.Modules[1:] {
		var part Module
		if parents[m.Path] {
			c := &Container{Class: m.Class}
			containers[m.Path] = c
			hold(c, m.Path)
			part = c
		} else {
			part = &Leaf{Layer: Held{Class: m.Class, Extra: m.Extra, Print: m.Print, Tensors: slots[m.Path]}}
		}
		parent := containers[parentPath(m.Path)]
		parent.Children = append(parent.Children,
			Child{m.Path[len(parentPath(m.Path)):][min(1, len(parentPath(m.Path))):], part})
	}
	return root
}

func parentPath(path string) string { return path[:max(strings.LastIndexByte(path, '.'), 0)] }

// slotsOf returns the slots of each module. A tensor belongs to the deepest module whose path is a prefix of its name.
func slotsOf(g *graph.Graph) map[string][]Slot {
	known := map[string]bool{}
	for _, m := range g.Modules {
		known[m.Path] = true
	}
	slots := map[string][]Slot{}
	for _, t := range g.Tensors {
		path := parentPath(t.Name)
		for !known[path] {
			path = parentPath(path)
		}
		name := strings.TrimPrefix(t.Name[len(path):], ".")
		s := Slot{Name: name, Role: Weight, Shape: t.Shape, Axes: make([]Axis, len(t.Shape)), Tied: t.Tied,
			Type: tensorType(t.DType)}
		if t.Role != graph.Parameter {
			s.Role = Kept
		}
		if t.Role == graph.Constant {
			s.Role = Constant
		}
		slots[path] = append(slots[path], s)
	}
	return slots
}

// tensorType is the type of tensors in weight files.
func tensorType(d weights.DType) torch.DType {
	t, _ := torch.TypeOf(d)
	return t
}
