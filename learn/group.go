package learn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"graft/internal/parallel"
)

// NewGroup creates rollouts whose environments start the same random episodes, while each agent samples its own
// actions. Each rollout draws actions from its own random stream. The streams have consecutive numbers, starting from
// the argument stream.
func NewGroup(envs []Env, agents []Agent, seed, stream uint64) (all []*Rollout) {
	for k := range envs {
		r := NewRollout(envs[k], agents[k], seed, stream+uint64(k))
		r.chance = rand.NewPCG(seed, 2*stream)
		all = append(all, r)
	}
	return all
}

// PlayEpisodes plays the next episode of each rollout to its end. The number of workers is the maximum number of
// rollouts that run at a time.
func PlayEpisodes(ctx context.Context, all []*Rollout, workers int) ([][]Step, error) {
	played := make([][]Step, len(all))
	err := parallel.Pool{Workers: workers}.Each(ctx, len(all), func(k int) (err error) {
		for r := all[k]; ; {
			if err := ctx.Err(); err != nil {
				return err
			}
			step, err := r.step()
			if err != nil {
				return fmt.Errorf("step environment %d: %w", k, err)
			}
			if played[k] = append(played[k], step); step.Outcome.Done {
				return nil
			}
		}
	}).First()
	return played, err
}

// GroupAdvantages returns the advantages of all actions in a group of episodes. The advantage of an action is the sum
// of the rewards from its time step on, minus the mean of the same sum in the other episodes. Common effects, such as
// arrivals, cancel out, and no value function is learned (Mao et al., Variance Reduction for Reinforcement Learning in
// Input-Driven Environments, ICLR 2019). Advantages are divided by their standard deviation.
func GroupAdvantages(episodes [][]Step, gamma float64) [][]float64 {
	later := make([][]float64, len(episodes)) // later rewards of each episode, from each step of time on
	longest := 0
	for k, steps := range episodes {
		later[k] = laterRewards(steps, gamma)
		longest = max(longest, len(later[k]))
	}
	sums := make([]float64, longest)
	for _, values := range later {
		for t, v := range values {
			sums[t] += v
		}
	}
	all, squares, count := make([][]float64, len(episodes)), 0.0, 0
	for k, steps := range episodes {
		t := 0
		for _, s := range steps {
			own := later[k][t]
			a := own - (sums[t]-own)/float64(max(1, len(episodes)-1))
			all[k] = append(all[k], a)
			squares, count = squares+a*a, count+1
			t += s.Outcome.Elapsed
		}
	}
	scale := 1 / (math.Sqrt(squares/float64(max(1, count))) + standardEps)
	for _, values := range all {
		for k := range values {
			values[k] *= scale
		}
	}
	return all
}

// laterRewards returns the discounted rewards from each step of time on.
func laterRewards(steps []Step, gamma float64) []float64 {
	var rewards []float64
	t := 0
	for _, s := range steps {
		for len(rewards) <= t {
			rewards = append(rewards, 0)
		}
		rewards[t] += s.Outcome.Reward
		t += s.Outcome.Elapsed
	}
	for k := len(rewards) - 2; k >= 0; k-- {
		rewards[k] += gamma * rewards[k+1]
	}
	return rewards
}
