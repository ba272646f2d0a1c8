package agent

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"graft/cluster/fabric"
	"graft/learn"
	"graft/learn/candidates"
)

// course holds the episodes of a learner.
type course struct {
	candidates.Options
	train, validation *Env
	teachers          []fabric.Kind
}

// NewLearner creates a learner whose agent has random initial weights. The validation episodes are used for early
// stopping.
func NewLearner(train, validation []*fabric.Study, o candidates.Options, seed uint64) (*candidates.Learner, error) {
	o.EnsureDefaults()
	if len(train) == 0 || len(validation) == 0 {
		return nil, fmt.Errorf("learn a scheduler: got %d training episodes and %d validation episodes; "+
			"expected at least one of each", len(train), len(validation))
	}
	teachers, err := teachersOf(o.Teacher)
	if err != nil {
		return nil, err
	}
	first, err := NewEnv(train)
	other, err2 := NewEnv(validation)
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	return candidates.NewLearner(&course{o, first, other, teachers}, o, seed)
}

// CheckTeacher returns an error unless the name is "best", "none" or the name of a decider that draws no random
// numbers.
func CheckTeacher(name string) error {
	_, err := teachersOf(name)
	return err
}

// teachersOf returns the possible teachers; the best on an episode teaches.
func teachersOf(name string) ([]fabric.Kind, error) {
	switch name {
	case candidates.NoTeacher:
		return nil, nil
	case candidates.BestTeacher:
		kinds := slices.DeleteFunc(fabric.Kinds(), fabric.Kind.Draws)
		for _, parts := range []int{2, 4, 8, 16} {
			kinds = append(kinds, fabric.ConstantKind(parts))
		}
		return kinds, nil
	}
	kind, err := fabric.Named(name)
	if err != nil {
		return nil, fmt.Errorf("teacher: %w; \"best\" and \"none\" are also valid", err)
	}
	if kind.Draws() {
		return nil, errors.New("teacher is random, which cannot be imitated; choose another teacher")
	}
	return []fabric.Kind{kind}, nil
}

// Shape implements [candidates.Course].
func (c *course) Shape() candidates.Shape { return shape }

// Workloads implements [candidates.Course].
func (c *course) Workloads() int { return len(c.train.studies) }

// Env implements [candidates.Course].
func (c *course) Env() (learn.Env, error) { return c.train.another(), nil }

// Lesson implements [candidates.Course]. The teacher decides in the states that the agent reaches (Ross, Gordon and
// Bagnell, AISTATS 2011).
func (c *course) Lesson(ctx context.Context, at int, agent learn.Agent, follow float64,
	random *rand.Rand) (all []learn.Example, err error) {
	teacher, err := c.teacher(ctx, c.train.studies[at])
	if err != nil {
		return nil, err
	}
	e := c.train.another()
	if err := e.begin(e.studies[at]); err != nil {
		return nil, err
	}
	var rewards []float64
	for e.world.Waiting() != nil {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		right, err := e.right(teacher)
		if err != nil {
			return nil, err
		}
		o, action := e.Observe(), right
		o.Values = slices.Clone(o.Values)
		all = append(all, learn.Example{Observation: o, Actions: []int{right}})
		if random.Float64() >= follow {
			logits, _ := agent.Score(o)
			action = learn.Sample(learn.LogProbabilities(logits, nil), random)
		}
		out, err := e.Act(action)
		if err != nil {
			return nil, fmt.Errorf("simulate an episode for imitation: %w", err)
		}
		rewards = append(rewards, out.Reward)
	}
	later := 0.0
	for k := len(all) - 1; k >= 0; k-- {
		later += rewards[k]
		all[k].Return = later
	}
	return all, nil
}

// right returns the action of a teacher. A degree at which the job would not start blocks it.
func (e *Env) right(teacher fabric.Decider) (int, error) {
	degree, err := teacher.Degree(e.world)
	if err != nil {
		return 0, err
	}
	if k := slices.IndexFunc(e.state.offers, func(o fabric.Offer) bool { return o.Degree == degree }); k >= 0 {
		return k, nil
	}
	return len(e.state.offers), nil
}

// teacher returns the decider to imitate on an episode: the one that blocks the fewest jobs.
func (c *course) teacher(ctx context.Context, s *fabric.Study) (best fabric.Decider, err error) {
	least := 2.0
	for _, kind := range c.teachers {
		rate, err := blocking(ctx, s, kind.New(nil))
		if err != nil {
			return nil, err
		}
		if rate < least {
			best, least = kind.New(nil), rate
		}
	}
	return best, nil
}

// blocking returns the blocking rate of an episode.
func blocking(ctx context.Context, s *fabric.Study, d fabric.Decider) (float64, error) {
	w, err := fabric.NewWorld(s)
	if err != nil {
		return 0, err
	}
	if err := fabric.Play(ctx, w, d); err != nil {
		return 0, err
	}
	return float64(w.Record.Blocked) / float64(len(w.Jobs)), nil
}

// Validate implements [candidates.Course].
func (c *course) Validate(ctx context.Context, agent *learn.Set) (mean float64, err error) {
	kind := KindOf("learned", agent)
	for _, s := range c.validation.studies {
		rate, err := blocking(ctx, s, kind.New(nil))
		if err := errors.Join(err, ctx.Err()); err != nil {
			return 0, err
		}
		mean += rate / float64(len(c.validation.studies))
	}
	return mean, nil
}
