package agent

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"graft/cluster"
	"graft/cluster/schedulers"
	"graft/learn"
	"graft/learn/candidates"
)

// course holds the workloads of a learner.
type course struct {
	candidates.Options
	train, validation []*Workload
}

// NewLearner creates a learner whose agent has random initial weights. The workloads must be measured. The validation
// workloads are used for early stopping.
func NewLearner(train, validation []*Workload, o candidates.Options, seed uint64) (*candidates.Learner, error) {
	o.EnsureDefaults()
	if len(train) == 0 || len(validation) == 0 {
		return nil, fmt.Errorf("learn a scheduler: got %d training workloads and %d validation workloads; "+
			"expected at least one of each", len(train), len(validation))
	}
	if err := CheckTeacher(o.Teacher); err != nil {
		return nil, err
	}
	return candidates.NewLearner(&course{o, train, validation}, o, seed)
}

// CheckTeacher returns an error unless the name is "best", "none" or the name of a teacher.
func CheckTeacher(name string) error {
	if name == candidates.NoTeacher || name == candidates.BestTeacher {
		return nil
	}
	if _, err := schedulers.Teachers().Named("teacher", name); err != nil {
		return fmt.Errorf("%w; \"best\" and \"none\" are also valid", err)
	}
	return nil
}

// Shape implements [candidates.Course].
func (c *course) Shape() candidates.Shape { return shape }

// Workloads implements [candidates.Course].
func (c *course) Workloads() int { return len(c.train) }

// Env implements [candidates.Course].
func (c *course) Env() (learn.Env, error) { return NewEnv(c.train) }

// together is the number of workloads of a lesson. An agent that learned from one at a time forgot the others.
const together = 8

// Lesson implements [candidates.Course]. It uses several successive workloads, so that lessons repeat a workload only
// after all others.
func (c *course) Lesson(ctx context.Context, at int, agent learn.Agent, follow float64,
	random *rand.Rand) (all []learn.Example, err error) {
	count := min(together, len(c.train))
	for k := range count {
		examples, err := c.lesson(ctx, (at*count+k)%len(c.train), agent, follow, random)
		if err != nil {
			return nil, err
		}
		all = append(all, examples...)
	}
	return all, nil
}

func (c *course) lesson(ctx context.Context, at int, agent learn.Agent, follow float64,
	random *rand.Rand) ([]learn.Example, error) {
	teacher, err := c.teacherOf(ctx, c.train[at])
	if err != nil {
		return nil, err
	}
	e := &Env{workloads: c.train[at:][:1], teach: teacher.Split}
	if err := e.Reset(random); err != nil {
		return nil, err
	}
	defer e.stop()
	return candidates.Lesson{Env: e, Right: e.right, Agent: agent, Follow: follow}.Give(ctx, random)
}

// teacherOf returns the teacher to imitate on a workload: the named one, or the best.
func (c *course) teacherOf(ctx context.Context, w *Workload) (best schedulers.Teacher, err error) {
	if c.Teacher != candidates.BestTeacher {
		return schedulers.Teachers().Named("teacher", c.Teacher)
	}
	least := math.Inf(1)
	for _, t := range schedulers.Teachers() {
		cost, err := w.MeanJCT(ctx, TeacherPolicy(t))
		if err != nil {
			return best, err
		}
		if cost < least {
			best, least = t, cost
		}
	}
	return best, nil
}

// TeacherPolicy returns the scheduler that divides devices as a teacher.
func TeacherPolicy(t schedulers.Teacher) cluster.Policy {
	return cluster.Policy{Name: t.Name, About: t.About, Resizes: true,
		New: func(cluster.Setup) (cluster.Scheduler, error) { return schedulers.NewDivider(t.Split), nil }}
}

// Validate implements [candidates.Course]. The cost is the mean time from arrival to completion, in seconds.
func (c *course) Validate(ctx context.Context, agent *learn.Set) (mean float64, err error) {
	for _, w := range c.validation {
		cost, err := w.MeanJCT(ctx, Policy("learned", agent))
		if err != nil {
			return 0, err
		}
		mean += cost / float64(len(c.validation))
	}
	return mean, nil
}
