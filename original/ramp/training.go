package ramp

import (
	"context"
	"fmt"
	"math/rand/v2"

	"graft/cluster/fabric"
	"graft/cluster/fabric/graph"
	"graft/learn"
)

// Env is the original's environment: an action is the degree of the waiting job, 0 blocks it, and each
// accepted job gives 1, each other -1. Every episode has jobs of its own.
type Env struct {
	Scales Scales

	episode  *Episode
	profiles []*graph.Profile
	limits   drawer
	base     *fabric.Study
	world    *fabric.World
}

// reward is the one of the published training.
var reward = Reward{Kind: "job_acceptance", Success: 1, Fail: -1}

// NewEnv makes an environment of the study. Observations are scaled by the pool of its seed.
func NewEnv(limits string, seed uint32, profiles []*graph.Profile) (*Env, error) {
	e, err := StudyEpisode(limits, seed, StudyAgent{})
	if err != nil {
		return nil, err
	}
	d, err := e.draws()
	if err != nil {
		return nil, err
	}
	env := &Env{Scales: e.NewScales(d, profiles), episode: e, profiles: profiles}
	if env.limits, err = e.Config.Jobs.Limit.drawer(d.np); err != nil {
		return nil, err
	}
	return env, env.draw(seed)
}

// draw makes an episode of a seed; episodes share the steps that they simulate.
func (e *Env) draw(seed uint32) error {
	one := *e.episode
	one.Seed, one.Arrivals = seed, nil
	d, err := one.drawsBy(e.limits)
	if err == nil {
		err = one.take(d, e.profiles)
	}
	if err != nil {
		return err
	}
	s, err := one.Study(e.profiles)
	if err != nil {
		return err
	}
	if e.base == nil {
		e.base = s
	}
	s = e.base.With(s.Jobs)
	e.world, err = fabric.NewWorld(s)
	return err
}

// another is an environment of the same study, for another rollout.
func (e *Env) another() *Env {
	other := *e
	other.world = nil
	return &other
}

// Reset begins an episode with jobs of a random seed.
func (e *Env) Reset(random *rand.Rand) error { return e.draw(random.Uint32()) }

// Graphs are what a policy reads of the networks, in the order of the study's models.
func (e *Env) Graphs() (all []learn.Graph) {
	for k := range e.base.Models {
		all = append(all, Graph(&e.base.Models[k]))
	}
	return all
}

// Observe implements [learn.Env]. The first value is the place of the graph.
func (e *Env) Observe() learn.Observation { return observed(&e.Scales, e.world) }

func observed(s *Scales, w *fabric.World) learn.Observation {
	if w.Waiting() == nil { // the episode is over
		return learn.Observation{}
	}
	o := s.Observe(w)
	o.Values = append([]float64{float64(w.Waiting().Model)}, o.Values...)
	return o
}

// Act implements [learn.Env].
func (e *Env) Act(action int) (learn.Outcome, error) {
	d, err := e.Scales.Decide(e.world, action)
	if err != nil {
		return learn.Outcome{}, err
	}
	r, err := reward.Of(&e.Scales, d)
	return learn.Outcome{Reward: r, Elapsed: 1, Done: e.world.Waiting() == nil}, err
}

// The published settings of PPO (scripts/ramp_job_partitioning_configs of github.com/cwfparsonson/ddls).
const (
	players  = 8   // rollouts side by side
	fragment = 200 // actions of each at a time
	turns    = 3   // fragments of each, the first multiple from 4,000 actions on
	target   = 0.001
	rate     = 2.785e-4
)

// ppo are the other settings. RLlib's loss of values is not halved, so that its weight of 0.5 is 1 here.
func ppo() learn.PPOOptions {
	return learn.PPOOptions{Discounts: learn.Discounts{Gamma: 0.997, Lambda: 1}, Clip: 0.18, Epochs: 50, Batch: 128, ValueLoss: 1, Entropy: 0.003, MaxNorm: 1.5, Penalty: 0.01, Far: 128.8}
}

// TrainingPoint is the state of learning after an update.
type TrainingPoint struct {
	Actions int     // that were taken
	Reward  float64 // mean sum of the episodes that ended since the last update; NaN where none did
	KL      float64 // divergence from the policy that played
	Entropy float64 // of decisions, nats
}

// LearnPPO learns the degrees of the study's jobs by PPO as published, and calls each after every update.
func LearnPPO(ctx context.Context, env *Env, seed uint64, updates int, each func(TrainingPoint) error) (*learn.GraphNet, error) {
	random := rand.New(rand.NewPCG(seed, 200))
	o := learn.GraphOptions{Graphs: env.Graphs(), Globals: 17 + env.base.Options.MaxParts + 1, Actions: env.base.Options.MaxParts + 1, ZeroSources: true, Rate: rate}
	m, err := learn.NewGraphNet(o, random)
	if err != nil {
		return nil, err
	}
	var rollouts []*learn.Rollout
	for k := range players {
		rollouts = append(rollouts, learn.NewRollout(env.another(), m, seed, uint64(k)))
	}
	options := ppo()
	for n := range updates {
		p := TrainingPoint{Actions: (n + 1) * players * turns * fragment}
		steps, err := play(ctx, rollouts, &p)
		if err != nil {
			return nil, err
		}
		f, err := learn.UpdatePPO(m, steps, options, random)
		if err != nil {
			return nil, err
		}
		options.Penalty = adapted(options.Penalty, f.KL)
		if p.KL, p.Entropy = f.KL, f.Entropy; each != nil {
			if err := each(p); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

// play plays all rollouts in turn.
func play(ctx context.Context, rollouts []*learn.Rollout, p *TrainingPoint) (steps []learn.Step, err error) {
	ended := 0.0
	for range turns {
		for _, r := range rollouts {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			more, err := r.Play(fragment)
			if err != nil {
				return nil, err
			}
			steps = append(steps, more...)
			for _, e := range r.Ended {
				ended++
				p.Reward += e.Reward
			}
			r.Ended = nil
		}
	}
	p.Reward /= ended
	return steps, nil
}

// adapted is the weight of the divergence in the next update, as RLlib adapts it.
func adapted(weight, kl float64) float64 {
	switch {
	case kl > 2*target:
		return weight * 1.5
	case kl < target/2:
		return weight / 2
	}
	return weight
}

// Policy decides by the likeliest action of an agent.
type Policy struct {
	Agent  learn.Agent
	Scales Scales
}

// Degree chooses the degree.
func (p *Policy) Degree(w *fabric.World) (int, error) {
	o := observed(&p.Scales, w)
	logits, _ := p.Agent.Score(o)
	degree := learn.Likeliest(learn.LogProbabilities(logits, o.Mask))
	if !o.Mask[degree] {
		return 0, fmt.Errorf("degree %d cannot be chosen", degree)
	}
	return degree, nil
}
