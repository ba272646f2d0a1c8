package ramp

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"graft/cluster/fabric"
	"graft/cluster/fabric/graph"
	"graft/learn"
)

// Env is the environment of PAC-ML's published policies. An action is the degree of parallelism for the waiting job; 0
// blocks the job. The reward is 1 for an accepted job and -1 for a blocked job. Every episode has different jobs.
type Env struct {
	Scales Scales
	// Free turns off the masking of actions, so that an unavailable action blocks the job, as in the published DQN.
	Free bool

	episode  *Episode
	profiles []*graph.Profile
	limits   drawer
	base     *fabric.Study
	world    *fabric.World
}

// reward is the published training's reward.
var reward = Reward{Kind: "job_acceptance", Success: 1, Fail: -1}

// NewEnv creates an environment of PAC-ML's published experiments. The argument limits is one of the letters in
// [Limits]. NewEnv draws a pool of jobs with the seed; this pool determines the scales of observations.
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

// draw makes an episode from a seed; episodes share simulated steps.
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

// Another returns an environment of the same experiment, for another rollout or goroutine.
func (e *Env) Another() *Env {
	other := *e
	other.world = nil
	return &other
}

// Reset starts an episode whose jobs are drawn with a random seed.
func (e *Env) Reset(random *rand.Rand) error { return e.draw(random.Uint32()) }

// Graphs returns the graphs that a policy reads, in the order of the experiment's models.
func (e *Env) Graphs() (all []learn.Graph) {
	for k := range e.base.Models {
		all = append(all, Graph(&e.base.Models[k]))
	}
	return all
}

// Observe implements [learn.Env]. The first value of an observation is the index of the waiting job's graph in the
// result of Graphs.
func (e *Env) Observe() learn.Observation {
	o := observed(&e.Scales, e.world)
	if e.Free {
		o.Mask = nil
	}
	return o
}

// observed returns the observation of a policy; zeros at the end of an episode.
func observed(s *Scales, w *fabric.World) learn.Observation {
	if w.Waiting() == nil {
		most := w.Study().Options.MaxParts
		return learn.Observation{Values: make([]float64, 1+globals(most))}
	}
	o := s.Observe(w)
	o.Values = append([]float64{float64(w.Waiting().Model)}, o.Values...)
	return o
}

// Act implements [learn.Env].
func (e *Env) Act(action int) (learn.Outcome, error) {
	if e.Free && !slices.Contains(e.world.Degrees(), action) {
		action = 0
	}
	d, err := e.Scales.Decide(e.world, action)
	if err != nil {
		return learn.Outcome{}, err
	}
	r, err := reward.Of(&e.Scales, d)
	return learn.Outcome{Reward: r, Elapsed: 1, Done: e.world.Waiting() == nil}, err
}

// globals returns the number of inputs of a policy in addition to the graph.
func globals(most int) int { return 17 + most + 1 }

// shape returns the shape of the published policy.
func (e *Env) shape() learn.GraphOptions {
	most := e.base.Options.MaxParts
	return learn.GraphOptions{Graphs: e.Graphs(), Globals: globals(most), Actions: most + 1, ZeroSources: true}
}

// NewPolicy returns a policy network. The caller must then initialize its parameters randomly or from a file.
func (e *Env) NewPolicy() (*learn.GraphNet, error) {
	return learn.NewGraphNet(e.shape(), rand.New(rand.NewPCG(0, 0)))
}

// Policy takes the most likely action of a learned agent.
type Policy struct {
	Agent  *learn.GraphNet
	Scales Scales
	Free   bool // turns off the masking of actions, see [Env]
}

// Twin returns a policy that shares the parameters, for use in another goroutine.
func (p *Policy) Twin() *Policy {
	twin := *p
	twin.Agent = p.Agent.Twin().(*learn.GraphNet)
	return &twin
}

// Degree returns the degree for the waiting job.
func (p *Policy) Degree(w *fabric.World) (int, error) {
	o := observed(&p.Scales, w)
	logits, _ := p.Agent.Score(o)
	mask := o.Mask
	if p.Free {
		mask = nil
	}
	degree := learn.Likeliest(learn.LogProbabilities(logits, mask))
	switch {
	case o.Mask[degree]:
		return degree, nil
	case p.Free:
		return 0, nil
	}
	return 0, fmt.Errorf("the policy chose degree %d, which is not available", degree)
}

// Policy returns a policy that uses an agent. The argument method is the learning method by which the agent was trained
// in the environment, one of [Methods].
func (e *Env) Policy(method string, agent *learn.GraphNet) *Policy {
	return &Policy{agent, e.Scales, method == methodApeX}
}
