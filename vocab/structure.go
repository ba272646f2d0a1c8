package vocab

import (
	"fmt"

	"graft/model"
	"graft/tracing"
)

// Structure describes a network as a graph of tokens, one per layer. Each sum and each concatenation of branches also
// has a token.
type Structure struct {
	Tokens []Token
	Before [][]int // indexes of each token's direct predecessors
	After  [][]int // indexes of each token's direct successors

	layers map[*tracing.Layer]int
	nodes  map[int]int // tokens of a graph's nodes
}

// ReadStructure returns the structure of a traced network.
func ReadStructure(t *tracing.Trace) (*Structure, error) {
	r := &reader{structure: &Structure{layers: make(map[*tracing.Layer]int, len(t.Layers))}, trace: t}
	if _, err := model.Run[wire](t.Network, wire{-1, t.Network.Input}, r); err != nil {
		return nil, fmt.Errorf("read the structure of %s: %w", t.Network.Name(), err)
	}
	r.structure.place()
	return r.structure, nil
}

// Token returns the index of a layer's token, and false if the layer has none.
func (s *Structure) Token(l *tracing.Layer) (int, bool) {
	k, ok := s.layers[l]
	return k, ok
}

// wire is a connection: its source token, negative for the input, and the shape of its values.
type wire struct {
	token int
	shape model.Shape
}

// reader is the algebra that collects tokens, in running order.
type reader struct {
	structure *Structure
	trace     *tracing.Trace
	seen      int // layers so far
	grown     int // enclosing containers that surgery added
}

// Enter increments the count of enclosing containers that surgery added, if c is one of them.
func (r *reader) Enter(_ string, c *model.Container) {
	if c.Mark == model.Grown {
		r.grown++
	}
}

// Leave decrements the count of enclosing containers that surgery added, if c is one of them.
func (r *reader) Leave(_ string, c *model.Container, _ wire) error {
	if c.Mark == model.Grown {
		r.grown--
	}
	return nil
}

// Layer adds a token for a layer.
func (r *reader) Layer(at model.Place, leaf *model.Leaf, in wire) (wire, error) {
	out, err := leaf.Layer.Infer(in.shape)
	if err != nil {
		return wire{}, err
	}
	r.structure.layers[r.trace.Layers[r.seen]] = len(r.structure.Tokens)
	r.seen++
	return r.add(newToken(at.Path, leaf.Layer, in.shape, out, r.grown > 0), out, in), nil
}

// Sum adds a token for the sum of two branches.
func (r *reader) Sum(_ string, body, shortcut wire) (wire, error) {
	t := Token{Kind: Sum, In: body.shape[0], Operations: int64(body.shape.Count())}
	return r.join(t, body.shape, body, shortcut), nil
}

// Cat adds a token for the concatenation of branches.
func (r *reader) Cat(_ string, parts []wire) (wire, error) {
	out := append(model.Shape{0}, parts[0].shape[1:]...)
	for _, part := range parts {
		out[0] += part.shape[0]
	}
	return r.join(Token{Kind: Cat, In: out[0]}, out, parts...), nil
}

func (r *reader) join(t Token, out model.Shape, from ...wire) wire {
	t.Out, t.From, t.To, t.Stride, t.Grown = out[0], positions(out), positions(out), 1, r.grown > 0
	return r.add(t, out, from...)
}

func (r *reader) add(t Token, out model.Shape, from ...wire) wire {
	s, k := r.structure, len(r.structure.Tokens)
	s.Tokens, s.Before, s.After = append(s.Tokens, t), append(s.Before, nil), append(s.After, nil)
	for _, f := range from {
		if f.token >= 0 {
			s.Before[k] = append(s.Before[k], f.token)
			s.After[f.token] = append(s.After[f.token], k)
		}
	}
	return wire{k, out}
}

// place computes the longest paths from the input and to the output.
func (s *Structure) place() {
	for k := range s.Tokens {
		for _, from := range s.Before[k] {
			s.Tokens[k].Before = max(s.Tokens[k].Before, s.Tokens[from].Before+1)
		}
	}
	for k := len(s.Tokens) - 1; k >= 0; k-- {
		for _, to := range s.After[k] {
			s.Tokens[k].After = max(s.Tokens[k].After, s.Tokens[to].After+1)
		}
	}
}
