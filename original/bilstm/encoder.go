package bilstm

import (
	"fmt"
	"slices"

	"graft/original/vocab"
	"graft/torch/weights"
)

// Encoder encodes the token vectors of a network for a policy. It is a biLSTM. Create it with [NewEncoder]. It is safe
// for concurrent use.
type Encoder struct {
	vocabulary        *vocab.Vocabulary
	forward, backward *LSTM
}

// NewEncoder returns the encoder of a policy in the original system's format: a biLSTM over the vectors of a
// vocabulary. The shapes of the tensors determine the sizes of the encoder.
func NewEncoder(v *vocab.Vocabulary, set *weights.Set) (*Encoder, error) {
	const name = "encoder.encoder"
	e := &Encoder{vocabulary: v}
	var err error
	if e.forward, err = ReadLSTM(set, name, ""); err != nil {
		return nil, err
	}
	if e.backward, err = ReadLSTM(set, name, "_reverse"); err != nil {
		return nil, err
	}
	if f, b := e.forward, e.backward; f.In() != b.In() || f.Hidden() != b.Hidden() {
		return nil, fmt.Errorf("%s maps %d numbers to %d in one direction, but %d to %d in the other; expected equal "+
			"sizes",
			name, f.In(), f.Hidden(), b.In(), b.Hidden())
	}
	if e.forward.In() != v.Size() {
		return nil, fmt.Errorf("the policy expects vectors of %d numbers, but the vocabulary %s has %d; "+
			"use the vocabulary that the policy was trained with", e.forward.In(), v.Source, v.Size())
	}
	return e, nil
}

// Hidden returns the number of outputs per layer and direction.
func (e *Encoder) Hidden() int { return e.forward.Hidden() }

// Encode looks up the vectors of tokens and runs the biLSTM over them. For each token, encoded holds the outputs of the
// LSTM that reads the tokens in order, then the outputs of the LSTM that reads them in reverse order.
func (e *Encoder) Encode(tokens []int) (vectors, encoded [][]float32, err error) {
	for _, id := range tokens {
		if id < 0 || id >= len(e.vocabulary.Vectors) {
			return nil, nil, fmt.Errorf("encode: unknown token %d; the vocabulary has %d tokens", id,
				len(e.vocabulary.Vectors))
		}
		vectors = append(vectors, e.vocabulary.Vectors[id])
	}
	there, _ := e.forward.Run(vectors)
	reversed := slices.Clone(vectors)
	slices.Reverse(reversed)
	back, _ := e.backward.Run(reversed)
	for k := range there {
		encoded = append(encoded, slices.Concat(there[k], back[len(back)-1-k]))
	}
	return vectors, encoded, nil
}
