package agent

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"graft/cluster/node"
	"graft/learn"
)

// Lesson shows an agent the decisions of a teacher in the states that the agent reaches (Ross, Gordon and Bagnell,
// AISTATS 2011).
type Lesson struct {
	Teacher node.Scheduler // scheduler to imitate; it must decide from the machine's state alone
	Agent   learn.Agent    // agent that takes the actions; nil follows the teacher
	Follow  float64        // fraction of decisions in which the teacher's action replaces the agent's action
}

// Give plays one episode and returns each state with the teacher's action. Call [Env.Reset] first.
func (l *Lesson) Give(ctx context.Context, e *Env, random *rand.Rand) (all []learn.Example, err error) {
	var rewards []float64
	for done := false; !done; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		o := e.Observe()
		right, n := l.right(e), len(e.state.candidates)
		o.Values = slices.Clone(o.Values)
		action := right
		if n > 0 {
			all = append(all, learn.Example{Observation: o, Actions: []int{right}})
			if l.Agent != nil && random.Float64() >= l.Follow {
				logits, _ := l.Agent.Score(o)
				action = learn.Sample(learn.LogProbabilities(logits, o.Mask), random)
			}
		}
		out, err := e.Act(action)
		if err != nil {
			return nil, fmt.Errorf("simulate a workload for imitation: %w", err)
		}
		done = out.Done
		if n > 0 {
			rewards = append(rewards, 0)
		}
		if len(rewards) > 0 {
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

// right returns the teacher's action.
func (l *Lesson) right(e *Env) int {
	d := l.Teacher.Decide(e.world.Machine)
	for k, c := range e.state.candidates {
		if c.task == d.Start && (c.on == d.On || same(c.on, d.On)) {
			return k
		}
	}
	return len(e.state.candidates)
}

// same reports whether two devices are empty and equal.
func same(a, b *node.Device) bool {
	return a.Used == 0 && b.Used == 0 && len(a.Tasks) == 0 && len(b.Tasks) == 0 && a.Memory == b.Memory &&
		a.Speed == b.Speed
}
