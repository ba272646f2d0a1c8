package learn

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"graft/internal/validate"
	"graft/model"
	"graft/torch"
	"graft/torch/weights"
)

// embedderName is the tensor of a policy's file that holds its embedding.
const embedderName = "encoder.embedder.weight"

// parameter is a tensor of a policy with its name in files.
type parameter struct {
	name  string
	shape []int64
}

func (p parameter) count() int {
	n := 1
	for _, size := range p.shape {
		n *= int(size)
	}
	return n
}

// layer is a recurrent or linear layer of a policy.
type layer struct {
	name, suffix string
	in, out      int
	recurrent    bool
}

// layersOf returns the layers of a policy in PyTorch's order.
func layersOf(p torch.PolicyShape) []layer {
	return []layer{{"encoder.encoder", "", p.Embedding, p.Hidden, true},
		{"encoder.encoder", "_reverse", p.Embedding, p.Hidden, true},
		{"decider.lstm", "", 2 * p.Hidden, p.Memory, true}, {"decider.linear1", "", p.Time + p.Memory, p.Linear, false},
		{"decider.linear2", "", p.Linear, p.Linear, false}, {"decider.linear3", "", p.Linear, p.Actions, false}}
}

func (l layer) parameters() []parameter {
	in, out, gates := int64(l.in), int64(l.out), int64(4*l.out)
	if !l.recurrent {
		return []parameter{{l.name + ".weight", []int64{out, in}}, {l.name + ".bias", []int64{out}}}
	}
	return []parameter{{l.name + ".weight_ih_l0" + l.suffix, []int64{gates, in}},
		{l.name + ".weight_hh_l0" + l.suffix, []int64{gates, out}}, {l.name + ".bias_ih_l0" + l.suffix, []int64{gates}},
		{l.name + ".bias_hh_l0" + l.suffix, []int64{gates}}}
}

// parameters returns the parameters of a policy without the embedding.
func (l *Learner) parameters() (all []parameter) {
	for _, layer := range layersOf(l.policy.Shape()) {
		all = append(all, layer.parameters()...)
	}
	return all
}

// draw initialises the policy with the values that PyTorch draws, in the order of the original's layers. The original
// also drew an embedding, which the vocabulary's replaces.
func (l *Learner) draw(s *torch.Scope) error {
	var flat []float64
	take := func(t *torch.Tensor) {
		values, err := torch.Values[float32](t)
		if err != nil {
			return // the scope has the error
		}
		for _, v := range values {
			flat = append(flat, float64(v))
		}
		s.Free(t)
	}
	lost := s.Zeros(torch.Float32, torch.CPU, l.embedding.Rows(), l.embedding.Width)
	s.Normal(lost, 0, 1, l.random)
	s.Free(lost)
	for _, layer := range layersOf(l.policy.Shape()) {
		if !layer.recurrent {
			for _, t := range model.Fresh(s, model.NewLinear(layer.in, layer.out),
				model.Placement{DType: torch.Float32, Random: l.random}) {
				take(t)
			}
			continue
		}
		bound := 1 / math.Sqrt(float64(layer.out))
		for _, p := range layer.parameters() {
			t := s.Zeros(torch.Float32, torch.CPU, p.count())
			s.Uniform(t, -bound, bound, l.random)
			take(t)
		}
	}
	discarded := s.Zeros(torch.Float32, torch.CPU, l.Tree.Discarded)
	s.Uniform(discarded, 0, 1, l.random)
	s.Free(discarded)
	if s.Err() != nil {
		return s.Err()
	}
	return l.policy.Write(torch.PolicyParameters, flat)
}

// Weights returns the policy's weights in the original system's file format.
func (l *Learner) Weights() (*weights.Set, error) {
	embedding, err := weights.FromFloat32s(embedderName, []int64{int64(l.embedding.Rows()), int64(l.embedding.Width)},
		l.embedding.Values)
	if err != nil {
		return nil, err
	}
	set := &weights.Set{Tensors: []weights.Tensor{embedding}}
	return set, l.add(set, "", torch.PolicyParameters)
}

// add adds one of the policy's vectors to a set, tensor by tensor.
func (l *Learner) add(set *weights.Set, prefix string, part torch.PolicyPart) error {
	values, err := l.policy.Read(part)
	if err != nil {
		return err
	}
	for _, p := range l.parameters() {
		n := p.count()
		t := weights.Tensor{Name: prefix + p.name, DType: weights.Float32, Shape: p.shape}
		if l.sizes.Precise {
			t.DType = weights.Float64
		}
		for _, v := range values[:n] {
			if l.sizes.Precise {
				t.Data = binary.LittleEndian.AppendUint64(t.Data, math.Float64bits(v))
			} else {
				t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(float32(v)))
			}
		}
		set.Tensors, values = append(set.Tensors, t), values[n:]
	}
	return nil
}

// find collects one of the policy's vectors from a set.
func (l *Learner) find(set *weights.Set, prefix string) ([]float64, error) {
	var values []float64
	var faults validate.Faults
	for _, p := range l.parameters() {
		t, ok := set.Find(prefix + p.name)
		if !ok {
			faults = append(faults, fmt.Errorf("tensor %s is missing", prefix+p.name))
			continue
		}
		if !slices.Equal(t.Shape, p.shape) {
			faults = append(faults, fmt.Errorf("%s has shape %v, expected %v", t.Name, t.Shape, p.shape))
			continue
		}
		numbers, err := t.Float64s()
		if err != nil {
			faults = append(faults, err)
		}
		values = append(values, numbers...)
	}
	return values, errors.Join(faults...)
}

// Begin replaces the policy's parameters by the parameters in set, which belong to another policy. It keeps the
// embeddings of the vocabulary and resets the optimizer.
func (l *Learner) Begin(set *weights.Set) error {
	values, err := l.find(set, "")
	if err != nil {
		return fmt.Errorf("start from another policy: %w", err)
	}
	return l.policy.Write(torch.PolicyParameters, values)
}

// Prefixes of the tensor names in a saved learner, and the name of the tensor with the state of its random generator.
const (
	policyPrefix    = "policy/"
	firstPrefix     = "first/"
	secondPrefix    = "second/"
	generatorTensor = "generator"
)

// Save returns the state of the training: tensors, and a JSON value.
func (l *Learner) Save() (*weights.Set, []byte, error) {
	set := &weights.Set{}
	for prefix, part := range savedParts {
		if err := l.add(set, prefix, part); err != nil {
			return nil, nil, err
		}
	}
	slices.SortStableFunc(set.Tensors, func(a, b weights.Tensor) int { return strings.Compare(a.Name, b.Name) })
	state, err := l.random.State()
	if err != nil {
		return nil, nil, err
	}
	set.Tensors = append(set.Tensors, weights.Tensor{Name: generatorTensor, DType: weights.Uint8,
		Shape: []int64{int64(len(state))}, Data: state})
	text, err := json.Marshal(l.at)
	return set, text, err
}

var savedParts = map[string]torch.PolicyPart{policyPrefix: torch.PolicyParameters, firstPrefix: torch.PolicyFirst,
	secondPrefix: torch.PolicySecond}

// Restore restores a state that Save returned. The tree and the options must be the same as for the saved learner.
func (l *Learner) Restore(set *weights.Set, text []byte) error {
	if err := l.restore(set, text); err != nil {
		return fmt.Errorf("restore the policy: %w", err)
	}
	return nil
}

func (l *Learner) restore(set *weights.Set, text []byte) error {
	at := l.at
	if err := json.Unmarshal(text, &at); err != nil {
		return err
	}
	for prefix, part := range savedParts {
		values, err := l.find(set, prefix)
		if err == nil {
			err = l.policy.Write(part, values)
		}
		if err != nil {
			return err
		}
	}
	state, ok := set.Find(generatorTensor)
	if !ok {
		return fmt.Errorf("tensor %s is missing", generatorTensor)
	}
	l.at = at
	return l.random.Restore(state.Data)
}
