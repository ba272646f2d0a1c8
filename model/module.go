package model

import (
	"fmt"
	"slices"

	"graft/torch"
)

// Module is a part of a network: a *Leaf or a *Container.
type Module interface {
	copy(weights func(*torch.Tensor) *torch.Tensor) Module
}

// Leaf is a layer with its tensors. The zero Leaf has no layer and cannot be part of a network.
type Leaf struct {
	Layer Layer
	// Weights holds the tensors of Layer.Slots, in that order. It is nil in a network without weights.
	Weights []*torch.Tensor
}

// Mark states whether a container is a block of the initial network, a block that a change of the architecture added,
// or neither.
type Mark int

// Marks of containers. The zero Mark is Unmarked: surgery finds the blocks inside by their layers.
const (
	Unmarked Mark = iota
	Original      // block of the initial network
	Grown         // block that surgery added
)

// String returns the mark's name in network files.
func (m Mark) String() string { return [...]string{"unmarked", "original", "grown"}[m] }

// Container runs its children in the order of Flow. The zero Container passes its input on.
type Container struct {
	Class    string // class name in prints; empty means Sequential
	Mark     Mark
	Children []Child // children in PyTorch's order of registration
	Flow     Flow
}

// Child is a module with its name in PyTorch.
type Child struct {
	Name   string
	Module Module
}

// Join names the operation that combines the branches of a container.
type Join int

// Ways to combine branches. The zero Join is Chain.
const (
	Chain Join = iota // children run one after the other
	Sum               // sum of the body and the shortcut
	// children run on the same input, and their outputs are concatenated along the channels
	Cat
)

// Flow lists, in execution order, the names of children and of steps without a module, such as FlattenStep. The zero
// Flow runs all children, one after the other. A child without weights may run twice.
type Flow struct {
	Join Join
	// Body lists the children of a chain, the body of a sum, or the branches of a concatenation, depending on Join. Nil
	// means all children that Shortcut and Then do not name.
	Body     []string
	Shortcut []string // shortcut of a Sum; nil passes the input on
	Then     []string // children that run on the sum or on the concatenated branches
}

// Steps that a flow may name without a child. They are operations without a module in a network's code, and are neither
// printed nor counted as parts. Run passes a leaf for each step to the algebra; the leaf is not in the tree.
const (
	FlattenStep = "flatten()" // step that flattens an image
	PoolStep    = "pool()"    // step that averages an image over all positions
)

var steps = map[string]Layer{FlattenStep: Flatten{}, PoolStep: AdaptiveAvgPool2d{Size: Both(1)}}

// body returns Body with its default filled in.
func (c *Container) body() []string {
	if c.Flow.Body != nil {
		return c.Flow.Body
	}
	var names []string
	for _, child := range c.Children {
		if !slices.Contains(c.Flow.Shortcut, child.Name) && !slices.Contains(c.Flow.Then, child.Name) {
			if names == nil {
				names = make([]string, 0, len(c.Children))
			}
			names = append(names, child.Name)
		}
	}
	return names
}

// Steps returns, in execution order, the names of a lane's children and of its steps without a module. A lane is one of
// the lists in the container's [Flow].
func (c *Container) Steps(l Lane) []string { return lane(c, l) }

// Child returns a child by name, or nil if there is none.
func (c *Container) Child(name string) Module {
	if k := c.index(name); k >= 0 {
		return c.Children[k].Module
	}
	return nil
}

func (c *Container) index(name string) int {
	return slices.IndexFunc(c.Children, func(child Child) bool { return child.Name == name })
}

// Uses returns the number of times that the flow runs a child.
func (c *Container) Uses(name string) int {
	n := 0
	for _, list := range [][]string{c.body(), c.Flow.Shortcut, c.Flow.Then} {
		for _, other := range list {
			if other == name {
				n++
			}
		}
	}
	return n
}

// Locate returns the lane of a child, which is one of the lists in the container's [Flow], and the index of the child
// in this list. The child must be in the flow.
func (c *Container) Locate(name string) (Lane, int) {
	lanes := []Lane{BodyLane, ShortcutLane, ThenLane}
	for _, l := range lanes {
		if step := slices.Index(lane(c, l), name); step >= 0 {
			if l == BodyLane && c.Flow.Join == Cat {
				l = BranchLane
			}
			return l, step
		}
	}
	return BodyLane, -1
}

// Add registers a child after the other children and returns its name. The name is the first free name among stem,
// stem2, stem3 and so on. The child does not run until Schedule adds it to the flow.
func (c *Container) Add(stem string, m Module) string {
	c.Flow.Body = c.body() // a default body would include the new child
	name := stem
	for k := 2; c.index(name) >= 0; k++ {
		name = fmt.Sprint(stem, k)
	}
	c.Children = append(c.Children, Child{name, m})
	return name
}

// Schedule inserts a child into a lane, which is one of the lists in the container's [Flow]. The child gets the given
// index in this list.
func (c *Container) Schedule(name string, l Lane, step int) error {
	list := map[Lane]*[]string{BodyLane: &c.Flow.Body, ShortcutLane: &c.Flow.Shortcut, ThenLane: &c.Flow.Then}[l]
	if list == nil || step < 0 || step > len(*list) {
		return fmt.Errorf("insert child %s at index %d of list %d: unknown list, or index out of range", name, step, l)
	}
	*list = slices.Insert(slices.Clone(*list), step, name)
	return nil
}

// Remove removes a child from the container and from its flow.
func (c *Container) Remove(name string) {
	named := func(other string) bool { return other == name }
	c.Children = slices.DeleteFunc(slices.Clone(c.Children), func(child Child) bool { return child.Name == name })
	for _, list := range []*[]string{&c.Flow.Body, &c.Flow.Shortcut, &c.Flow.Then} {
		*list = slices.DeleteFunc(slices.Clone(*list), named)
	}
	given := c.Flow.Body
	if c.Flow.Body = nil; !slices.Equal(c.body(), given) {
		c.Flow.Body = given
	}
}

// Replace replaces a child's module under the same name.
func (c *Container) Replace(name string, m Module) { c.Children[c.index(name)].Module = m }

func (l *Leaf) copy(weights func(*torch.Tensor) *torch.Tensor) Module {
	twin := &Leaf{Layer: l.Layer}
	for _, w := range l.Weights {
		twin.Weights = append(twin.Weights, weights(w))
	}
	return twin
}

func (c *Container) copy(weights func(*torch.Tensor) *torch.Tensor) Module {
	twin := &Container{Class: c.Class, Mark: c.Mark, Flow: Flow{Join: c.Flow.Join, Body: slices.Clone(c.Flow.Body),
		Shortcut: slices.Clone(c.Flow.Shortcut), Then: slices.Clone(c.Flow.Then)}}
	for _, child := range c.Children {
		twin.Children = append(twin.Children, Child{child.Name, child.Module.copy(weights)})
	}
	return twin
}
