package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"graft/cluster/elastic"
	"graft/cluster/elastic/schedulers"
	"graft/learn"
	"graft/learn/candidates"
	"graft/torch/weights"
)

// shape is the shape of the observations.
var shape = candidates.Shape{World: "elastic", Noun: "elastic jobs", Globals: Globals, Features: Features}

// ReadPolicy reads a policy from weights.
func ReadPolicy(set *weights.Set) (*candidates.Policy, error) { return shape.ReadPolicy(set) }

// course holds the workloads of a learner.
type course struct {
	candidates.Options
	first             *Env
	train, validation []elastic.Study
}

// NewLearner creates a learner whose agent has random initial weights. The validation workloads are used for early
// stopping.
func NewLearner(train, validation []elastic.Study, o candidates.Options, seed uint64) (*candidates.Learner, error) {
	o.EnsureDefaults()
	if len(train) == 0 || len(validation) == 0 {
		return nil, fmt.Errorf("learn a scheduler: got %d training workloads and %d validation workloads; "+
			"expected at least one of each", len(train), len(validation))
	}
	for k := range validation {
		if _, err := elastic.NewWorld(validation[k]); err != nil {
			return nil, fmt.Errorf("learn a scheduler: validation workload %d: %w", k, err)
		}
	}
	first, err := NewEnv(train, o.Slots)
	if err := errors.Join(err, CheckTeacher(o.Teacher)); err != nil {
		return nil, err
	}
	return candidates.NewLearner(&course{o, first, train, validation}, o, seed)
}

// CheckTeacher returns an error unless the name is "best", "none" or the name of a scheduler.
func CheckTeacher(name string) error {
	if _, err := schedulers.Named(name); err != nil && name != candidates.NoTeacher && name != candidates.BestTeacher {
		return fmt.Errorf("teacher: %w; \"best\" and \"none\" are also valid", err)
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
	lesson := Lesson{Teacher: teacher, Agent: agent, Follow: follow, Slots: c.Slots}
	return lesson.Give(ctx, c.train[at], random)
}

// teacherOf returns the scheduler to imitate on a workload.
func (c *course) teacherOf(ctx context.Context, at int) (best elastic.Kind, err error) {
	if c.Teacher != candidates.BestTeacher {
		return schedulers.Named(c.Teacher)
	}
	least := math.Inf(1)
	for _, kind := range schedulers.Kinds() {
		s := c.train[at]
		s.Options.Limit = cmp.Or(s.Options.Limit, c.Slots)
		r, err := s.Run(ctx, kind)
		switch {
		case ctx.Err() != nil:
			return best, ctx.Err()
		case err == nil && r.MeanJCT < least: // a scheduler that leaves jobs unfinished is not a teacher
			best, least = kind, r.MeanJCT
		}
	}
	if best.New == nil {
		return best, fmt.Errorf("learn a scheduler: no scheduler completes the jobs of workload %d within %d slots; "+
			"raise learn.max_slots, or set learn.teacher", at, c.Slots)
	}
	return best, nil
}

// Validate implements [candidates.Course]. The cost is the mean time to completion, in slots.
func (c *course) Validate(ctx context.Context, agent *learn.Set) (mean float64, err error) {
	for _, s := range c.validation {
		if s.Options.Limit == 0 || s.Options.Limit > c.Slots {
			s.Options.Limit = c.Slots
		}
		r, err := s.Run(ctx, Scheduler("learned", agent))
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if err != nil { // jobs are unfinished after the limit of slots
			return math.Inf(1), nil
		}
		mean += r.MeanJCT / float64(len(c.validation))
	}
	return mean, nil
}
