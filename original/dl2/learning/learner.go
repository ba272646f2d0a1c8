package learning

import (
	"errors"
	"fmt"

	"graft/cluster/elastic/agent"
	elasticworld "graft/cluster/elastic/world"
	"graft/internal/validate"
	"graft/learn/candidates"
	"graft/original/dl2"
)

// published reports whether DL2 learns as published.
func (l *File) published() bool { return l.Elastic.Compat == elasticworld.CompatDL2 }

// Figures returns the names of the values in the learning curve.
func (l *File) Figures() []string {
	if l.published() {
		return dl2.FigureNames()
	}
	return candidates.FigureNames()
}

// Steps returns the maximum number of steps of the learner.
func (l *File) Steps() int {
	if l.published() {
		return max(0, l.DL2.Supervised.Steps) + max(0, l.DL2.Reinforced.Steps)
	}
	return l.Learn.Steps()
}

// TeacherAndMethod returns the scheduler to imitate, and the learning method to use after imitation.
func (l *File) TeacherAndMethod() (teacher, method string) {
	if l.published() {
		return l.DL2.Supervised.Teacher, "DL2 as published"
	}
	return l.Learn.Teacher, l.Learn.Method
}

// Slots returns the number of slots after which a simulation is truncated, even if jobs are unfinished.
func (l *File) Slots() int {
	if l.published() {
		return l.DL2.Workloads.MostSlots
	}
	return l.Learn.Slots
}

// seedsApart is the distance between the seeds of two DL2 trainings: each agent has its own seed.
const seedsApart = 2048

// Learner creates the learner for a seed. For DL2, seed 1 stands for the seed in DL2's published program.
func (l *File) Learner(seed uint64) (candidates.SchedulerLearner, error) {
	if !l.published() {
		return agent.NewLearner(l.train, l.validation, l.Learn, seed)
	}
	o, settings, err := l.DL2, l.settings(), error(nil)
	o.Seed = publishedSeed + seedsApart*(seed-1)
	t, err := dl2.NewTrainer(l.validation[0], settings.Generate, l.validation, o)
	return dl2Learner{t}, err
}

// publishedSeed is the seed of DL2's parameters.
const publishedSeed = 9973

type dl2Learner struct{ *dl2.Trainer }

// Learned implements [candidates.SchedulerLearner].
func (d dl2Learner) Learned() (*candidates.Scheduler, error) {
	jct, at := d.BestTime()
	set, err := d.Best().Save()
	return &candidates.Scheduler{Set: set, Cost: jct, Step: at}, err
}

// checkLearner lists settings that the published learner does not support.
func (l *File) checkLearner() error {
	if !l.published() {
		return nil
	}
	var faults validate.Faults
	for key, given := range map[string]bool{"train": len(l.Workloads.Train) > 0, "from": l.Workloads.From != ""} {
		faults.When(given, "workloads.%s is set; with compat dl2 each agent generates its workloads", key)
	}
	faults.When(l.DL2.Validation.Every < 0,
		"dl2.validation.every is %d; must be positive, because validation selects the policy to keep",
		l.DL2.Validation.Every)
	faults.When(l.Run.Seed < 1 || l.Run.Seed > 1<<16, "run.seed is %d; with compat dl2 it must be from 1 to %d",
		l.Run.Seed, 1<<16)
	if err := l.DL2.Validate(); err != nil {
		faults = append(faults, fmt.Errorf("dl2: %w", err))
	}
	return errors.Join(faults...)
}
