package model

import (
	"fmt"
	"slices"
	"strings"

	"graft/model/graph"
	"graft/torch"
)

// Network is a tree of modules. It also stores the shape of one input example. Its tensors belong to the
// scope passed to Materialize. The zero Network has no tree and is not valid.
type Network struct {
	Root  *Container
	Input Shape
	// Graph holds the operators of a network that runs as a graph, such as an imported network or a transformer. The
	// tree then contains the graph's modules and tensors, and the tree's flow does not run. Graph is nil for all other
	// networks, which run the flow of their tree.
	Graph *graph.Graph

	scope  *torch.Scope
	device torch.Device
	dtype  torch.DType
}

// Name returns the class name that PyTorch prints for the network.
func (n *Network) Name() string { return ClassName(n.Root) }

// String returns the network as PyTorch prints it.
func (n *Network) String() string {
	if n.Graph != nil {
		return n.Graph.String()
	}
	var b strings.Builder
	printModule(&b, n.Root, 0)
	return b.String()
}

// ClassName returns the class name that PyTorch prints for a container.
func ClassName(c *Container) string {
	switch {
	case c.Class != "":
		return c.Class
	case c.Mark != Unmarked:
		return "Block"
	default:
		return [...]string{"Sequential", "Residual", "Concatenation"}[c.Flow.Join]
	}
}

func printModule(b *strings.Builder, m Module, depth int) {
	c, ok := m.(*Container)
	if !ok {
		b.WriteString(m.(*Leaf).Layer.String())
		return
	}
	b.WriteString(ClassName(c) + "(")
	for _, child := range c.Children {
		fmt.Fprintf(b, "\n%s(%s): ", strings.Repeat("  ", depth+1), child.Name)
		printModule(b, child.Module, depth+1)
	}
	if len(c.Children) > 0 {
		b.WriteString("\n" + strings.Repeat("  ", depth))
	}
	b.WriteString(")")
}

// Walk visits all modules in PyTorch's order, parents before children. The root has the empty path. If the function
// visit returns false, the children of the module are skipped.
func (n *Network) Walk(visit func(path string, m Module) bool) { walk("", n.Root, visit) }

func walk(path string, m Module, visit func(string, Module) bool) {
	if !visit(path, m) {
		return
	}
	if c, ok := m.(*Container); ok {
		for _, child := range c.Children {
			walk(childPath(path, child.Name), child.Module, visit)
		}
	}
}

// Leaves returns the layers in PyTorch's order of registration.
func (n *Network) Leaves() []*Leaf {
	return n.Root.leaves(nil)
}

// leaves appends the layers of a container to a list.
func (c *Container) leaves(list []*Leaf) []*Leaf {
	for _, child := range c.Children {
		switch m := child.Module.(type) {
		case *Leaf:
			list = append(list, m)
		case *Container:
			list = m.leaves(list)
		}
	}
	return list
}

// Find returns the module at a path, its parent, and its name in the parent. The root has no parent. All results are
// nil if the path does not exist.
func (n *Network) Find(path string) (m Module, parent *Container, name string) {
	if path == "" {
		return n.Root, nil, ""
	}
	m = n.Root
	for part := range strings.SplitSeq(path, ".") {
		c, ok := m.(*Container)
		if !ok {
			return nil, nil, ""
		}
		if m = c.Child(part); m == nil {
			return nil, nil, ""
		}
		parent, name = c, part
	}
	return m, parent, name
}

// Sketch copies the tree. The leaves share the network's tensors. Changes to one tree do not affect the other tree.
func (n *Network) Sketch() *Network {
	twin := *n
	twin.Root = n.Root.copy(func(t *torch.Tensor) *torch.Tensor { return t }).(*Container)
	return &twin
}

// Bare copies the network without its tensors, for cheap surgery.
func (n *Network) Bare() *Network {
	twin := &Network{Root: n.Sketch().Root, Input: n.Input, Graph: n.Graph}
	for _, leaf := range twin.Leaves() {
		leaf.Weights = nil
	}
	return twin
}

// Clone copies the network with its tensors. The scope owns the copies.
func (n *Network) Clone(s *torch.Scope) (*Network, error) {
	twin := *n
	twin.scope = s
	known := map[*torch.Tensor]*torch.Tensor{} // tied tensors stay tied
	twin.Root = n.Root.copy(func(t *torch.Tensor) *torch.Tensor {
		if twin := known[t]; twin != nil {
			return twin
		}
		copied := s.Detach(s.Clone(t))
		if info, err := t.Info(); err == nil && info.RequiresGrad {
			s.RequireGrad(copied, true)
		}
		known[t] = copied
		return copied
	}).(*Container)
	return &twin, s.Err()
}

// check finds faults of a tree other than shapes: duplicate names of children, flows with unknown names, and layers
// with weights that run twice or never.
func (n *Network) check() []Fault {
	var faults []Fault
	if n.Graph != nil {
		if err := n.Graph.Check(); err != nil {
			faults = append(faults, Fault{Text: err.Error()})
		}
		return faults
	}
	n.Walk(func(path string, m Module) bool {
		if c, ok := m.(*Container); ok {
			faults = append(faults, checkContainer(path, c)...)
		}
		return true
	})
	return faults
}

func checkContainer(path string, c *Container) []Fault {
	var faults []Fault
	bad := func(format string, args ...any) {
		faults = append(faults, Fault{Path: path, Text: fmt.Sprintf(format, args...)})
	}
	for k, child := range c.Children {
		if child.Name == "" || strings.ContainsAny(child.Name, ". \t\n") {
			bad("part name %q must not be empty or contain dots or spaces", child.Name)
		}
		if steps[child.Name] != nil {
			bad("part name %q is reserved in a flow for a step without a name", child.Name)
		}
		if c.index(child.Name) != k {
			bad("duplicate part name %q", child.Name)
		}
		if uses := c.Uses(child.Name); uses == 0 {
			bad("%q never runs; add it to the execution order", child.Name)
		} else if uses > 1 && hasWeights(child.Module) {
			bad("%q runs %d times, but only layers without weights may run more than once", child.Name, uses)
		}
	}
	for _, list := range [][]string{c.Flow.Body, c.Flow.Shortcut, c.Flow.Then} {
		for _, name := range list {
			if c.index(name) < 0 && steps[name] == nil {
				bad("the execution order contains %q, which is not a child module", name)
			}
		}
	}
	if c.Flow.Shortcut != nil && c.Flow.Join != Sum {
		bad("only a residual can have a shortcut")
	}
	return faults
}

func hasWeights(m Module) bool {
	switch m := m.(type) {
	case *Leaf:
		return len(m.Layer.Slots()) > 0
	case *Container:
		return slices.ContainsFunc(m.Children, func(c Child) bool { return hasWeights(c.Module) })
	}
	return false
}

// Fault describes an error in a network.
type Fault struct {
	Path string // path of the part, as in a state dict; empty for the whole network
	Text string
}

// Faults lists all errors in a network. Faults is never empty when it is returned as an error.
type Faults []Fault

// Error lists the errors, one per line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for k, fault := range f {
		lines[k] = pathText(fault.Path) + ": " + fault.Text
	}
	return strings.Join(lines, "\n")
}

// Check returns all errors in the network: parts that cannot run and shapes that do not fit.
func (n *Network) Check() error {
	if faults := n.check(); len(faults) > 0 {
		return Faults(faults)
	}
	_, err := n.Sheet()
	return err
}
