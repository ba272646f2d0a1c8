package tasks

import (
	"context"
	"math"
	"math/rand/v2"

	"graft/internal/stat"
	"graft/learn"
)

// Published lengths of PPO's training.
const (
	rolloutActions = 2048
	// number of rollouts: 51,200 actions, the first multiple of a rollout that is at least 50,000
	Rollouts = 25
	recent   = 100
)

// Point describes the state of PPO's training after a rollout, in the units of the published log.
type Point struct {
	Actions   int     `json:"steps"`
	Reward    float64 `json:"ep_rew_mean"` // mean reward sum of the last 100 episodes
	Length    float64 `json:"ep_len_mean"` // mean length of the last 100 episodes, in steps
	ValueLoss float64 `json:"value_loss"`
	Entropy   float64 `json:"entropy_loss"` // mean entropy of the policy, negated
	KL        float64 `json:"approx_kl"`
	Clipped   float64 `json:"clip_fraction"`
	// fraction of the returns' variance that the predicted values explained before the update
	Explained float64 `json:"explained_variance"`
}

// LearnPPO trains an agent with the published settings, which are the defaults of Stable-Baselines3 and of package
// learn. It calls the function each after every rollout.
func LearnPPO(ctx context.Context, gpus int, seed uint64, rollouts int, each func(Point) error) (*learn.MLP, error) {
	e, err := NewEnv(EnvOptions{GPUs: gpus})
	if err != nil {
		return nil, err
	}
	m, err := learn.NewMLP(learn.MLPOptions{Inputs: 2 * e.GPUs(), Actions: e.GPUs()}, rand.New(rand.NewPCG(seed, 100)))
	if err != nil {
		return nil, err
	}
	r, shuffle := learn.NewRollout(e, m, seed, 0), rand.New(rand.NewPCG(seed, 101))
	var o learn.PPOOptions
	o.EnsureDefaults()
	for k := range rollouts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		steps, err := r.Play(rolloutActions)
		if err != nil {
			return nil, err
		}
		f, err := learn.UpdatePPO(m, steps, o, shuffle)
		if err != nil {
			return nil, err
		}
		p := Point{Actions: (k + 1) * rolloutActions, ValueLoss: f.ValueLoss, Entropy: -f.Entropy, KL: f.KL,
			Clipped: f.ClipFraction, Explained: explained(steps, o.Discounts)}
		r.Ended = r.Ended[max(0, len(r.Ended)-recent):]
		for _, e := range r.Ended {
			p.Reward += e.Reward / float64(len(r.Ended))
			p.Length += float64(e.Length) / float64(len(r.Ended))
		}
		if err := each(p); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// explained returns the share of the variance of returns that the values of states explain.
func explained(steps []learn.Step, d learn.Discounts) float64 {
	rest, returns := learn.Advantages(steps, d) // the advantage is the return minus its value
	return 1 - math.Pow(stat.Deviation(rest)/stat.Deviation(returns), 2)
}

// Likeliest returns the policy that takes the most likely action of an agent.
func Likeliest(m *learn.MLP) Policy {
	return func(e *Env) int {
		logits, _ := m.Score(e.Observe())
		return learn.Likeliest(logits)
	}
}
