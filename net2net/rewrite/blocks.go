package rewrite

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"graft/model/graph"
	"graft/tracing/axes"
)

// Block is a module that adds the values of its branches to the residual stream. The shape of the stream does not
// change.
type Block struct {
	Path     string
	In, Out  graph.Value
	Nodes    []int // indexes of the block's nodes in running order
	Branches []Branch
	// indexes, in axes.Axes.Norms, of the norms that follow the block's residual sums; nil if norms precede the
	// branches
	Norms []int
}

// Branch is a value that a block adds to the residual stream. If all tensors that Writers names are zero, the value is
// zero.
type Branch struct {
	Value   graph.Value
	Writers []string
}

// Blocks returns the blocks of a graph, outer blocks before nested blocks. For each repeated module that is not a
// block, others maps the module's path to the reason.
func Blocks(a *axes.Axes) (blocks []Block, others map[string]error) {
	others = map[string]error{}
	for _, m := range a.Graph.Modules {
		if m.Path == "" || m.Class == "ModuleList" || m.Class == "ModuleDict" {
			continue
		}
		b, err := readBlock(a, m.Path)
		switch {
		case err == nil:
			blocks = append(blocks, *b)
		case numbered(m.Path) && slices.ContainsFunc(a.Graph.Modules,
			func(other graph.Module) bool { return strings.HasPrefix(other.Path, m.Path+".") }):
			others[m.Path] = err
		}
	}
	return blocks, others
}

// FindBlock returns the block at a path.
func FindBlock(a *axes.Axes, path string) (*Block, error) {
	if !slices.ContainsFunc(a.Graph.Modules, func(m graph.Module) bool { return m.Path == path }) || path == "" {
		return nil, fmt.Errorf("module %q not found", path)
	}
	b, err := readBlock(a, path)
	if err != nil {
		return nil, fmt.Errorf("%s is not a repeatable block: %w", path, err)
	}
	return b, nil
}

func lastName(path string) (parent, name string) {
	at := strings.LastIndexByte(path, '.')
	return path[:max(at, 0)], path[at+1:]
}

func numbered(path string) bool {
	_, name := lastName(path)
	_, err := strconv.Atoi(name)
	return err == nil
}

func inside(path, module string) bool { return path == module || strings.HasPrefix(path, module+".") }

func readBlock(a *axes.Axes, path string) (*Block, error) {
	b := &Block{Path: path}
	made := map[graph.Value]bool{}
	for k, n := range a.Graph.Nodes {
		if inside(n.Module, path) {
			b.Nodes = append(b.Nodes, k)
			for _, v := range n.Results {
				made[v] = true
			}
		}
	}
	if len(b.Nodes) == 0 {
		return nil, fmt.Errorf("the block contains no operators")
	}
	if err := b.findEnds(a, made); err != nil {
		return nil, err
	}
	r := &blockReader{a, b, made}
	if err := r.walk(b.Out); err != nil {
		return nil, err
	}
	if len(b.Branches) == 0 {
		return nil, fmt.Errorf("the block has no residual connection: it never adds a result to its input")
	}
	slices.Reverse(b.Branches)
	slices.Reverse(b.Norms)
	if len(b.Norms) > 0 && len(b.Norms) != len(b.Branches) {
		return nil, fmt.Errorf("only some of the block's additions are normalised; expected all or none")
	}
	return b, nil
}

// findEnds finds the input value and the output value.
func (b *Block) findEnds(a *axes.Axes, made map[graph.Value]bool) error {
	own := map[int]bool{}
	for _, k := range b.Nodes {
		own[k] = true
	}
	for v := range made {
		if a.Values[v] == nil {
			continue // a size
		}
		if slices.Contains(a.Graph.Outputs(), v) ||
			slices.ContainsFunc(a.Readers(v), func(k int) bool { return !own[k] }) {
			if b.Out != "" {
				return fmt.Errorf("more than one value of the block is read outside the block")
			}
			b.Out = v
		}
	}
	if b.Out == "" {
		return fmt.Errorf("no operator reads the output of the block")
	}
	for _, k := range b.Nodes {
		a.Graph.Nodes[k].Reads(func(read any) {
			if v, ok := read.(graph.Value); ok && !made[v] && v != b.In && equalTerms(a.Values[v], a.Values[b.Out]) {
				if b.In != "" {
					b.In = "?"
				} else {
					b.In = v
				}
			}
		})
	}
	if b.In == "" || b.In == "?" {
		return fmt.Errorf("the block must have exactly one input with the same shape and axes as its output")
	}
	return nil
}

func equalTerms(x, y []*axes.Term) bool {
	return len(x) > 0 && slices.EqualFunc(x, y,
		func(a, b *axes.Term) bool { return a.Size == b.Size && (a.Size == 1 || a.Find() == b.Find()) })
}

// blockReader follows the stream from a block's end to its start.
type blockReader struct {
	*axes.Axes
	b    *Block
	made map[graph.Value]bool
}

func (r *blockReader) producer(v graph.Value) *graph.Node {
	for _, k := range r.b.Nodes {
		if slices.Contains(r.Graph.Nodes[k].Results, v) {
			return &r.Graph.Nodes[k]
		}
	}
	return nil
}

func op(n *graph.Node) string {
	name := n.Name()
	return name
}

// walk collects the branches of the sums between a value and the block's input.
func (r *blockReader) walk(v graph.Value) error {
	if v == r.b.In {
		return nil
	}
	n := r.producer(v)
	if n == nil {
		return fmt.Errorf("the residual stream does not start at the block's input")
	}
	if k := slices.IndexFunc(r.Norms, func(norm axes.Norm) bool { return norm.Output == v }); k >= 0 &&
		r.isSum(r.Norms[k].Input) {
		r.b.Norms = append(r.b.Norms, k)
		return r.walk(r.Norms[k].Input)
	}
	if r.passes(n) {
		return r.walk(n.Args[0].Value.(graph.Value))
	}
	x, y, ok := sumOf(n)
	if !ok {
		return fmt.Errorf("the residual stream is the result of %s; expected a sum", n.Operator)
	}
	if !r.carries(x) {
		x, y = y, x
	}
	if !r.carries(x) || r.carries(y) && y != x && r.isSum(y) {
		return fmt.Errorf("a sum must have exactly one operand from the residual stream")
	}
	branch := Branch{Value: y}
	if err := r.writers(y, &branch); err != nil {
		return err
	}
	r.b.Branches = append(r.b.Branches, branch)
	return r.walk(x)
}

// sumOf returns the operands of a plain sum of two values.
func sumOf(n *graph.Node) (x, y graph.Value, ok bool) {
	if op(n) != "add" || n.Arg("alpha") != nil {
		return "", "", false
	}
	x, isX := n.Arg("self").(graph.Value)
	y, isY := n.Arg("other").(graph.Value)
	return x, y, isX && isY
}

func (r *blockReader) isSum(v graph.Value) bool {
	n := r.producer(v)
	if n == nil {
		return false
	}
	_, _, ok := sumOf(n)
	return ok
}

// carries reports whether a value is the block's input, or a sum that includes it.
func (r *blockReader) carries(v graph.Value) bool {
	if v == r.b.In {
		return true
	}
	n := r.producer(v)
	if n == nil {
		return false
	}
	if k := slices.IndexFunc(r.Norms, func(norm axes.Norm) bool { return norm.Output == v }); k >= 0 {
		return r.isSum(r.Norms[k].Input) && r.carries(r.Norms[k].Input)
	}
	if r.passes(n) {
		return r.carries(n.Args[0].Value.(graph.Value))
	}
	x, y, ok := sumOf(n)
	return ok && (r.carries(x) || r.carries(y))
}

// passes reports whether an operator passes the stream on: a copy, or an idempotent activation.
func (r *blockReader) passes(n *graph.Node) bool {
	_, ok := n.Args[0].Value.(graph.Value)
	end := r.producer(r.b.Out)
	again := slices.Contains([]string{"relu", "relu6"}, op(n)) && end != nil && op(end) == op(n)
	return ok && (again || slices.Contains([]string{"contiguous", "clone", "alias", "to"}, op(n)))
}

// writers finds the tensors that produce a branch: if they are zero, so is the branch.
func (r *blockReader) writers(v graph.Value, b *Branch) error {
	n := r.producer(v)
	if n == nil {
		return fmt.Errorf("a branch is not computed from the residual stream")
	}
	switch name := op(n); {
	case name == "linear" || strings.HasPrefix(name, "conv"):
		return r.written(n, b, "weight", "bias")
	case name == "addmm":
		return r.written(n, b, "mat2", "self")
	case slices.Contains([]string{"layer_norm", "rms_norm", "batch_norm", "group_norm", "instance_norm"}, name) &&
		n.Arg("weight") != nil:
		return r.written(n, b, "weight", "bias")
	case name == "matmul":
		return r.written(n, b, "other")
	case name == "mm":
		return r.written(n, b, "mat2")
	case name == "add" || name == "mul": // a bias or a factor
		for _, names := range [][2]string{{"self", "other"}, {"other", "self"}} {
			x, isValue := n.Arg(names[0]).(graph.Value)
			_, fixed := n.Arg(names[1]).(graph.Value)
			if !isValue || fixed {
				continue
			}
			if _, isTensor := n.Arg(names[1]).(graph.Weight); name == "add" && isTensor {
				if err := r.written(n, b, names[1]); err != nil {
					return err
				}
			} else if name == "add" {
				break // a number stays
			}
			return r.writers(x, b)
		}
	case name == "div" || slices.Contains(keeping, name) && !fills(n):
		x, isValue := n.Args[0].Value.(graph.Value)
		_, byValue := n.Arg("other").(graph.Value)
		if isValue && !(name == "div" && byValue) {
			return r.writers(x, b)
		}
	}
	return fmt.Errorf("a branch ends in %s, which has no weight to set to zero", n.Operator)
}

// written adds the tensors of a layer that ends a branch. All of them must be trained parameters, or views of them,
// because a copy of the block sets them to zero and then trains them.
func (r *blockReader) written(n *graph.Node, b *Branch, arguments ...string) error {
	for _, argument := range arguments {
		value := n.Arg(argument)
		if value == nil {
			continue
		}
		name, ok := r.trained(value)
		if !ok {
			return fmt.Errorf("a branch ends in %s in %q, whose argument %s is computed or not trained; expected a "+
				"parameter, which a copy of the block can set to zero and train", n.Operator, n.Module, argument)
		}
		b.Writers = append(b.Writers, name)
	}
	return nil
}

// trained returns the parameter that an argument is, or is a view of.
func (r *blockReader) trained(arg any) (string, bool) {
	switch v := arg.(type) {
	case graph.Weight:
		return string(v), r.Graph.Tensor(string(v)).Role == graph.Parameter
	case graph.Value:
		if n := r.producer(v); n != nil && len(n.Args) > 0 && op(n) != "detach" && slices.Contains(views, op(n)) {
			return r.trained(n.Args[0].Value)
		}
	}
	return "", false
}
