package graph

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Shapes returns the shape of each value that is a tensor, computed for the sizes of the example input. If graft cannot
// infer the shape of an operator, Shapes returns an error, together with the shapes of the values that are computed
// before that operator.
func (g *Graph) Shapes() (map[Value][]int, error) {
	s, err := g.Sizes()
	return s.shapes, err
}

// Sizes holds the shapes of a graph's values and tensors.
type Sizes struct {
	*shaper
	batch  int64 // number of examples
	graph  *Graph
	double map[Value][]int // shapes for twice the batch; nil until needed
	made   [][][]int       // shapes of the results of the nodes so far; nil for a size
	read   int             // tensors whose shapes are known
}

// Of returns the shape of a node's argument that is a value or a weight; nil for a number.
func (s *Sizes) Of(arg any) []int {
	switch v := arg.(type) {
	case Value:
		return s.shapes[v]
	case Weight:
		return s.tensors[string(v)]
	}
	return nil
}

// Number returns the value of an argument that is an integer or a computed size; false for others.
func (s *Sizes) Number(arg any) (n int, known bool) {
	switch v := arg.(type) {
	case int64:
		return int(v), true
	case Value:
		n, known = s.sizes[v]
	}
	return n, known
}

// Sizes infers the shapes of all values, as [Graph.Shapes] does.
func (g *Graph) Sizes() (*Sizes, error) {
	sizes := g.NewSizes()
	return sizes, sizes.Extend()
}

// NewSizes returns the shapes of a graph's inputs. Extend adds the results of its nodes.
func (g *Graph) NewSizes() *Sizes {
	sizes := &Sizes{shaper: newShaper(g), batch: 1, graph: g, made: make([][][]int, 0, len(g.Nodes)),
		read: len(g.Tensors)}
	if len(g.Input.Shape) > 0 {
		sizes.batch = int64(max(g.Input.Shape[0].N, 1))
	}
	return sizes
}

// Extend infers the shapes of the nodes that were added to the graph since the last call. Nodes after an error have no
// shapes.
func (s *Sizes) Extend() error {
	for ; s.read < len(s.graph.Tensors); s.read++ {
		s.tensors[s.graph.Tensors[s.read].Name] = s.graph.Tensors[s.read].Shape
	}
	for len(s.made) < len(s.graph.Nodes) {
		n := &s.graph.Nodes[len(s.made)]
		made, err := s.node(n)
		if err != nil {
			return fmt.Errorf("infer the shape of %s: %w", n.String(), err)
		}
		s.made = append(s.made, made)
	}
	return nil
}

// Results returns the shapes of the results of a node, by its number; nil for a node that computes a size.
func (s *Sizes) Results(node int) [][]int { return s.made[node] }

// ErrTooLarge reports that shapes have far more values than a machine can hold.
var ErrTooLarge = errors.New("the tensor is too large for the memory of any machine")

// Dims returns the sizes of the example input.
func (in Input) Dims() []int {
	dims := make([]int, len(in.Shape))
	for k, size := range in.Shape {
		dims[k] = size.N
	}
	return dims
}

// shaper infers shapes, node after node.
type shaper struct {
	shapes  map[Value][]int
	sizes   map[Value]int // results that are whole numbers
	tensors map[string][]int
	named   map[string]int // variable sizes of the input
	n       *Node          // current node
	err     error          // first fault of the current node
}

func newShaper(g *Graph) *shaper {
	s := &shaper{shapes: make(map[Value][]int, len(g.Nodes)+1), sizes: map[Value]int{},
		tensors: make(map[string][]int, len(g.Tensors)), named: map[string]int{}}
	for _, in := range g.Inputs() {
		s.shapes[in.Value] = in.Dims()
		for _, size := range in.Shape {
			s.named[size.Name] = size.N
		}
	}
	for _, t := range g.Tensors {
		s.tensors[t.Name] = t.Shape
	}
	return s
}

// shapeRule returns the shapes of a node's results.
type shapeRule func(*shaper) [][]int

// node returns the shapes of a node's results; nil if it computes a size.
func (s *shaper) node(n *Node) (results [][]int, err error) {
	s.n, s.err = n, nil
	if n.Sizes() {
		op, overload, _ := strings.Cut(n.Operator, ".")
		s.size(op, overload)
		return nil, s.err
	}
	rule := shapeRules[n.Name()]
	if n.Returns != nil {
		rule = func(s *shaper) [][]int { return s.returned(n) }
	}
	if rule == nil {
		return nil, fmt.Errorf("graft cannot infer the shapes of the results")
	}
	defer func() { // an argument out of range: the graph was not checked, or does not fit
		if p := recover(); p != nil {
			err = fmt.Errorf("invalid arguments: %v", p)
		}
	}()
	if results = rule(s); s.err != nil {
		return nil, s.err
	}
	for k, v := range n.Results {
		if k >= len(results) {
			return nil, fmt.Errorf("the graph names %d results, but the operator returns %d", len(n.Results),
				len(results))
		}
		for _, size := range results[k] {
			if size < 0 {
				return nil, fmt.Errorf("a result has an invalid shape %s; sizes must not be negative",
					listText(results[k]))
			}
		}
		if len(results[k]) > 0 && values(results[k]) > mostValues {
			return nil, fmt.Errorf("a result has shape %s: %w", listText(results[k]), ErrTooLarge)
		}
		s.shapes[v] = results[k]
	}
	return results[:len(n.Results)], nil
}

// fail records the first fault of a node. It formats lists of sizes as the notation of nodes does.
func (s *shaper) fail(format string, args ...any) {
	if s.err != nil {
		return
	}
	for k, arg := range args {
		switch v := arg.(type) {
		case []int:
			args[k] = listText(v)
		case [][]int:
			texts := make([]string, len(v))
			for j := range v {
				texts[j] = listText(v[j])
			}
			args[k] = strings.Join(texts, ", ")
		}
	}
	s.err = fmt.Errorf(format, args...)
}

// listText formats a shape, or another list of sizes, such as [32, 3, 3, 3].
func listText(sizes []int) string {
	texts := make([]string, len(sizes))
	for k, size := range sizes {
		texts[k] = strconv.Itoa(size)
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// shape returns the shape of an argument; nil for a number.
func (s *shaper) shape(name string) []int { return s.shapeOf(s.n.Arg(name)) }

func (s *shaper) shapeOf(arg any) []int {
	switch v := arg.(type) {
	case Value:
		shape, ok := s.shapes[v]
		if ok {
			return shape
		}
		if _, size := s.sizes[v]; !size {
			s.fail("the shape of %s is unknown", string(v))
		}
	case Weight:
		return s.tensors[string(v)]
	}
	return nil
}

// first returns the shape of the first argument.
func (s *shaper) first() []int { return s.shapeOf(s.n.Args[0].Value) }

func (s *shaper) list(name string) [][]int {
	items, _ := s.n.Arg(name).([]any)
	var shapes [][]int
	for _, item := range items {
		shapes = append(shapes, s.shapeOf(item))
	}
	return shapes
}

// whole returns a whole number.
func (s *shaper) whole(arg any) int {
	switch v := arg.(type) {
	case int64:
		return int(v)
	case float64:
		return int(v)
	case Value:
		size, ok := s.sizes[v]
		if !ok {
			s.fail("the value of %s is unknown", string(v))
		}
		return size
	}
	s.fail("expected an integer, got %v", arg)
	return 0
}

// real returns a number that may be fractional.
func (s *shaper) real(arg any) float64 {
	if v, ok := arg.(float64); ok {
		return v
	}
	return float64(s.whole(arg))
}

func (s *shaper) int(name string, missing int) int {
	if arg := s.n.Arg(name); arg != nil {
		return s.whole(arg)
	}
	return missing
}

// ints returns a list of numbers; nil if it is missing or empty.
func (s *shaper) ints(name string) []int {
	switch v := s.n.Arg(name).(type) {
	case nil:
		return nil
	case []any:
		var list []int
		for _, item := range v {
			list = append(list, s.whole(item))
		}
		return list
	default:
		return []int{s.whole(v)}
	}
}

func (s *shaper) truth(name string) bool {
	on, _ := s.n.Arg(name).(bool)
	return on
}

// size computes a whole number from others.
func (s *shaper) size(op, overload string) {
	if len(s.n.Results) != 1 {
		s.fail("the operator has %d results; expected 1", len(s.n.Results))
		return
	}
	at := s.n.Results[0]
	if op == "sym_size" {
		shape := s.first()
		if dim, ok := wrap(s.int("dim", 0), len(shape)); ok {
			s.sizes[at] = shape[dim]
		} else {
			s.fail("the tensor has no dimension %d", s.int("dim", 0))
		}
		return
	}
	if len(s.n.Args) != 2 {
		s.fail("the operator has %d arguments; expected 2", len(s.n.Args))
		return
	}
	a, b := s.whole(s.n.Args[0].Value), s.whole(s.n.Args[1].Value)
	switch overload {
	case "add":
		s.sizes[at] = a + b
	case "sub":
		s.sizes[at] = a - b
	case "mul":
		s.sizes[at] = a * b
	case "floordiv":
		if b == 0 {
			s.fail("division by zero")
			return
		}
		s.sizes[at] = floorDiv(a, b)
	}
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// wrap converts a dimension counted from the end to one from the start.
func wrap(dim, dims int) (int, bool) {
	if dim < 0 {
		dim += dims
	}
	return dim, dim >= 0 && dim < dims
}

// dim returns a dimension of a shape.
func (s *shaper) dim(name string, missing, dims int) int {
	d, ok := wrap(s.int(name, missing), dims)
	if !ok {
		s.fail("the tensor has no dimension %d; it has %d dimensions", s.int(name, missing), dims)
		return 0
	}
	return d
}

func product(sizes []int) int {
	n := 1
	for _, size := range sizes {
		n *= size
	}
	return n
}

// with returns a copy of a shape with another size.
func with(shape []int, dim, size int) []int {
	out := slices.Clone(shape)
	out[dim] = size
	return out
}

// broadcast combines shapes as NumPy does.
func (s *shaper) broadcast(shapes ...[]int) []int {
	var out []int
	for _, shape := range shapes {
		for len(out) < len(shape) {
			out = append([]int{1}, out...)
		}
	}
	for _, shape := range shapes {
		for k, size := range shape {
			at := len(out) - len(shape) + k
			switch {
			case out[at] == 1:
				out[at] = size
			case size != 1 && size != out[at]:
				s.fail("the shapes %v cannot be broadcast", shapes)
			}
		}
	}
	return out
}
