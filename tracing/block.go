package tracing

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"graft/model"
)

// Block is a unit of surgery: a container that is marked as a block, or a convolution or linear layer with the
// normalisation and the activation after it.
type Block struct {
	Name   string // path of the block, or of its first layer
	Marked model.Mark
	Layers []*Layer
	In     Edge
	Out    Edge
	// Ends reports whether the output of the last layer is the block's output. It is false if the block adds another
	// tensor to the last layer's output or concatenates both.
	Ends bool
	// Parent, Lane and Step are the position at which the block runs. For a block that is not a marked container, they
	// are the position at which the last layer runs.
	Parent *model.Container
	Lane   model.Lane
	Step   int
}

// Main returns the first convolution or linear layer, or nil if there is none.
func (b *Block) Main() *Layer {
	return b.first(func(l model.Layer) bool { return isMain(l) })
}

// Norm returns the first normalisation, or nil if there is none.
func (b *Block) Norm() *Layer { return b.first(isNorm) }

func (b *Block) first(is func(model.Layer) bool) *Layer {
	for _, l := range b.Layers {
		if is(l.Leaf.Layer) {
			return l
		}
	}
	return nil
}

// Activation returns the activation that produces the block's output, and false if another layer produces it.
func (b *Block) Activation() (model.Activation, bool) {
	if !b.Ends || len(b.Layers) == 0 {
		return model.Activation{}, false
	}
	a, ok := b.Layers[len(b.Layers)-1].Leaf.Layer.(model.Activation)
	return a, ok
}

func isMain(l model.Layer) bool {
	switch l.(type) {
	case model.Conv2d, model.Linear:
		return true
	}
	return false
}

func isNorm(l model.Layer) bool {
	switch l.(type) {
	case model.BatchNorm, model.LayerNorm, model.GroupNorm:
		return true
	}
	return false
}

func isActivation(l model.Layer) bool {
	_, ok := l.(model.Activation)
	return ok
}

// Enter records a container that is marked as a block, so that its parts are not listed as blocks of their own.
func (r *reader) Enter(path string, c *model.Container) {
	if c.Mark != model.Unmarked {
		r.end()
		r.marked = append(r.marked, path)
		r.starts = append(r.starts, len(r.trace.Layers))
	}
}

// Leave records the output of a container, and creates a block if the container is marked as one.
func (r *reader) Leave(path string, c *model.Container, out Edge) error {
	r.trace.outputs[path] = out
	if c.Mark == model.Unmarked {
		return nil
	}
	last := len(r.marked) - 1
	start := r.starts[last]
	r.marked, r.starts = r.marked[:last], r.starts[:last]
	if last > 0 || path == "" || start == len(r.trace.Layers) {
		return nil // within another block, or nothing that could be deepened
	}
	_, parent, name := r.trace.Network.Find(path)
	b := &Block{Name: path, Marked: c.Mark, Layers: slices.Clone(r.trace.Layers[start:]), Out: out, Ends: !r.summed,
		Parent: parent}
	b.In = b.Layers[0].In
	b.Lane, b.Step = parent.Locate(name)
	r.trace.Blocks = append(r.trace.Blocks, b)
	return nil
}

// find adds a layer to the current block, or begins another one.
func (r *reader) find(l *Layer) {
	if len(r.marked) > 0 {
		return
	}
	layer := l.Leaf.Layer
	switch {
	case isMain(layer):
		r.end()
		r.run = []*Layer{l}
	case r.continues(l) && (isActivation(layer) || isNorm(layer) && len(r.run) == 1):
		r.run = append(r.run, l)
		if isActivation(layer) {
			r.end()
		}
	default:
		r.end()
	}
}

// continues reports whether a layer runs right after the last one of the run.
func (r *reader) continues(l *Layer) bool {
	if len(r.run) == 0 {
		return false
	}
	last := r.run[len(r.run)-1].At
	return l.At.Parent == last.Parent && l.At.Lane == last.Lane && l.At.Step == last.Step+1 &&
		l.At.Lane != model.BranchLane
}

// end turns the run into a block.
func (r *reader) end() {
	if len(r.run) == 0 {
		return
	}
	first, last := r.run[0], r.run[len(r.run)-1]
	r.trace.Blocks = append(r.trace.Blocks, &Block{Name: first.At.Path, Layers: r.run, In: first.In, Out: last.Out,
		Ends: true, Parent: last.At.Parent, Lane: last.At.Lane, Step: last.At.Step})
	r.run = nil
}

// Block finds a block by its name, its number or its former name. After surgery, the former name of a block refers to
// the group of blocks that grew from this block.
func (t *Trace) Block(name string) (*Block, error) {
	for _, b := range t.Blocks {
		if b.Name == name {
			return b, nil
		}
	}
	for _, b := range t.Blocks {
		if b.Marked != model.Unmarked && strings.HasPrefix(b.Name, name+".") {
			return b, nil
		}
	}
	if k, err := strconv.Atoi(name); err == nil && k >= 0 && k < len(t.Blocks) {
		return t.Blocks[k], nil
	}
	return nil, fmt.Errorf("block %q not found; the blocks of %s are %s", name, t.Network.Name(), t.blockNames())
}

func (t *Trace) blockNames() string {
	if len(t.Blocks) == 0 {
		return "none"
	}
	words := make([]string, len(t.Blocks))
	for k, b := range t.Blocks {
		words[k] = fmt.Sprintf("%d %s", k, b.Name)
	}
	return strings.Join(words, ", ")
}

// SpaceAt returns the [Space] of the output channels of a layer, container or block, and the number of these channels.
func (t *Trace) SpaceAt(name string) (*Space, int, error) {
	edge, ok := t.outputs[name]
	if !ok || name == "" {
		b, err := t.Block(name)
		if err != nil {
			return nil, 0, fmt.Errorf("layer or block %q not found; the blocks of %s are %s", name, t.Network.Name(),
				t.blockNames())
		}
		edge = b.Out
	}
	if len(edge.Parts) == 1 {
		return edge.Parts[0].Space, edge.Parts[0].Channels, nil
	}
	words := make([]string, len(edge.Parts))
	for k, part := range edge.Parts {
		words[k] = part.Space.Name()
	}
	return nil, 0, fmt.Errorf("the output of %s is a concatenation; use one of its parts: %s", name,
		strings.Join(words, ", "))
}
