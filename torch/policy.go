package torch

// #include "graft.h"
import "C"

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"
)

// PolicyShape holds the sizes of a policy network. The network embeds tokens and feeds the embeddings to a
// bidirectional recurrent layer, whose outputs go to a second recurrent layer. Three linear layers read the second
// layer's last output and the encoded remaining time.
type PolicyShape struct {
	Tokens    int  // number of different tokens
	Embedding int  // number of values per embedding
	Hidden    int  // units of the first recurrent layer, in each direction
	Memory    int  // units of the second recurrent layer
	Linear    int  // number of values between the linear layers
	Time      int  // number of values that encode the remaining time
	Actions   int  // number of actions to choose from
	Precise   bool // computes in float64 if true, otherwise in float32
}

func (p PolicyShape) code() C.graft_policy_shape {
	return C.graft_policy_shape{tokens: C.int64_t(p.Tokens), embedding: C.int64_t(p.Embedding),
		hidden: C.int64_t(p.Hidden), memory: C.int64_t(p.Memory), linear: C.int64_t(p.Linear), time: C.int64_t(p.Time),
		actions: C.int64_t(p.Actions), precise: C.int32_t(flag(p.Precise))}
}

// PolicyTree holds the states in which a policy decides, and the state that follows each action. Episodes start in
// state 0 and all have the same number of decisions.
type PolicyTree struct {
	Tokens [][]int32   // tokens that describe each state
	Time   [][]float64 // encoded remaining time in each state
	// Children holds, for each state and action, the index of the next state, or -1 - k if the episode ends with the
	// reward Rewards[k]. The index of the next state is larger than the index of this state.
	Children [][]int32
	Rewards  []float64
	// Skips holds, for each state and action, how many random numbers Learn discards after the action. Nil means none.
	Skips [][]int32
}

// PolicyRule configures the training of a policy. No option has a default.
type PolicyRule struct {
	LRDecay   float64 // factor of the learning rate, applied every LREvery episodes
	LRLeast   float64 // minimum of the learning rate
	LREvery   int
	HeatDecay float64 // factor of the temperature, applied every HeatEvery episodes, down to 1
	HeatEvery int
	// weight of each new reward in the running mean that is subtracted from rewards as a baseline; zero means no
	// baseline
	Baseline float64
	Entropy  float64 // weight of the entropy relative to the reward
	Batch    int     // number of episodes per step
	Beta1    float64 // decay of Adam's first moment
	Beta2    float64 // decay of Adam's second moment
	Eps      float64 // Adam's epsilon
}

func (r PolicyRule) code() C.graft_policy_rule {
	return C.graft_policy_rule{lr_decay: C.double(r.LRDecay), lr_least: C.double(r.LRLeast),
		heat_decay: C.double(r.HeatDecay), baseline: C.double(r.Baseline), entropy: C.double(r.Entropy),
		beta1: C.double(r.Beta1), beta2: C.double(r.Beta2), eps: C.double(r.Eps),
		lr_every: C.int64_t(r.LREvery), heat_every: C.int64_t(r.HeatEvery), batch: C.int64_t(r.Batch)}
}

// PolicyProgress is the state of a policy's training, except parameters and moments.
type PolicyProgress struct {
	Episodes    int64   `json:"episodes"` // number of episodes learned from
	Steps       int64   `json:"steps"`    // number of Adam steps taken
	LR          float64 `json:"lr"`       // learning rate of the next step
	Temperature float64 `json:"temperature"`
	Baseline    float64 `json:"baseline"` // running mean of the rewards
	Based       bool    `json:"based"`    // whether Baseline holds a value
}

func (p PolicyProgress) code() C.graft_policy_progress {
	return C.graft_policy_progress{episodes: C.int64_t(p.Episodes), steps: C.int64_t(p.Steps),
		based: C.int64_t(flag(p.Based)), lr: C.double(p.LR), temperature: C.double(p.Temperature),
		baseline: C.double(p.Baseline)}
}

func (p *PolicyProgress) take(c C.graft_policy_progress) {
	*p = PolicyProgress{Episodes: int64(c.episodes), Steps: int64(c.steps), Based: c.based != 0, LR: float64(c.lr),
		Temperature: float64(c.temperature), Baseline: float64(c.baseline)}
}

// PolicyPart selects a vector of a policy: its parameters, a moment or the gradient.
type PolicyPart int32

// The vectors, each with PyTorch's order and layout of parameters.
const (
	PolicyParameters PolicyPart = C.GRAFT_POLICY_PARAMETERS
	PolicyFirst      PolicyPart = C.GRAFT_POLICY_FIRST    // first moments of Adam
	PolicySecond     PolicyPart = C.GRAFT_POLICY_SECOND   // second moments of Adam
	PolicyGradient   PolicyPart = C.GRAFT_POLICY_GRADIENT // most recent gradient
)

// Policy is a policy network with its parameters and the moments of its optimizer. Its parameters have PyTorch's order:
// for each recurrent layer and direction weight_ih, weight_hh, bias_ih, bias_hh; then weight and bias of the linear
// layers. Only one goroutine may use it at a time.
type Policy struct {
	handle C.graft_policy
	shape  PolicyShape
	tree   *PolicyTree // nil before Grow
}

// NewPolicy creates a policy whose parameters and moments are zero. The embeddings, one row per token, are fixed. The
// scope owns the policy.
func (s *Scope) NewPolicy(shape PolicyShape, embedding []float64) (*Policy, error) {
	return s.newPolicy(shape, embedding, 0)
}

// newPolicy makes a policy for a set of the processor's instructions; zero means the widest.
func (s *Scope) newPolicy(shape PolicyShape, embedding []float64, instructions int) (*Policy, error) {
	const op = "make policy"
	if !s.ready(op, nil) {
		return nil, s.Err()
	}
	if len(embedding) == 0 || len(embedding) != shape.Tokens*shape.Embedding {
		return nil, &Error{Op: op, Cause: fmt.Errorf("got %d values, expected %d embeddings of %d values",
			len(embedding), shape.Tokens, shape.Embedding), kind: ErrShape}
	}
	p := &Policy{shape: shape}
	c := shape.code()
	c.instructions = C.int32_t(instructions)
	if err := take(op, C.graft_policy_new(&c, doubles(embedding), &p.handle)); err != nil {
		return nil, err
	}
	s.hold(p)
	return p, nil
}

func (p *Policy) release() {
	C.graft_policy_close(p.handle)
	p.handle = nil
}

func (p *Policy) ready(op string) error {
	if p.handle == nil {
		return &Error{Op: op, Cause: errors.New("the policy's scope is closed"), kind: ErrClosed}
	}
	return nil
}

func (p *Policy) grown(op string) error {
	if err := p.ready(op); err != nil {
		return err
	}
	if p.tree == nil {
		return &Error{Op: op, Cause: errors.New("the policy has no tree of decision states"),
			Remedy: "add one with Grow"}
	}
	return nil
}

func doubles(values []float64) *C.double { return (*C.double)(unsafe.SliceData(values)) }

func int32s(values []int32) *C.int32_t { return (*C.int32_t)(unsafe.SliceData(values)) }

// Shape returns the policy's sizes.
func (p *Policy) Shape() PolicyShape { return p.shape }

// Read returns a copy of the vector that part selects.
func (p *Policy) Read(part PolicyPart) ([]float64, error) {
	const op = "read policy"
	if err := p.ready(op); err != nil {
		return nil, err
	}
	if part < PolicyParameters || part > PolicyGradient {
		return nil, &Error{Op: op, Cause: fmt.Errorf("unknown part %d of a policy", part)}
	}
	values := make([]float64, int(C.graft_policy_parameters(p.handle)))
	return values, take(op, C.graft_policy_read(p.handle, C.int32_t(part), doubles(values)))
}

// Write replaces the vector that part selects.
func (p *Policy) Write(part PolicyPart, values []float64) error {
	const op = "write policy"
	if err := p.ready(op); err != nil {
		return err
	}
	if n := int(C.graft_policy_parameters(p.handle)); len(values) != n || part < PolicyParameters ||
		part > PolicyGradient {
		return &Error{Op: op, Cause: fmt.Errorf("got %d values for part %d of the policy, expected %d", len(values),
			part, n), kind: ErrShape}
	}
	return take(op, C.graft_policy_write(p.handle, C.int32_t(part), doubles(values)))
}

// Grow replaces the tree of states in which the policy decides.
func (p *Policy) Grow(t *PolicyTree) error {
	const op = "set the states of a policy"
	if err := p.ready(op); err != nil {
		return err
	}
	if err := t.check(p.shape); err != nil {
		return &Error{Op: op, Cause: err, kind: ErrShape}
	}
	offsets := make([]C.int64_t, len(t.Tokens)+1)
	for k, tokens := range t.Tokens {
		offsets[k+1] = offsets[k] + C.int64_t(len(tokens))
	}
	message := C.graft_policy_grow(p.handle, C.int64_t(len(t.Tokens)), C.int64_t(len(t.Rewards)),
		int32s(slices.Concat(t.Tokens...)), unsafe.SliceData(offsets), doubles(slices.Concat(t.Time...)),
		int32s(slices.Concat(t.Children...)), doubles(t.Rewards), int32s(slices.Concat(t.Skips...)))
	if err := take(op, message); err != nil {
		return err
	}
	p.tree = t
	return nil
}

// check compares the lists of a tree with each other and with the policy's sizes.
func (t *PolicyTree) check(shape PolicyShape) error {
	if len(t.Tokens) == 0 || len(t.Time) != len(t.Tokens) || len(t.Children) != len(t.Tokens) ||
		t.Skips != nil && len(t.Skips) != len(t.Tokens) {
		return fmt.Errorf("got %d token lists, %d time lists, %d child lists and %d lists of skip counts; "+
			"expected the same number of each", len(t.Tokens), len(t.Time), len(t.Children), len(t.Skips))
	}
	for k := range t.Tokens {
		if len(t.Time[k]) != shape.Time || len(t.Children[k]) != shape.Actions {
			return fmt.Errorf("state %d has %d time values and %d children, expected %d and %d", k, len(t.Time[k]),
				len(t.Children[k]), shape.Time, shape.Actions)
		}
		if t.Skips != nil && len(t.Skips[k]) != shape.Actions {
			return fmt.Errorf("state %d has skip counts for %d actions, expected %d", k, len(t.Skips[k]),
				shape.Actions)
		}
	}
	return nil
}

// Probabilities returns the probability of each action in each of the given states. The states must be distinct.
func (p *Policy) Probabilities(states []int32, temperature float64) ([][]float64, error) {
	const op = "ask policy"
	if err := p.grown(op); err != nil {
		return nil, err
	}
	flat := make([]float64, len(states)*p.shape.Actions)
	if err := take(op, C.graft_policy_probabilities(p.handle, C.int64_t(len(states)), int32s(states),
		C.double(temperature), doubles(flat))); err != nil {
		return nil, err
	}
	rows := make([][]float64, len(states))
	for k := range rows {
		rows[k] = flat[k*p.shape.Actions : (k+1)*p.shape.Actions]
	}
	return rows, nil
}

// Gradient computes the gradient of a weighted sum of log probabilities over all states and actions. The coefficients
// are the weights. Read returns the gradient, and Step descends along it.
func (p *Policy) Gradient(states []int32, coefficients [][]float64, temperature float64) error {
	const op = "policy gradient"
	if err := p.grown(op); err != nil {
		return err
	}
	flat := slices.Concat(coefficients...)
	if len(coefficients) != len(states) || len(flat) != len(states)*p.shape.Actions {
		return &Error{Op: op, Cause: fmt.Errorf("got %d coefficients for %d states with %d actions each; expected "+
			"one per state and action", len(flat),
			len(states), p.shape.Actions), kind: ErrShape}
	}
	return take(op, C.graft_policy_gradient(p.handle, C.int64_t(len(states)), int32s(states), C.double(temperature),
		doubles(flat)))
}

// Expect returns the expected reward of an episode and the probability of each final state. It also computes the exact
// expected gradient of an episode, without a baseline; the parameter entropy is the weight of the entropy in the
// objective.
func (p *Policy) Expect(temperature, entropy float64) (reward float64, ends []float64, err error) {
	const op = "compute the expectation of a policy"
	if err := p.grown(op); err != nil {
		return 0, nil, err
	}
	ends = make([]float64, len(p.tree.Rewards))
	var out C.double
	err = take(op, C.graft_policy_expect(p.handle, C.double(temperature), C.double(entropy), doubles(ends), &out))
	return float64(out), ends, err
}

// Step takes one step of Adam along the gradient that Gradient or Expect computed last.
func (p *Policy) Step(rule PolicyRule, at *PolicyProgress) error {
	const op = "train a step of a policy"
	if err := p.ready(op); err != nil {
		return err
	}
	r, c := rule.code(), at.code()
	err := take(op, C.graft_policy_step(p.handle, &r, &c))
	at.take(c)
	return err
}

// Episodes holds the results of Learn, one value per episode.
type Episodes struct {
	Ends []int32 // end of each episode, as an index of PolicyTree.Rewards
	// objective of each episode: the mean over its decisions of -log(probability) · reward
	Objectives []float64
}

// Learn plays the given number of episodes and trains the policy on them. If random is nil, it uses LibTorch's own
// generator.
func (p *Policy) Learn(episodes int, random *Generator, rule PolicyRule, at *PolicyProgress) (Episodes, error) {
	const op = "learn"
	if err := p.grown(op); err != nil {
		return Episodes{}, err
	}
	if random != nil && random.handle == nil {
		return Episodes{}, &Error{Op: op, Cause: errors.New("the generator's scope is closed"), kind: ErrClosed}
	}
	if episodes < 0 {
		return Episodes{}, &Error{Op: op, Cause: fmt.Errorf("episodes is %d; must not be negative", episodes),
			kind: ErrShape}
	}
	e := Episodes{Ends: make([]int32, episodes), Objectives: make([]float64, episodes)}
	r, c := rule.code(), at.code()
	message := C.graft_policy_learn(p.handle, random.pointer(), C.int64_t(episodes), &r, &c, int32s(e.Ends),
		doubles(e.Objectives))
	at.take(c)
	return e, take(op, message)
}

// Ascend takes steps along the exact gradient of the expected reward, and returns the expected reward before each step.
func (p *Policy) Ascend(steps int, rule PolicyRule, at *PolicyProgress) ([]float64, error) {
	const op = "learn exactly"
	if err := p.grown(op); err != nil {
		return nil, err
	}
	if steps < 0 {
		return nil, &Error{Op: op, Cause: fmt.Errorf("steps is %d; must not be negative", steps), kind: ErrShape}
	}
	rewards := make([]float64, steps)
	r, c := rule.code(), at.code()
	message := C.graft_policy_ascend(p.handle, C.int64_t(steps), &r, &c, doubles(rewards))
	at.take(c)
	return rewards, take(op, message)
}
