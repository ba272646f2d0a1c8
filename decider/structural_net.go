package decider

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"

	"graft/encoder"
	"graft/internal/validate"
	"graft/model"
	"graft/torch"
)

// StructuralShape holds the sizes of a structural policy's own network.
type StructuralShape struct {
	Hidden int // Width of the graph encoder's outputs and of the hidden layers. Zero means 32.
	Rounds int // Number of message-passing rounds of the graph encoder. Zero means 2.
}

// EnsureDefaults fills unset sizes.
func (o *StructuralShape) EnsureDefaults() {
	o.Hidden, o.Rounds = cmp.Or(o.Hidden, 32), cmp.Or(o.Rounds, 2)
}

// Limits of the sizes, far above useful sizes, to detect damaged files.
const (
	mostHidden  = 4096
	mostRounds  = 64
	mostMembers = 1024
)

// Validate returns an error that lists every invalid size.
func (o StructuralShape) Validate() error {
	var faults validate.Faults
	faults.When(o.Hidden < 1 || o.Hidden > mostHidden, "hidden is %d; must be between 1 and %d", o.Hidden, mostHidden)
	faults.When(o.Rounds < 1 || o.Rounds > mostRounds, "rounds is %d; must be between 1 and %d", o.Rounds, mostRounds)
	return errors.Join(faults...)
}

// graph is the shape of the encoder for tokens of a number of values.
func (o StructuralShape) graph(values int) encoder.GraphShape {
	return encoder.GraphShape{Values: values, Hidden: o.Hidden, Rounds: o.Rounds}
}

// slots returns the tensors of a member: the encoder's, then the scorer's.
func (o StructuralShape) slots(values, rows int) []encoder.Slot {
	h := o.Hidden
	return append(o.graph(values).Slots(), encoder.Slot{Name: "target.weight", Shape: []int{h, h}},
		encoder.Slot{Name: "whole.weight", Shape: []int{h, h}}, encoder.Slot{Name: rowWeights, Shape: []int{h, rows}},
		encoder.Slot{Name: "row.bias", Shape: []int{h}}, encoder.Slot{Name: "hidden.weight", Shape: []int{h, h}},
		encoder.Slot{Name: "hidden.bias", Shape: []int{h}}, encoder.Slot{Name: "score.weight", Shape: []int{1, h}})
}

// rowWeights is the slot with a column for each feature.
const rowWeights = "row.weight"

// scorers is the number of the scorer's slots.
const scorers = 7

// drawMember draws a member's values: uniform within one over the square root of the fan-in, as PyTorch does. Biases
// are zero.
func drawMember(slots []encoder.Slot, seed uint64) [][]float64 {
	random := rand.New(rand.NewPCG(seed, 0x706f6c696379)) // a stream used only for policies
	values := make([][]float64, len(slots))
	for k, slot := range slots {
		values[k] = make([]float64, model.Shape(slot.Shape).Count())
		if len(slot.Shape) < 2 {
			continue
		}
		bound := 1 / math.Sqrt(float64(slot.Shape[1]))
		for j := range values[k] {
			values[k][j] = (2*random.Float64() - 1) * bound
		}
	}
	return values
}

// member holds a network of a policy as tensors.
type member struct {
	graph   *encoder.Graph
	tensors []*torch.Tensor
}

func (p *Structural) member(s *torch.Scope, values [][]float64) *member {
	m := &member{}
	for k, slot := range p.slots() {
		m.tensors = append(m.tensors, torch.From(s, values[k], slot.Shape...))
	}
	m.graph = p.graph(len(p.tokenNames())).Bind(m.tensors[:len(m.tensors)-scorers])
	return m
}

// logits scores each choice from the encodings of its tokens and of the network, and its row.
func (m *member) logits(s *torch.Scope, b *tensors) *torch.Tensor {
	w := m.tensors[len(m.tensors)-scorers:]
	encoded := m.graph.Encode(s, b.drawings)
	target := s.IndexSelect(s.Linear(encoded, w[0], nil), 0, b.targets)
	whole := s.IndexSelect(s.Linear(encoded, w[1], nil), 0, b.whole)
	h := s.Tanh(s.Add(s.Add(target, whole), s.Linear(b.rows, w[2], w[3])))
	h = s.Tanh(s.Linear(h, w[4], w[5]))
	return s.Reshape(s.Linear(h, w[6], nil), b.count)
}
