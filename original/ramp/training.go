package ramp

import (
	"context"
	"fmt"
	"math/rand/v2"

	"graft/learn"
)

// TrainingPoint describes the state of training after an update.
type TrainingPoint struct {
	Actions int // number of actions taken so far
	// mean reward sum of the episodes that ended since the last update; NaN if none ended
	Reward float64
}

// The published learning methods, which the published simulator takes from RLlib.
const (
	methodPPO  = "ppo"
	methodApeX = "ape-x"
)

// Methods lists the names of the learning methods.
var Methods = []string{methodPPO, methodApeX}

// Learn trains an agent that chooses the degrees of the jobs in PAC-ML's experiments. It calls the function each after
// every update. An update takes [UpdateActions] actions.
func Learn(ctx context.Context, method string, env *Env, seed uint64, updates int,
	each func(TrainingPoint) error) (*learn.GraphNet, error) {
	switch method {
	case methodPPO:
		return learnPPO(ctx, env, seed, updates, each)
	case methodApeX:
		return learnApeX(ctx, env, seed, updates, each)
	}
	return nil, fmt.Errorf("method %q is unknown; expected one of: %v", method, Methods)
}

// The published settings of learning (scripts/ramp_job_partitioning_configs of github.com/cwfparsonson/ddls).
const (
	players  = 8   // concurrent rollouts
	fragment = 200 // actions per rollout at a time
	turns    = 3   // fragments per rollout: the first multiple with at least 4,000 actions
	target   = 0.001
	rate     = 2.785e-4

	// UpdateActions is the number of actions before each update.
	UpdateActions = players * turns * fragment
)

// ppo returns the other settings. RLlib does not halve the value loss, so its weight of 0.5 is 1 here.
func ppo() learn.PPOOptions {
	return learn.PPOOptions{Discounts: learn.Discounts{Gamma: 0.997, Lambda: 1}, Clip: 0.18, Epochs: 50, Batch: 128,
		ValueLoss: 1, Entropy: 0.003, MaxNorm: 1.5, Penalty: 0.01, Far: 128.8}
}

func learnPPO(ctx context.Context, env *Env, seed uint64, updates int,
	each func(TrainingPoint) error) (*learn.GraphNet, error) {
	random := rand.New(rand.NewPCG(seed, 200))
	shape := env.shape()
	shape.Rate = rate
	m, err := learn.NewGraphNet(shape, random)
	if err != nil {
		return nil, err
	}
	var rollouts []*learn.Rollout
	for k := range players {
		rollouts = append(rollouts, learn.NewRollout(env.Another(), m, seed, uint64(k)))
	}
	options := ppo()
	for n := range updates {
		steps, ended, err := play(ctx, rollouts)
		if err != nil {
			return nil, err
		}
		f, err := learn.UpdatePPO(m, steps, options, random)
		if err != nil {
			return nil, err
		}
		options.Penalty = adapted(options.Penalty, f.KL)
		if err := each(TrainingPoint{(n + 1) * UpdateActions, rewardOf(ended)}); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// play plays all rollouts in turn.
func play(ctx context.Context, rollouts []*learn.Rollout) (steps []learn.Step, ended []learn.Episode, err error) {
	for range turns {
		for _, r := range rollouts {
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			more, err := r.Play(fragment)
			if err != nil {
				return nil, nil, err
			}
			steps, ended = append(steps, more...), append(ended, r.Ended...)
			r.Ended = nil
		}
	}
	return steps, ended, nil
}

// rewardOf returns the mean sum of rewards of episodes.
func rewardOf(ended []learn.Episode) float64 {
	sum := 0.0
	for _, e := range ended {
		sum += e.Reward
	}
	return sum / float64(len(ended)) // NaN if there are none
}

// adapted returns the weight of the divergence in the next update, adapted as in RLlib.
func adapted(weight, kl float64) float64 {
	switch {
	case kl > 2*target:
		return weight * 1.5
	case kl < target/2:
		return weight / 2
	}
	return weight
}

// apeX returns the published settings of Ape-X DQN; settings that the original leaves unchanged are RLlib's. In RLlib,
// gradients run concurrently with the players at no fixed rate: here each 16 actions. The target follows after 100,000
// learned transitions, 195 gradients.
func apeX(env *Env) learn.DQNOptions {
	shape := env.shape()
	shape.Rate, shape.Eps = 4.1e-7, 1e-8
	return learn.DQNOptions{Graph: &shape, Actions: shape.Actions, Gamma: 0.999, Double: true, Duel: true, Ahead: 3,
		Capacity: 2_000_000, Alpha: 0.6, Beta: 0.4, Batch: 512, Fill: 50_000, Every: 16, Sync: 195, Explore: 0.4,
		ExploreFor: -1, MaxNorm: 40}
}

func learnApeX(ctx context.Context, env *Env, seed uint64, updates int,
	each func(TrainingPoint) error) (*learn.GraphNet, error) {
	var envs []learn.Env
	for range 4 * players {
		one := env.Another()
		one.Free = true
		envs = append(envs, one)
	}
	d, err := learn.NewDQN(apeX(env), seed, envs...)
	if err != nil {
		return nil, err
	}
	for n := range updates {
		if err := d.Learn(ctx, UpdateActions); err != nil {
			return nil, err
		}
		if err := each(TrainingPoint{(n + 1) * UpdateActions, rewardOf(d.Ended)}); err != nil {
			return nil, err
		}
		d.Ended = nil
	}
	return d.GraphNet(), nil
}
