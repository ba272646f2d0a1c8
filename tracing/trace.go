package tracing

import (
	"fmt"
	"slices"

	"graft/model"
)

// Trace describes the structure of a network. It refers to the network's leaves and becomes invalid when the network
// changes.
type Trace struct {
	Network *model.Network
	Layers  []*Layer // layers in running order
	Blocks  []*Block // blocks in the order in which they end
	Spaces  []*Space // spaces in the order in which they are opened; the first is the input's
	outputs map[string]Edge
}

// Layer records one execution of a leaf module. A leaf module may run more than once.
type Layer struct {
	At      model.Place
	Leaf    *model.Leaf
	In, Out Edge
}

// Edge is a tensor between two layers.
type Edge struct {
	Shape model.Shape // shape of one example
	Parts []Part      // runs of channels on the edge, in order
}

// Part is a sequence of consecutive channels that belong to one space. In this sequence, each unit of the space
// consists of Channels/Units consecutive channels.
type Part struct {
	Space    *Space
	Channels int
}

// Read traces a network. It returns an error if shapes do not match.
func Read(n *model.Network) (*Trace, error) {
	if n.Graph != nil {
		return nil, fmt.Errorf("trace %s: the network runs as a graph, so actions must be given explicitly, "+
			"such as deepen:BLOCK", n.Name())
	}
	if err := n.Check(); err != nil {
		return nil, fmt.Errorf("trace %s: %w", n.Name(), err)
	}
	r := &reader{trace: &Trace{Network: n, outputs: map[string]Edge{}}}
	input := r.open(n.Input[0])
	input.fix("they are the network's input")
	out, err := model.Run[Edge](n, Edge{n.Input, []Part{{input, n.Input[0]}}}, r)
	if err != nil {
		return nil, fmt.Errorf("trace %s: %w", n.Name(), err)
	}
	for _, part := range out.Parts {
		part.Space.root().fix("they are the network's output")
	}
	r.settle()
	return r.trace, nil
}

// reader is the algebra of channels; it collects the trace.
type reader struct {
	trace  *Trace
	marked []string // paths of the enclosing marked containers, outermost first
	starts []int    // number of layers that ran before each of them
	run    []*Layer // layers of the block being found
	summed bool     // the last event was a join, not a layer
}

// Layer derives the output edge of a layer from its input edge.
func (r *reader) Layer(at model.Place, leaf *model.Leaf, in Edge) (Edge, error) {
	shape, err := leaf.Layer.Infer(in.Shape)
	if err != nil {
		return Edge{}, err
	}
	l := &Layer{At: at, Leaf: leaf, In: in}
	switch channels := leaf.Layer.Channels(); {
	case channels.Opens:
		l.Out = Edge{shape, []Part{{r.open(shape[0]), shape[0]}}}
	case channels.Groups > 0:
		l.Out = Edge{shape, r.tie(l, shape[0], channels.Groups)}
	default:
		l.Out = Edge{shape, scaled(in, shape[0])}
	}
	r.trace.Layers = append(r.trace.Layers, l)
	r.trace.outputs[at.Path] = l.Out
	r.summed = false
	r.find(l)
	return l.Out, nil
}

// scaled returns the parts of an edge for a number of channels: the same, or each channel spread over several
// positions.
func scaled(in Edge, channels int) []Part {
	parts := slices.Clone(in.Parts)
	for k := range parts {
		parts[k].Channels = parts[k].Channels * channels / in.Shape[0]
	}
	return parts
}

func (r *reader) open(channels int) *Space {
	s := &Space{Index: len(r.trace.Spaces), Units: channels}
	r.trace.Spaces = append(r.trace.Spaces, s)
	return s
}

// tie joins channels into units that a layer works on together.
func (r *reader) tie(l *Layer, out, groups int) []Part {
	size := l.In.Shape[0] / groups
	for _, part := range l.In.Parts {
		if part.Channels%size != 0 {
			return r.tangle(l, out)
		}
	}
	for _, part := range l.In.Parts {
		part.Space.root().tie(l, part.Channels/size, size)
	}
	return scaled(l.In, out)
}

// tangle freezes channels whose groups span several spaces.
func (r *reader) tangle(l *Layer, out int) []Part {
	for _, part := range l.In.Parts {
		part.Space.root().fix(fmt.Sprintf("%s, %s, has groups that span parts of a concatenation",
			l.At.Path, l.Leaf.Layer))
	}
	fresh := r.open(out)
	fresh.fix(fmt.Sprintf("%s, %s, ties them to channels that cannot change", l.At.Path, l.Leaf.Layer))
	return []Part{{fresh, out}}
}

// Sum merges the channel spaces of the two summands, because their channels can only change together.
func (r *reader) Sum(path string, body, shortcut Edge) (Edge, error) {
	r.end()
	r.summed = true
	aligned := slices.EqualFunc(body.Parts, shortcut.Parts, func(a, b Part) bool { return a.Channels == b.Channels })
	if aligned {
		for k := range body.Parts {
			body.Parts[k].Space.unite(shortcut.Parts[k].Space)
		}
		return body, nil
	}
	for _, part := range slices.Concat(body.Parts, shortcut.Parts) {
		part.Space.root().fix(fmt.Sprintf("the sum at %s adds concatenations whose parts do not align",
			where(path)))
	}
	return body, nil
}

// Cat concatenates the channels of the branches.
func (r *reader) Cat(_ string, parts []Edge) (Edge, error) {
	r.end()
	r.summed = true
	joined := Edge{Shape: slices.Clone(parts[0].Shape)}
	joined.Shape[0] = 0
	for _, part := range parts {
		joined.Shape[0] += part.Shape[0]
		joined.Parts = append(joined.Parts, part.Parts...)
	}
	return joined, nil
}

func where(path string) string {
	if path == "" {
		return "the network's end"
	}
	return path
}

// settle replaces united spaces by their root.
func (r *reader) settle() {
	r.end()
	t := r.trace
	for _, l := range t.Layers {
		rooted(l.In.Parts)
		rooted(l.Out.Parts)
	}
	for _, edge := range t.outputs {
		rooted(edge.Parts)
	}
	for _, b := range t.Blocks {
		rooted(b.In.Parts)
		rooted(b.Out.Parts)
	}
	t.Spaces = slices.DeleteFunc(t.Spaces, func(s *Space) bool { return s.root() != s })
	for k, s := range t.Spaces {
		s.Index = k
	}
	for _, s := range t.Spaces {
		s.Makers = nil
	}
	for _, l := range t.Layers {
		t.register(l)
	}
}

func rooted(parts []Part) {
	for k := range parts {
		parts[k].Space = parts[k].Space.root()
	}
}

// register adds a layer to its spaces.
func (t *Trace) register(l *Layer) {
	channels := l.Leaf.Layer.Channels()
	made := l.Out.Parts[0].Space
	if channels.Opens || !slices.ContainsFunc(l.In.Parts, func(p Part) bool { return p.Space == made }) {
		made.Makers = append(made.Makers, l)
	}
	for _, part := range l.In.Parts {
		switch {
		case channels.Opens:
			part.Space.Users = append(part.Space.Users, l)
		case len(l.Leaf.Layer.Slots()) > 0 || channels.Groups > 0:
			part.Space.Keepers = append(part.Space.Keepers, l)
		}
	}
}
