package decider

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"graft/encoder"
	"graft/model"
	"graft/net2net"
	"graft/torch/weights"
	"graft/tracing"
	"graft/vocab"
)

// LegacyPolicy is a policy of the original: a biLSTM over the layers of a network, an
// LSTM over what that made of them, and three linear layers that weigh its last state
// and the time that is left. Its actions are to deepen the first, second and so on of
// the blocks that the network was made with, and at last to leave it alone.
//
// It is made by NewLegacyPolicy or ReadLegacyPolicy, is not changed by use, and can
// be used by several goroutines at a time.
type LegacyPolicy struct {
	LegacyOptions
	// Weights are those of its file, in the file's order.
	Weights    *weights.Set
	Vocabulary *vocab.Vocabulary // that it learned with

	encoder *encoder.Encoder
	memory  *encoder.LSTM
	layers  [3]*encoder.Affine
	rows    int // of the vectors in its file
}

// Thought is all that a policy makes of a network and a time, step by step.
type Thought struct {
	Tokens        []int
	Vectors       [][]float32 // of the tokens
	Encoded       [][]float32 // by the biLSTM
	State, Cells  []float32   // of the LSTM, after the last layer
	Time          []float64   // the code of the time left
	Input         []float32   // of the linear layers: time, then state
	Logits        []float32
	Probabilities []float32 // of the actions
}

// Think reads a network without changing it. The times are of any one unit.
func (p *LegacyPolicy) Think(n *model.Network, left, budget float64) (*Thought, error) {
	if !(budget > 0) || math.IsInf(budget, 0) || math.IsNaN(left) || math.IsInf(left, 0) {
		return nil, fmt.Errorf("policy: %v of a budget of %v is no time", left, budget)
	}
	tokens, err := p.tokens(n)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	t := &Thought{Tokens: tokens, Time: LegacyTime(left, budget, p.Shape().Time)}
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
	t.Probabilities = Shares(t.Logits, 1)
	return t, nil
}

// tokens are those of a network, behind token 0 where the policy learned with it.
func (p *LegacyPolicy) tokens(n *model.Network) ([]int, error) {
	tokens, err := p.Vocabulary.Tokens(n)
	if err != nil {
		return nil, err
	}
	if p.Prefixed() {
		tokens = append([]int{0}, tokens...)
	}
	if len(tokens) == 0 {
		return nil, fmt.Errorf("%s has no layers to read", n.Name())
	}
	return tokens, nil
}

// LegacyTime is the original's code of the time left: 5 sin(2πi·left/budget) for i
// from 1 on. The whole budget and none of it look alike.
func LegacyTime(left, budget float64, size int) []float64 {
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

// LegacyTemper is what the original drew from while it learned at a temperature above
// 1: the softmax of probabilities, and not of logits, over the temperature, so that
// no action can be nearly sure. At 1 and below the probabilities stay.
func LegacyTemper(probabilities []float32, temperature float64) []float32 {
	if temperature <= 1 {
		return probabilities
	}
	return Shares(probabilities, temperature)
}

// Likeliest is the place of the largest probability, the first of equals.
func Likeliest[F float32 | float64](probabilities []F) int {
	best := 0
	for k, p := range probabilities {
		if p > probabilities[best] {
			best = k
		}
	}
	return best
}

// LegacyActions are the actions of the original on a network, in the order of its
// numbers: each block that the network was made with, and at last none.
func LegacyActions(n *model.Network) []net2net.Action {
	var actions []net2net.Action
	for _, path := range tracing.LegacyBlocks(n) {
		actions = append(actions, net2net.Action{Kind: "deepen", Target: path})
	}
	return append(actions, net2net.Action{})
}

// FitsBlocks says why the policy's actions are not those of a network; nil where they
// are.
func (p *LegacyPolicy) FitsBlocks(n *model.Network) error {
	if blocks := len(tracing.LegacyBlocks(n)); blocks+1 != p.Shape().Actions {
		return fmt.Errorf("the policy chooses among %d actions, and %s has %d, one for each of its %d marked blocks and none; take another policy or another network",
			p.Shape().Actions, n.Name(), blocks+1, blocks)
	}
	return nil
}

// Fits says why the policy cannot decide about a network; nil where it can.
func (p *LegacyPolicy) Fits(n *model.Network) error {
	if err := p.FitsBlocks(n); err != nil {
		return err
	}
	_, err := p.tokens(n)
	return err
}

// FitsGrown says why the policy could not decide about a network without weights, or
// again after one of its actions; nil where it could.
func (p *LegacyPolicy) FitsGrown(n *model.Network, surgery net2net.Options) error {
	if err := p.Fits(n); err != nil {
		return err
	}
	for _, a := range LegacyActions(n) {
		grown := n.Sketch()
		if _, err := net2net.Apply(grown, a, surgery); err != nil {
			return err
		}
		if err := p.Fits(grown); err != nil {
			return fmt.Errorf("after %s: %w", a, err)
		}
	}
	return nil
}

// Decide takes the likeliest action, or draws one from a stream of the seed and the
// number of decisions before.
func (p *LegacyPolicy) Decide(_ context.Context, s State) (Decision, error) {
	if s.Network == nil {
		return Decision{}, errors.New("policy: there is no network to decide about")
	}
	if err := p.Fits(s.Network); err != nil {
		return Decision{}, err
	}
	t, err := p.Think(s.Network, s.Left.Seconds(), s.Budget.Seconds())
	if err != nil {
		return Decision{}, err
	}
	weighed, k := t.Probabilities, Likeliest(t.Probabilities)
	if p.Sample {
		weighed = LegacyTemper(weighed, p.Temperature)
		k = DrawShare(weighed, rand.New(rand.NewPCG(p.Seed, uint64(s.Decisions))))
	}
	decision := Decision{Action: LegacyActions(s.Network)[k]}
	for _, share := range weighed {
		decision.Probabilities = append(decision.Probabilities, float64(share))
	}
	return decision, nil
}
