// Package decider says how a network is to be adapted: from the network as it is
// now and the time that is left to an action. The deciders here need no learning;
// each decision follows from the state alone, so that a job that is resumed decides
// as it would have.
package decider

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"graft/model"
	"graft/net2net"
)

// State is what a decision is made from.
type State struct {
	Network   *model.Network
	Left      time.Duration // of the budget
	Budget    time.Duration
	Decisions int     // made before this one
	Accuracy  float64 // on the validation split, as last evaluated; zero where it never was
	// Step is what a step of training takes now; zero where it is not known.
	Step time.Duration
}

// Decision is an action and how sure the decider is.
type Decision struct {
	Action net2net.Action
	// Probabilities of all actions that were weighed, where the decider has some;
	// nil means that it was certain.
	Probabilities []float64
}

// ErrOpen says that a decider leaves a decision open. A job that it is an answer to
// saves itself as it was before it asked, and ends: from there it can go on with one
// action or another.
var ErrOpen = errors.New("the decision is left open")

// Decider decides.
type Decider interface {
	// Decide chooses an action; the zero Action leaves the network alone.
	Decide(ctx context.Context, s State) (Decision, error)
}

// None leaves every network alone. The zero value is ready.
type None struct{}

// Decide chooses no action.
func (None) Decide(context.Context, State) (Decision, error) { return Decision{}, nil }

// Fixed takes the same action every time. The zero value takes none.
type Fixed struct{ Action net2net.Action }

// Decide chooses the action.
func (f Fixed) Decide(context.Context, State) (Decision, error) {
	return Decision{Action: f.Action}, nil
}

// Script takes its actions one after the other, and none when they are used up.
type Script struct{ Actions []net2net.Action }

// Decide chooses the next action.
func (s Script) Decide(_ context.Context, state State) (Decision, error) {
	if state.Decisions >= len(s.Actions) {
		return Decision{}, nil
	}
	return Decision{Action: s.Actions[state.Decisions]}, nil
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

// usualKinds are the kinds of actions of those to whom nobody says other ones.
var usualKinds = []net2net.Kind{"deepen", "widen"}

// Random takes any action that fits, or none, each as likely. The zero value draws
// from seed zero, among deepening and widening.
type Random struct {
	Seed  uint64
	Kinds []net2net.Kind // that it may take; nil means deepen and widen
	// Original deepens only, and only the blocks that the original could, by their
	// numbers, also where others were grown; false takes what Kinds says.
	Original bool
}

// Decide draws from a stream of the seed and the number of decisions before.
func (r Random) Decide(_ context.Context, s State) (Decision, error) {
	actions, err := r.choices(s.Network)
	if err != nil {
		return Decision{}, fmt.Errorf("decide at random: %w", err)
	}
	actions = append(actions, net2net.Action{})
	random := rand.New(rand.NewPCG(r.Seed, uint64(s.Decisions)))
	probabilities := make([]float64, len(actions))
	for k := range probabilities {
		probabilities[k] = 1 / float64(len(actions))
	}
	return Decision{Action: actions[random.IntN(len(actions))], Probabilities: probabilities}, nil
}

// choices are the actions that may be taken.
func (r Random) choices(n *model.Network) ([]net2net.Action, error) {
	if r.Original {
		var actions []net2net.Action
		for k := range net2net.OriginalBlocks(n) {
			actions = append(actions, net2net.Action{Kind: "deepen", Target: fmt.Sprint(k)})
		}
		return actions, nil
	}
	kinds := r.Kinds
	if kinds == nil {
		kinds = usualKinds
	}
	actions, err := net2net.Proposals(n)
	return slices.DeleteFunc(actions, func(a net2net.Action) bool { return !slices.Contains(kinds, a.Kind) }), err
}
