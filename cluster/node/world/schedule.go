package world

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"graft/cluster/node"
	"graft/cluster/node/agent"
	"graft/cluster/node/schedulers"
	"graft/cluster/study"
	"graft/internal/decode"
	"graft/internal/files"
	"graft/internal/validate"
	"graft/torch/weights"
)

// Schedule selects the schedulers and sets their options. If no schedulers are named, 'graft node simulate' compares
// all schedulers that need no training, and 'graft node run' uses backfill, or fcfs if a task has neither duration nor
// estimate. If schedulers are named, 'graft node run' uses the first one.
type Schedule struct {
	study.Schedule
	Quantum time.Duration // Time slice of schedulers that time-share GPUs. Default 10s.
	Aging   time.Duration // Waiting time after which the priority of a task rises by one step. Default 1m.
	// Cost that ranks schedulers and that learning minimises: "completion" is the mean time from arrival to completion;
	// "energy-delay" is this mean multiplied by the energy of all GPUs. Default "completion".
	Objective string `config:",one=completion|energy-delay"`
}

// EnsureDefaults fills in defaults, except for the schedulers, whose default depends on the command.
func (s *Schedule) EnsureDefaults() {
	s.Schedule.EnsureDefaults()
	o := node.SchedulerOptions{Quantum: s.Quantum, Aging: s.Aging}
	o.EnsureDefaults()
	s.Quantum, s.Aging, s.Objective = o.Quantum, o.Aging, cmp.Or(s.Objective, string(agent.Completion))
}

// Validate returns an error that lists every invalid option.
func (s Schedule) Validate() error {
	var faults validate.Faults
	faults.When(s.Quantum < time.Millisecond, "quantum is %v; must be at least 1ms", s.Quantum)
	faults.When(s.Aging < 0, "aging is %v; must not be negative", s.Aging)
	return errors.Join(append(faults, s.Schedule.Validate(known))...)
}

// known returns an error for an unknown scheduler name. Check rejects schedulers of another simulator if the file does
// not select that simulator.
func known(name string) error {
	_, err := schedulers.Named(name)
	if err == nil || publishedScheduler(name) {
		return nil
	}
	return fmt.Errorf("%w; the path of a learned scheduler, such as ./%s, is also valid", err, name)
}

// options returns the options of a scheduler.
func (s *Schedule) options(seed, stream uint64) node.SchedulerOptions {
	return node.SchedulerOptions{Quantum: s.Quantum, Aging: s.Aging, Random: seeded(seed, stream)}
}

// Scheduler is a built-in or learned scheduler for the tasks on a machine.
type Scheduler = study.Learned[node.Kind]

const schedulersKey = "schedule.schedulers"

// findSchedulers finds schedulers by name, and reads learned ones.
func (f *File) findSchedulers(fsys files.FS, r *decode.Reading) {
	names := f.Schedule.Schedulers
	if k := slices.IndexFunc(names, publishedScheduler); k >= 0 {
		r.Blame(schedulersKey, names[k]+" is a scheduler of the published study; set machine.compat = \"tasks\", "+
			"or choose another scheduler")
		return
	}
	var err error
	learned := func(path string) (Scheduler, error) { return ReadScheduler(fsys, path) }
	f.baselines, err = study.FindSchedulers(names, schedulers.Named, learned,
		func(k node.Kind) string { return k.Name })
	if err != nil {
		r.Blame(schedulersKey, r.Elsewhere(schedulersKey, err).Error())
		return
	}
	against := f.Schedule.Against
	if against != "" && !slices.ContainsFunc(f.Candidates(), func(s Scheduler) bool { return s.Kind.Name == against }) {
		r.Blame("schedule.against", fmt.Sprintf("against is %s; expected one of the schedulers of this run", against))
	}
}

// ReadScheduler reads a learned scheduler from a file or from a run folder of 'graft learn'.
func ReadScheduler(fsys files.FS, path string) (Scheduler, error) {
	return study.ReadLearned(fsys, path, func(name string, set *weights.Set) (node.Kind, bool, error) {
		p, err := agent.ReadPolicy(set)
		if err != nil {
			return node.Kind{}, false, err
		}
		return agent.SchedulerOf(name, p.Agent), true, nil
	})
}

// Candidates returns the schedulers to compare: the file's schedulers or, if the file names none, all schedulers that
// need no learning.
func (f *File) Candidates() []Scheduler {
	if len(f.Schedule.Schedulers) > 0 {
		return f.baselines
	}
	var all []Scheduler
	for _, k := range schedulers.Kinds() {
		all = append(all, Scheduler{Kind: k})
	}
	return all
}

// usualBaseline is the default baseline of differences.
const usualBaseline = "best-fit"

// against is the baseline of differences.
func (f *File) against() string {
	if f.Schedule.Against != "" {
		return f.Schedule.Against
	}
	all := f.Candidates()
	if slices.ContainsFunc(all, func(s Scheduler) bool { return s.Kind.Name == usualBaseline }) {
		return usualBaseline
	}
	return all[0].Kind.Name
}
