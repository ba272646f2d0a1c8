package candidates

import (
	"graft/learn"
	"graft/torch/weights"
)

// SchedulerLearner is a [learn.Learner] whose result is a scheduler.
type SchedulerLearner interface {
	learn.Learner
	// Learned returns the scheduler with the lowest cost on the validation workloads.
	Learned() (*Scheduler, error)
}

// Scheduler holds a learned scheduler and its validation cost.
type Scheduler struct {
	Set  *weights.Set // content of the scheduler's file
	Cost float64      // mean cost on the validation workloads, such as a mean time to completion
	Step int          // number of steps after which the policy was learned
}

// Learned implements [SchedulerLearner].
func (l *Learner) Learned() (*Scheduler, error) {
	p, err := l.Policy()
	if err != nil {
		return nil, err
	}
	set, err := p.Set()
	return &Scheduler{Set: set, Cost: l.Best, Step: l.BestAt}, err
}

// Baselines holds the results of non-learning schedulers on the validation workloads.
type Baselines struct {
	Train, Validation int                // number of training workloads, and number of validation workloads
	Unit              string             // unit of the costs, such as s or share
	Bound             float64            // lower bound of the mean cost; zero means unknown
	Costs             map[string]float64 // mean cost of each scheduler
	// describes the workloads, and how to compare the schedulers, as the end of a sentence; may be empty
	Remark string
}
