package decider

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"graft/internal/stat"
	"graft/net2net"
)

// Trial is the evaluation of an action after some training steps on a copy of the network.
type Trial struct {
	Action   net2net.Action `json:"action"`   // action that was tried
	Loss     float64        `json:"loss"`     // validation loss, in nats
	Accuracy float64        `json:"accuracy"` // validation accuracy
}

// ErrNoTrial reports that an action cannot be tried: it does not fit, or the budget has no time left for it.
var ErrNoTrial = errors.New("the action does not fit the network, or its trial would exceed the budget")

// Trials is the decider that tries each choice: it trains a copy of the network for some steps. It takes the choice
// with the lowest validation loss; on a tie, it takes the first choice in the list. It never takes a choice whose trial
// diverged. The loss right after surgery cannot rank the choices, since surgery does not change the loss. Trials take
// time from the budget.
type Trials struct {
	Random     // decider whose choices are tried
	Steps  int // number of steps per trial; zero means DefaultTrialSteps
}

// DefaultTrialSteps is the default number of steps per trial. It is large enough for new weights to change noticeably,
// and small compared with the number of steps in an epoch.
const DefaultTrialSteps = 32

// Decide tries all choices and takes the choice with the lowest validation loss.
func (t Trials) Decide(ctx context.Context, s State) (Decision, error) {
	if s.Try == nil {
		return Decision{}, errors.New("decide by trials: this job cannot run trials; use a job that " +
			"trains in one process")
	}
	actions, err := t.choices(s.Network)
	if err != nil {
		return Decision{}, fmt.Errorf("decide by trials: %w", err)
	}
	steps := t.Steps
	if steps == 0 {
		steps = DefaultTrialSteps
	}
	var d Decision
	var diverged []string
	for _, a := range actions {
		if err := ctx.Err(); err != nil {
			return Decision{}, err
		}
		trial, err := s.Try(a, steps)
		if errors.Is(err, ErrNoTrial) {
			continue
		}
		if err != nil {
			return Decision{}, fmt.Errorf("try %s: %w", a, err)
		}
		if !stat.Finite(trial.Loss) {
			diverged = append(diverged, a.String())
			continue
		}
		d.Trials = append(d.Trials, trial)
	}
	if len(diverged) > 0 {
		d.Why = "the trials of these actions diverged: " + strings.Join(diverged, ", ")
	}
	best := -1
	for k, trial := range d.Trials {
		if best < 0 || trial.Loss < d.Trials[best].Loss {
			best = k
		}
	}
	if best >= 0 {
		d.Action = d.Trials[best].Action
	}
	return d, nil
}
