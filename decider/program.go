package decider

import (
	"context"
	"fmt"
	"slices"

	"graft/internal/coprocess"
	"graft/internal/words"
	"graft/net2net"
)

// Program is the decider that queries a user's program. Every decision starts the program again, because state that the
// program kept from earlier decisions would be lost when a job is resumed.
type Program struct {
	Random  // choices of the program, and the seed that is sent to it
	Options coprocess.Options
}

// question is the request to a program. A time is null if it is unknown.
type question struct {
	Seed      uint64         `json:"seed"`      // seed of the job
	Decisions int            `json:"decisions"` // number of earlier decisions
	Left      float64        `json:"left_s"`    // remaining budget in seconds
	Budget    float64        `json:"budget_s"`
	Accuracy  float64        `json:"accuracy"` // last validation accuracy; zero before the first evaluation
	Curve     Curve          `json:"curve"`
	Network   map[string]any `json:"network"` // the architecture, with the keys of a network file
	Now       costOf         `json:"now"`
	Choices   []choice       `json:"choices"`
}

// costOf is the cost of a network.
type costOf struct {
	Parameters int      `json:"parameters"`
	Step       *float64 `json:"step_s"` // time of a training step in seconds
}

// choice is an action that fits, with the cost of the network after it.
type choice struct {
	Action string `json:"action"`
	costOf
}

// verdict is a program's answer.
type verdict struct {
	Action string `json:"action"`
}

// Decide asks the program to choose an action.
func (p Program) Decide(ctx context.Context, s State) (Decision, error) {
	actions, err := p.choices(s.Network)
	if err != nil {
		return Decision{}, fmt.Errorf("decide with %s: %w", p.Options.Path, err)
	}
	q := question{Seed: p.Seed, Decisions: s.Decisions, Left: s.Left.Seconds(), Budget: s.Budget.Seconds(),
		Accuracy: s.Accuracy, Curve: s.Curve, Network: s.Network.Form().Plain()}
	if q.Now, err = s.cost(net2net.Action{}, p.Surgery); err != nil {
		return Decision{}, err
	}
	for _, a := range actions {
		c, err := s.cost(a, p.Surgery)
		if err != nil {
			return Decision{}, fmt.Errorf("decide with %s: %w", p.Options.Path, err)
		}
		q.Choices = append(q.Choices, choice{a.String(), c})
	}
	answer, err := p.ask(ctx, q)
	if err != nil {
		return Decision{}, err
	}
	k := slices.IndexFunc(q.Choices, func(c choice) bool { return c.Action == answer.Action })
	if k < 0 {
		return Decision{}, fmt.Errorf("%s answered with action %q; expected one of the choices in its request: %s",
			p.Options.Path, answer.Action, words.Some(textsOf(actions), mostQuoted))
	}
	return Decision{Action: actions[k]}, nil
}

// mostQuoted is the maximum number of choices that an error lists.
const mostQuoted = 12

func textsOf(actions []net2net.Action) (texts []string) {
	for _, a := range actions {
		texts = append(texts, a.String())
	}
	return texts
}

func (p Program) ask(ctx context.Context, q question) (answer verdict, err error) {
	asked, err := coprocess.Start(ctx, p.Options, "decider", nil)
	if err != nil {
		return answer, err
	}
	defer asked.Close()
	return answer, asked.Ask(ctx, q, &answer)
}

// cost returns the cost of the network after an action.
func (s State) cost(a net2net.Action, o net2net.Options) (c costOf, err error) {
	n := s.Network
	if a.Kind != net2net.None {
		n = n.Bare()
		if _, err := net2net.Apply(n, a, o); err != nil {
			return c, err
		}
	}
	step := s.Step
	if a.Kind != net2net.None {
		step = 0
		if s.StepOf != nil {
			step = s.StepOf(n)
		}
	}
	if step > 0 {
		seconds := step.Seconds()
		c.Step = &seconds
	}
	c.Parameters = n.Parameters()
	return c, nil
}
