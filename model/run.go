package model

import (
	"fmt"
	"strings"
)

// Algebra defines a computation over a network: for each layer or connection, it computes an output value of type T
// from the input values. Examples of values are shapes, program values and channels.
type Algebra[T any] interface {
	// Layer computes the value after a layer from the value x before the layer.
	Layer(at Place, leaf *Leaf, x T) (T, error)
	// Sum computes the value after a residual connection from the values of its two branches.
	Sum(path string, body, shortcut T) (T, error)
	// Cat computes the value after a concatenation from the values of its branches. There is at least one branch.
	Cat(path string, parts []T) (T, error)
}

// Follower is an interface that an Algebra can also implement. [Run] then calls its methods at the beginning and the
// end of each container.
type Follower[T any] interface {
	// Enter is called before the container's first layer.
	Enter(path string, c *Container)
	// Leave is called after the container's last layer, with the container's output.
	Leave(path string, c *Container, out T) error
}

// Lane selects one of the lists of children in a container's [Flow], such as the shortcut. The zero Lane is the body.
type Lane int

// Lists of children in a container's [Flow].
const (
	BodyLane Lane = iota
	ShortcutLane
	ThenLane
	BranchLane // branches of a Cat, which do not feed each other
)

// Place is the position of a child in its parent's [Flow].
type Place struct {
	Path   string // path of the child: names joined by dots, as in a state dict
	Parent *Container
	Lane   Lane
	Step   int // index in the lane
}

// Name returns the child's name in its parent.
func (p Place) Name() string { return lane(p.Parent, p.Lane)[p.Step] }

func lane(c *Container, l Lane) []string {
	switch l {
	case ShortcutLane:
		return c.Flow.Shortcut
	case ThenLane:
		return c.Flow.Then
	default:
		return c.body()
	}
}

// Run calls the methods of a for all layers and connections in execution order, starting with x as the value of the
// network's input, and returns the value of the network's output.
func Run[T any](n *Network, x T, a Algebra[T]) (T, error) {
	if n.Graph != nil {
		return x, errGraph
	}
	return runContainer(n.Root, "", x, a)
}

func runContainer[T any](c *Container, path string, x T, a Algebra[T]) (out T, err error) {
	follower, follows := a.(Follower[T])
	if follows {
		follower.Enter(path, c)
	}
	switch c.Flow.Join {
	case Sum:
		out, err = runSum(c, path, x, a)
	case Cat:
		out, err = runCat(c, path, x, a)
	default:
		out, err = runLane(c, path, BodyLane, x, a)
	}
	if err != nil {
		return out, err
	}
	if out, err = runLane(c, path, ThenLane, out, a); err != nil || !follows {
		return out, err
	}
	return out, follower.Leave(path, c, out)
}

func runLane[T any](c *Container, path string, l Lane, x T, a Algebra[T]) (T, error) {
	var err error
	for step, name := range lane(c, l) {
		at := Place{Path: childPath(path, name), Parent: c, Lane: l, Step: step}
		if x, err = runChild(at, name, x, a); err != nil {
			return x, err
		}
	}
	return x, nil
}

func runChild[T any](at Place, name string, x T, a Algebra[T]) (T, error) {
	switch m := at.Parent.Child(name).(type) {
	case *Leaf:
		return a.Layer(at, m, x)
	case *Container:
		return runContainer(m, at.Path, x, a)
	}
	if step, ok := steps[name]; ok {
		return a.Layer(at, &Leaf{Layer: step}, x)
	}
	return x, fmt.Errorf("%s: the execution order contains %q, which is not a child module",
		pathText(strings.TrimSuffix(strings.TrimSuffix(at.Path, name), ".")), name)
}

func runSum[T any](c *Container, path string, x T, a Algebra[T]) (T, error) {
	body, err := runLane(c, path, BodyLane, x, a)
	if err != nil {
		return body, err
	}
	shortcut, err := runLane(c, path, ShortcutLane, x, a)
	if err != nil {
		return shortcut, err
	}
	return a.Sum(path, body, shortcut)
}

func runCat[T any](c *Container, path string, x T, a Algebra[T]) (T, error) {
	var parts []T
	for step, name := range lane(c, BranchLane) {
		at := Place{Path: childPath(path, name), Parent: c, Lane: BranchLane, Step: step}
		part, err := runChild(at, name, x, a)
		if err != nil {
			return part, err
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return x, fmt.Errorf("%s: the concatenation has no branches", pathText(path))
	}
	return a.Cat(path, parts)
}

// childPath appends a child's name to the path of its parent.
func childPath(path, name string) string {
	if path == "" || name == own {
		return path + name
	}
	return path + "." + name
}

func pathText(path string) string {
	if path == "" {
		return "the network"
	}
	return path
}
