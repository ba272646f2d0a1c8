// Package bilstm implements the policies of the original system: a biLSTM over the vectors of a network's layers, an
// LSTM over its output, and three linear layers.
//
// A decision needs half a million multiplications, too few to justify calls to LibTorch. This package computes them in
// float32, with sums in float64, so evaluating a policy does not need LibTorch.
package bilstm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"graft/decider"
	"graft/model"
	"graft/net2net"
	"graft/original/vocab"
	"graft/torch/weights"
)

// Policy is a policy in the original system's format: a biLSTM over the layers of a network, an LSTM over the biLSTM's
// outputs, and three linear layers that combine the LSTM's last state and the time left. Each original block of the
// network has one action, which deepens the block. The actions are in the order of the blocks, followed by the action
// "none", which changes nothing.
//
// Create it with [New] or [Read]. It is immutable and safe for concurrent use.
type Policy struct {
	Options
	// Weights holds the weights of the policy's file, in the file's order.
	Weights    *weights.Set
	Vocabulary *vocab.Vocabulary // vocabulary that the policy was trained with

	encoder *Encoder
	memory  *LSTM
	layers  [3]*Affine
	rows    int // vectors in its file
}

// Activations holds the intermediate results of a policy for one decision, step by step.
type Activations struct {
	Tokens        []int
	Vectors       [][]float32 // vectors of the layers' tokens
	Encoded       [][]float32 // outputs of the biLSTM for each token
	State, Cells  []float32   // state of the LSTM after the last token
	Time          []float64   // encoding of the time left
	Input         []float32   // input of the linear layers: encoded time, then state
	Logits        []float32
	Probabilities []float32 // probability of each action
}

// Forward evaluates the policy on a network, given the time left and the total time budget in the same unit.
func (p *Policy) Forward(n *model.Network, left, budget float64) (*Activations, error) {
	if !(budget > 0) || math.IsInf(budget, 0) || math.IsNaN(left) || math.IsInf(left, 0) {
		return nil, fmt.Errorf("policy: the time left is %v and the budget is %v; expected finite numbers and a "+
			"budget above 0", left, budget)
	}
	tokens, err := p.tokens(n)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	t := &Activations{Tokens: tokens, Time: TimeCode(left, budget, p.Shape().Time)}
	if t.Vectors, t.Encoded, err = p.encoder.Encode(tokens); err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	states, cells := p.memory.Run(t.Encoded)
	t.State, t.Cells = states[len(states)-1], cells
	for _, v := range t.Time {
		t.Input = append(t.Input, float32(v))
	}
	t.Input = append(t.Input, t.State...)
	x := rectify(p.layers[0].Apply(t.Input))
	x = rectify(p.layers[1].Apply(x))
	t.Logits = p.layers[2].Apply(x)
	t.Probabilities = decider.Softmax(t.Logits, 1)
	return t, nil
}

// tokens returns the tokens of a network, with token 0 first if the policy learned with it. A network without layers is
// an error.
func (p *Policy) tokens(n *model.Network) ([]int, error) {
	tokens, err := p.Vocabulary.Tokens(n)
	if err != nil {
		return nil, err
	}
	if p.Prefixed() {
		tokens = append([]int{0}, tokens...)
	}
	if len(tokens) == 0 {
		return nil, fmt.Errorf("%s has no layers for the policy to read", n.Name())
	}
	return tokens, nil
}

// TimeCode returns the original system's encoding of the time left: the values 5 sin(2πi·left/budget) for i from 1 to
// size. The full budget and zero time left have the same encoding.
func TimeCode(left, budget float64, size int) []float64 {
	code := make([]float64, size)
	for i := range code {
		code[i] = 5 * math.Sin(2*math.Pi*float64(i+1)*left/budget)
	}
	return code
}

func rectify(x []float32) []float32 {
	for k := range x {
		x[k] = max(x[k], 0)
	}
	return x
}

// Temper returns the probabilities with which the original system samples actions. For a temperature above 1, it
// divides the probabilities, not the logits, by the temperature and returns their softmax, so that no action gets a
// probability close to 1. For a temperature up to 1 the probabilities are unchanged.
func Temper(probabilities []float32, temperature float64) []float32 {
	if temperature <= 1 {
		return probabilities
	}
	return decider.Softmax(probabilities, temperature)
}

// Actions returns the original system's actions for a network, in the order of the policy's outputs: an action for each
// original block of the network, and at the end the action "none", which changes nothing.
func Actions(n *model.Network) []net2net.Action {
	var actions []net2net.Action
	for _, path := range net2net.OriginalBlocks(n) {
		actions = append(actions, net2net.Action{Kind: "deepen", Target: path})
	}
	return append(actions, net2net.Action{})
}

// FitsBlocks returns an error unless the number of the policy's actions is one more than the number of the network's
// original blocks.
func (p *Policy) FitsBlocks(n *model.Network) error {
	if blocks := len(net2net.OriginalBlocks(n)); blocks+1 != p.Shape().Actions {
		return fmt.Errorf("the policy chooses among %d actions, but %s has %d actions: \"none\", "+
			"and one action for each of the network's %d marked blocks; use another policy or another network",
			p.Shape().Actions, n.Name(), blocks+1, blocks)
	}
	return nil
}

// Fits returns an error if the policy cannot choose actions for a network because its actions or its vocabulary do not
// match.
func (p *Policy) Fits(n *model.Network) error {
	if err := p.FitsBlocks(n); err != nil {
		return err
	}
	_, err := p.tokens(n)
	return err
}

// FitsGrown returns an error if the policy cannot choose actions for a network, or for a network that results from one
// of these actions. The network n needs no weights.
func (p *Policy) FitsGrown(n *model.Network, surgery net2net.Options) error {
	if err := p.Fits(n); err != nil {
		return err
	}
	for _, a := range Actions(n) {
		grown := n.Sketch()
		if _, err := net2net.Apply(grown, a, surgery); err != nil {
			return err
		}
		if err := p.Fits(grown); err != nil {
			return fmt.Errorf("after action %s: %w", a, err)
		}
	}
	return nil
}

// Digest returns a SHA-256 of the policy and its vocabulary, in hexadecimal. The digest does not cover the options.
func (p *Policy) Digest() (string, error) {
	h := sha256.New()
	err := errors.Join(p.Weights.WriteContents(h), p.Vocabulary.Format(h))
	return hex.EncodeToString(h.Sum(nil)), err
}

// Decide returns the most likely action. If Options.Sample is true, it samples an action with a random generator seeded
// by the seed and the decision's number.
func (p *Policy) Decide(_ context.Context, s decider.State) (decider.Decision, error) {
	if s.Network == nil {
		return decider.Decision{}, errors.New("policy: no network given")
	}
	if err := p.Fits(s.Network); err != nil {
		return decider.Decision{}, err
	}
	t, err := p.Forward(s.Network, s.Left.Seconds(), s.Budget.Seconds())
	if err != nil {
		return decider.Decision{}, err
	}
	weighed, k := t.Probabilities, decider.Likeliest(t.Probabilities)
	if p.Sample {
		weighed = Temper(weighed, p.Temperature)
		k = decider.SampleIndex(weighed, rand.New(rand.NewPCG(p.Seed, uint64(s.Decisions))))
	}
	decision := decider.Decision{Action: Actions(s.Network)[k]}
	for _, share := range weighed {
		decision.Probabilities = append(decision.Probabilities, float64(share))
	}
	return decision, nil
}
