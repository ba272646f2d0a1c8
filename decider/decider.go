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
	Left      time.Duration // remaining budget
	Budget    time.Duration
	Decisions int     // number of earlier decisions
	Accuracy  float64 // last validation accuracy; zero before the first evaluation
	// Step is the duration of a training step with the current network; zero means unknown.
	Step time.Duration
	// StepOf returns the duration of a training step with another network; zero means unknown. If StepOf is nil, the
	// durations for all other networks are unknown.
	StepOf func(n *model.Network) time.Duration
	Curve  Curve
	// Try applies an action to a copy of the network, trains the copy for the given number of steps, and charges the
	// time to the job's budget. A nil Try means that actions cannot be tried.
	Try func(a net2net.Action, steps int) (Trial, error)
	// Gain returns the squared norm of the gradient that the new weights of an action would have on training data, and
	// charges the time of the gradient to the job's budget; see [net2net.Gain]. A nil Gain means that the job cannot
	// compute gradients.
	Gain func(a net2net.Action) (float64, error)
}

// Curve summarises the learning curve at the last complete epoch before a decision. The zero value means that the curve
// is unknown.
type Curve struct {
	Loss float64 `json:"loss"` // mean training loss over the epoch's steps, in nats
	// logarithm of the ratio of the previous epoch's loss to Loss; zero without a previous epoch
	Fall float64 `json:"fall"`
	Gap  float64 `json:"gap"` // training accuracy, measured while the weights changed, minus validation accuracy
}

// Next returns the curve after another epoch, in which the values of Loss and Gap are loss and gap.
func (c Curve) Next(loss, gap float64) Curve {
	next := Curve{Loss: loss, Gap: gap}
	if c.Loss > 0 && loss > 0 {
		next.Fall = math.Log(c.Loss / loss)
	}
	return next
}

// Decision is a chosen action, with the probabilities, trials or gains that led to it.
type Decision struct {
	Action net2net.Action
	// probability of each candidate action; nil if the decider has no probabilities
	Probabilities []float64
	Trials        []Trial // trials of the candidate actions; nil if the decider makes none
	Gains         []Gain  // gains of the candidate actions; nil if the decider computes none
	Why           string  // reason of an exception, such as a fallback; usually empty
}

// ErrOpen reports that a decider did not decide. The job then saves a checkpoint before the decision, and ends. When
// the job is resumed, its decider can choose any action.
var ErrOpen = errors.New("the decider made no decision")

// Decider chooses actions.
type Decider interface {
	// Decide chooses an action; the zero Action leaves the network unchanged.
	Decide(ctx context.Context, s State) (Decision, error)
}

// None is the decider that never changes a network.
type None struct{}

// Decide chooses the action "none".
func (None) Decide(context.Context, State) (Decision, error) { return Decision{}, nil }

// Fixed is the decider that always chooses the same action. The zero value chooses the action "none".
type Fixed struct{ Action net2net.Action }

// Decide chooses the fixed action.
func (f Fixed) Decide(context.Context, State) (Decision, error) {
	return Decision{Action: f.Action}, nil
}

// Script is the decider that chooses its actions one after the other, and then the action "none".
type Script struct{ Actions []net2net.Action }

// Decide chooses the next action.
func (s Script) Decide(_ context.Context, state State) (Decision, error) {
	if state.Decisions >= len(s.Actions) {
		return Decision{}, nil
	}
	return Decision{Action: s.Actions[state.Decisions]}, nil
}

// Likeliest returns the index of the largest probability. On a tie, it returns the lowest index.
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

// Random is the decider that chooses uniformly among the actions that fit, including "none".
type Random struct {
	Seed  uint64
	Kinds []net2net.Kind // kinds of actions to choose from; nil means deepen and widen
	// Actions lists the actions to choose from. An action is skipped if it cannot be applied to the current network
	// with the options in Surgery. Empty means all actions of Kinds, and the action "none".
	Actions []net2net.Action
	Surgery net2net.Options
	// Original restricts the choice to "none" and the actions of the original system, which deepen one of the numbered
	// blocks. The number of a block does not change when other blocks grow. False allows all actions of Kinds.
	Original bool
}

// Decide draws an action at random. The draw depends on the seed and on the number of earlier decisions.
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
		fitting := slices.DeleteFunc(slices.Clone(r.Actions), r.misfit(n))
		if len(fitting) == 0 {
			return []net2net.Action{{}}, nil
		}
		return fitting, nil
	}
	if !r.Original {
		actions, err := proposals(n, r.Kinds, r.Surgery.Form)
		if err != nil || r.Surgery.Start == "" || r.Surgery.Start == net2net.Copies {
			return actions, err
		}
		return slices.DeleteFunc(actions, r.misfit(n)), nil // some layers cannot start new units in this way
	}
	var actions []net2net.Action
	for k := range net2net.OriginalBlocks(n) {
		actions = append(actions, net2net.Action{Kind: "deepen", Target: fmt.Sprint(k)})
	}
	return append(actions, net2net.Action{}), nil
}

// misfit reports whether an action does not fit a network.
func (r Random) misfit(n *model.Network) func(net2net.Action) bool {
	return func(a net2net.Action) bool {
		_, err := net2net.Apply(n.Bare(), a, r.Surgery)
		return err != nil
	}
}

// Proposals returns the actions of the given kinds that fit a network, followed by the action "none".
func Proposals(n *model.Network, kinds []net2net.Kind) ([]net2net.Action, error) {
	return proposals(n, kinds, net2net.Auto)
}

// proposals returns the actions for a form of new blocks.
func proposals(n *model.Network, kinds []net2net.Kind, form net2net.Form) ([]net2net.Action, error) {
	if kinds == nil {
		kinds = usualKinds
	}
	actions, err := net2net.ProposalsOf(n, form)
	if err != nil {
		return nil, err
	}
	actions = slices.DeleteFunc(actions, func(a net2net.Action) bool { return !slices.Contains(kinds, a.Kind) })
	return append(actions, net2net.Action{}), nil
}
