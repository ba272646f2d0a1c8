package decider

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"graft/model"
	"graft/net2net"
)

// State is the input of a decision.
type State struct {
	Network   *model.Network
	Left      time.Duration // of the budget
	Budget    time.Duration
	Decisions int     // made before this one
	Accuracy  float64 // on the validation split, last evaluated; zero before the first evaluation
	// Step is the time of a step of training now; zero if unknown.
	Step time.Duration
	// StepOf is the time of a step with another network, zero if unknown. Nil knows none.
	StepOf func(n *model.Network) time.Duration
	Curve  Curve
	// Try trains a copy of the network with an action for some steps, at the cost of the time that it
	// takes. Nil where nothing trains.
	Try func(a net2net.Action, steps int) (Trial, error)
}

// Curve is a summary of the learning curve up to a decision, of the last whole epoch. The zero
// value is unknown.
type Curve struct {
	Loss float64 `json:"loss"` // of training in nats, mean over the steps
	Fall float64 `json:"fall"` // logarithm of the loss in the epoch before over Loss; zero without an epoch before
	Gap  float64 `json:"gap"`  // accuracy of training, while the weights changed, less that of validation
}

// Next is the curve after another epoch.
func (c Curve) Next(loss, gap float64) Curve {
	next := Curve{Loss: loss, Gap: gap}
	if c.Loss > 0 && loss > 0 {
		next.Fall = math.Log(c.Loss / loss)
	}
	return next
}

// Decision is an action and its probability.
type Decision struct {
	Action net2net.Action
	// Probabilities of all candidate actions; nil if the decider has none.
	Probabilities []float64
	Trials        []Trial // that were made; nil if the decider makes none
}

// ErrOpen means that a decider leaves a decision open. The job then saves its state before the
// decision and ends: it can be resumed with any action.
var ErrOpen = errors.New("the decision is left open")

// Decider chooses actions.
type Decider interface {
	// Decide chooses an action; the zero Action keeps the network.
	Decide(ctx context.Context, s State) (Decision, error)
}

// None keeps every network. The zero value is ready.
type None struct{}

// Decide chooses no action.
func (None) Decide(context.Context, State) (Decision, error) { return Decision{}, nil }

// Fixed chooses the same action every time. The zero value chooses none.
type Fixed struct{ Action net2net.Action }

// Decide chooses the action.
func (f Fixed) Decide(context.Context, State) (Decision, error) {
	return Decision{Action: f.Action}, nil
}

// Script chooses its actions one after the other, and none after the last.
type Script struct{ Actions []net2net.Action }

// Decide chooses the next action.
func (s Script) Decide(_ context.Context, state State) (Decision, error) {
	if state.Decisions >= len(s.Actions) {
		return Decision{}, nil
	}
	return Decision{Action: s.Actions[state.Decisions]}, nil
}

// Likeliest is the index of the largest probability, the first of equals.
func Likeliest[F float32 | float64](probabilities []F) int {
	best := 0
	for k, p := range probabilities {
		if p > probabilities[best] {
			best = k
		}
	}
	return best
}

// usualKinds are the default kinds of actions.
var usualKinds = []net2net.Kind{"deepen", "widen"}

// Random chooses uniformly among the actions that fit and none.
type Random struct {
	Seed  uint64
	Kinds []net2net.Kind // allowed kinds; nil means deepen and widen
	// Actions are the choices, as far as they fit, done with Surgery; empty means all of Kinds,
	// and none.
	Actions []net2net.Action
	Surgery net2net.Options
	// Original deepens only the blocks that the original could, by their numbers, also
	// after others have grown; false uses Kinds.
	Original bool
}

// Decide draws from a stream of the seed and the number of earlier decisions.
func (r Random) Decide(_ context.Context, s State) (Decision, error) {
	actions, err := r.choices(s.Network)
	if err != nil {
		return Decision{}, fmt.Errorf("decide at random: %w", err)
	}
	random := rand.New(rand.NewPCG(r.Seed, uint64(s.Decisions)))
	probabilities := make([]float64, len(actions))
	for k := range probabilities {
		probabilities[k] = 1 / float64(len(actions))
	}
	return Decision{Action: actions[random.IntN(len(actions))], Probabilities: probabilities}, nil
}

func (r Random) choices(n *model.Network) ([]net2net.Action, error) {
	if len(r.Actions) > 0 {
		fitting := slices.DeleteFunc(slices.Clone(r.Actions), func(a net2net.Action) bool {
			_, err := net2net.Apply(bare(n), a, r.Surgery)
			return err != nil
		})
		if len(fitting) == 0 {
			return []net2net.Action{{}}, nil
		}
		return fitting, nil
	}
	if !r.Original {
		return Proposals(n, r.Kinds)
	}
	var actions []net2net.Action
	for k := range net2net.OriginalBlocks(n) {
		actions = append(actions, net2net.Action{Kind: "deepen", Target: fmt.Sprint(k)})
	}
	return append(actions, net2net.Action{}), nil
}

// Proposals returns the actions of some kinds that fit a network, and last, no action.
func Proposals(n *model.Network, kinds []net2net.Kind) ([]net2net.Action, error) {
	if kinds == nil {
		kinds = usualKinds
	}
	actions, err := net2net.Proposals(n)
	if err != nil {
		return nil, err
	}
	actions = slices.DeleteFunc(actions, func(a net2net.Action) bool { return !slices.Contains(kinds, a.Kind) })
	return append(actions, net2net.Action{}), nil
}
