// Package encoder encodes the tokens of a network along its edges: in each round a token receives messages from the
// tokens before and after it, on all branches of the network.
package encoder

import (
	"fmt"

	"graft/torch"
)

// Slot holds the name of an encoder's tensor in policy files, and the tensor's shape.
type Slot struct {
	Name  string
	Shape []int
}

// GraphShape holds the dimensions of a graph encoder.
type GraphShape struct {
	Values int `json:"values"` // number of values per token
	Hidden int `json:"hidden"` // number of values per encoding
	Rounds int `json:"rounds"` // number of message-passing rounds; zero means none
}

// Slots describes the tensors of the encoder: one layer that encodes the tokens, and three layers for each round. The
// three layers read the encodings of the token itself, of the tokens before it and of the tokens after it.
func (g GraphShape) Slots() []Slot {
	slots := []Slot{{"token.weight", []int{g.Hidden, g.Values}}, {"token.bias", []int{g.Hidden}}}
	for r := range g.Rounds {
		for _, from := range []string{"self", "before", "after"} {
			slots = append(slots, Slot{fmt.Sprintf("round%d.%s.weight", r, from), []int{g.Hidden, g.Hidden}})
		}
		slots = append(slots, Slot{fmt.Sprintf("round%d.bias", r), []int{g.Hidden}})
	}
	return slots
}

// Drawing is the input of a graph encoder for one network.
type Drawing struct {
	Values [][]float64 // values of each token, the same number for all
	Before [][]int     // indexes of each token's direct predecessors
	// Picks holds sets of tokens. The encoder returns the mean encoding of each set, which is zero for an empty set.
	Picks [][]int
}

// Drawings holds several networks as tensors. Smaller networks are padded, with tokens that have no edges, to the size
// of the largest network.
type Drawings struct {
	Picks int // number of picks (token sets) per network; missing picks are empty

	count                        int
	tokens, before, after, picks *torch.Tensor
}

// NewDrawings combines the inputs for several networks into one batch. The scope owns the result.
func NewDrawings(s *torch.Scope, all []Drawing) (*Drawings, error) {
	size, values := 0, 0
	d := &Drawings{count: len(all)}
	for _, one := range all {
		size, d.Picks = max(size, len(one.Values)), max(d.Picks, len(one.Picks))
		if len(one.Values) > 0 {
			values = len(one.Values[0])
		}
	}
	tokens := make([]float64, len(all)*size*values)
	before, after := newTable(len(all), size, size), newTable(len(all), size, size)
	picks := newTable(len(all), d.Picks, size)
	for g, one := range all {
		for k, row := range one.Values {
			if len(row) != values {
				return nil, fmt.Errorf("encode networks: token %d of network %d has %d values; expected %d, as in "+
					"the first token", k, g, len(row), values)
			}
			copy(tokens[(g*size+k)*values:], row)
		}
		for k, from := range one.Before {
			before.mean(g, k, from)
		}
		for k, to := range reversed(one.Before) {
			after.mean(g, k, to)
		}
		for k, set := range one.Picks {
			picks.mean(g, k, set)
		}
	}
	d.tokens = torch.From(s, tokens, len(all), size, values)
	d.before, d.after, d.picks = before.tensor(s), after.tensor(s), picks.tensor(s)
	return d, s.Err()
}

// reversed returns, for each token, its direct successors.
func reversed(before [][]int) [][]int {
	after := make([][]int, len(before))
	for k, from := range before {
		for _, f := range from {
			after[f] = append(after[f], k)
		}
	}
	return after
}

// table holds the weights of sums over tokens, one matrix per network.
type table struct {
	values              []float64
	count, rows, tokens int
}

func newTable(count, rows, tokens int) *table {
	return &table{make([]float64, count*rows*tokens), count, rows, tokens}
}

// mean sets a row to the mean over a set.
func (t *table) mean(g, row int, set []int) {
	at := t.values[(g*t.rows+row)*t.tokens:]
	for _, k := range set {
		at[k] += 1 / float64(len(set))
	}
}

func (t *table) tensor(s *torch.Scope) *torch.Tensor {
	return torch.From(s, t.values, t.count, t.rows, t.tokens)
}

// Graph is an encoder that exchanges values between each token and its neighbours for some rounds. In each round, a
// layer computes a token's new encoding from its own encoding, the mean encoding of the tokens before it and the mean
// encoding of the tokens after it.
type Graph struct {
	shape   GraphShape
	tensors []*torch.Tensor
}

// Bind creates an encoder from tensors in the order of Slots.
func (g GraphShape) Bind(tensors []*torch.Tensor) *Graph { return &Graph{g, tensors} }

// Encode returns a matrix with one row for each pick of each network. Each row is the mean encoding of the tokens in
// one pick. Gradients flow through the result.
func (g *Graph) Encode(s *torch.Scope, d *Drawings) *torch.Tensor {
	w := g.tensors
	h := s.Tanh(s.Linear(d.tokens, w[0], w[1]))
	for r := range g.shape.Rounds {
		layer := w[2+4*r : 6+4*r]
		own := s.Linear(h, layer[0], layer[3])
		before := s.MatMul(d.before, s.Linear(h, layer[1], nil))
		after := s.MatMul(d.after, s.Linear(h, layer[2], nil))
		h = s.Tanh(s.Add(s.Add(own, before), after))
	}
	return s.Reshape(s.MatMul(d.picks, h), d.count*d.Picks, g.shape.Hidden)
}
