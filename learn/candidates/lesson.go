package candidates

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"graft/learn"
)

// Lesson shows an agent the decisions of a teacher in the states that the agent reaches (DAgger: Ross, Gordon and
// Bagnell, AISTATS 2011).
type Lesson struct {
	Env learn.Env // environment at the start of an episode
	// Right returns the teacher's actions in the current state, in any order; it returns an empty list if only the last
	// action is possible.
	Right  func() []int
	Agent  learn.Agent // agent that takes the actions; nil follows the teacher
	Follow float64     // fraction of decisions in which the teacher's action replaces the agent's action
}

// Give plays an episode. It returns each state that has a choice, with the teacher's actions and the sum of the later
// rewards.
func (l Lesson) Give(ctx context.Context, random *rand.Rand) (all []learn.Example, err error) {
	var rewards []float64
	for done := false; !done; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		o := l.Env.Observe()
		right, action := l.Right(), 0
		if len(right) > 0 {
			o.Values = slices.Clone(o.Values)
			all, rewards = append(all, learn.Example{Observation: o, Actions: right}), append(rewards, 0)
			action = l.choose(o, right, random)
		}
		out, err := l.Env.Act(action)
		if err != nil {
			return nil, fmt.Errorf("simulate a workload for imitation: %w", err)
		}
		if done = out.Done; len(rewards) > 0 {
			rewards[len(rewards)-1] += out.Reward
		}
	}
	later := 0.0
	for k := len(all) - 1; k >= 0; k-- {
		later += rewards[k]
		all[k].Return = later
	}
	return all, nil
}

// choose returns an action of the teacher or of the agent.
func (l Lesson) choose(o learn.Observation, right []int, random *rand.Rand) int {
	if l.Agent != nil && random.Float64() >= l.Follow {
		logits, _ := l.Agent.Score(o)
		return learn.Sample(learn.LogProbabilities(logits, o.Mask), random)
	}
	if len(right) == 1 {
		return right[0]
	}
	return right[random.IntN(len(right))]
}
