package candidates

import (
	"graft/learn"
	"graft/torch/weights"
)

// SchedulerLearner is a learner of a scheduler.
type SchedulerLearner interface {
	learn.Learner
	// Learned returns the best scheduler on the workloads of validation.
	Learned() (*Scheduler, error)
}

// Scheduler is a scheduler that was learned.
type Scheduler struct {
	Set  *weights.Set // content of its file
	Cost float64      // mean on the workloads of validation, such as a mean time to completion
	Step int          // after which it was learned
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

// Rivals are other schedulers on the workloads of validation of a learned one.
type Rivals struct {
	Train, Validation int                // workloads to learn from and to choose by
	Unit              string             // of costs, such as s or share
	Bound             float64            // mean cost that no scheduler is below; zero where none is known
	Costs             map[string]float64 // mean cost of each scheduler
}
