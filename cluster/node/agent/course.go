package agent

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"graft/cluster/node"
	"graft/cluster/node/schedulers"
	"graft/learn"
	"graft/learn/candidates"
)

// course holds the workloads of a learner.
type course struct {
	candidates.Options
	first             *Env
	train, validation []node.Study
	objective         Objective
}

// NewLearner creates a learner whose agent has random initial weights. The validation workloads are used for early
// stopping.
func NewLearner(train, validation []node.Study, objective Objective, o candidates.Options,
	seed uint64) (*candidates.Learner, error) {
	o.EnsureDefaults()
	if len(train) == 0 || len(validation) == 0 {
		return nil, fmt.Errorf("learn a scheduler: got %d training workloads and %d validation workloads; "+
			"expected at least one of each", len(train), len(validation))
	}
	first, err := NewEnv(train, objective)
	_, other := NewEnv(validation, objective)
	if err := errors.Join(err, other, CheckTeacher(o.Teacher)); err != nil {
		return nil, err
	}
	return candidates.NewLearner(&course{o, first, train, validation, objective}, o, seed)
}

// CheckTeacher returns an error unless the name is "best", "none" or the name of a scheduler that does not stop tasks.
func CheckTeacher(name string) error {
	if name == candidates.NoTeacher || name == candidates.BestTeacher {
		return nil
	}
	kind, err := schedulers.Named(name)
	if err != nil {
		return fmt.Errorf("teacher: %w; \"best\" and \"none\" are also valid", err)
	}
	if kind.Slices {
		return fmt.Errorf("teacher is %s, which stops tasks, but agents cannot stop tasks; choose another teacher",
			name)
	}
	return nil
}

// Shape implements [candidates.Course].
func (c *course) Shape() candidates.Shape { return shape }

// Workloads implements [candidates.Course].
func (c *course) Workloads() int { return len(c.train) }

// Env implements [candidates.Course].
func (c *course) Env() (learn.Env, error) { return c.first.another(), nil }

// Lesson implements [candidates.Course].
func (c *course) Lesson(ctx context.Context, at int, agent learn.Agent, follow float64,
	random *rand.Rand) ([]learn.Example, error) {
	teacher, err := c.teacherOf(ctx, at)
	if err != nil {
		return nil, err
	}
	e := &Env{studies: c.first.studies[at:][:1], scales: c.first.scales[at:][:1], objective: c.objective}
	if err := e.Reset(random); err != nil {
		return nil, err
	}
	right := func() []int { return e.right(teacher) }
	return candidates.Lesson{Env: e, Right: right, Agent: agent, Follow: follow}.Give(ctx, random)
}

// teacherOf returns the scheduler to imitate on a workload: the named one, or the best.
func (c *course) teacherOf(ctx context.Context, at int) (node.Scheduler, error) {
	var o node.SchedulerOptions
	o.EnsureDefaults()
	if c.Teacher != candidates.BestTeacher {
		kind, err := schedulers.Named(c.Teacher)
		if err != nil {
			return nil, err
		}
		return kind.New(o), nil
	}
	var best node.Scheduler
	least := math.Inf(1)
	for _, kind := range schedulers.Kinds() {
		if kind.Slices {
			continue
		}
		r, err := c.train[at].Run(ctx, kind, o)
		if err != nil {
			return nil, err
		}
		if cost := c.objective.Of(&r.Summary); cost < least {
			best, least = kind.New(o), cost
		}
	}
	return best, nil
}

// Validate implements [candidates.Course].
func (c *course) Validate(ctx context.Context, agent *learn.Set) (mean float64, err error) {
	kind := SchedulerOf("learned", agent)
	for _, s := range c.validation {
		r, err := s.Run(ctx, kind, node.SchedulerOptions{})
		if err != nil {
			return 0, err
		}
		mean += c.objective.Of(&r.Summary) / float64(len(c.validation))
	}
	return mean, nil
}
