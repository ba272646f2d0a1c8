// Package world simulates the tasks of one machine, and reads the file of tasks to run on it.
package world

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"graft/cluster"
	"graft/cluster/node"
	"graft/cluster/node/agent"
	"graft/cluster/node/schedulers"
	"graft/cluster/study"
	"graft/internal/decode"
	"graft/internal/files"
	"graft/internal/words"
	"graft/learn"
	"graft/learn/candidates"
)

// World describes the simulator of tasks on a single machine, for 'graft node'.
func World() *study.World {
	return &study.World{
		Name: "node", Title: "simulation of a machine's tasks", Titles: "simulations of a machine's tasks",
		About:   "tasks that share the GPUs of one machine",
		Command: "graft node simulate", Sections: []string{"machine", "task", "tasks"}, Compats: []string{CompatTasks},
		Intro: "A file with the section `machine`, for `graft node`, " +
			"and for `graft learn` if its tasks are generated.\nSee [one machine's tasks](node.md).\n",
		Notes: "--compat tasks simulates the packing environment of a published study of GPU schedulers, with its\n" +
			"workload generator, rewards and bugs. The results of its baselines are bit-identical; PPO\n" +
			"follows the published method.",
		Flags: []study.Flag{{Name: "compat", Key: "machine.compat"}},
		New:   func() study.File { return New() },
		Schedulers: func() (all []study.Entry) {
			for _, k := range schedulers.Kinds() {
				all = append(all, study.Entry{Name: k.Name, About: k.About})
			}
			return all
		},
	}
}

// File configures one machine, its tasks and the schedulers.
type File struct {
	Machine Machine // Simulated machine and its GPUs.
	// List of tasks, one table [[task]] per task. If the list is empty, tasks are generated or taken from a trace.
	Task  []Task
	Tasks Tasks // Options for tasks that are generated or taken from a trace.
	// At most one cluster trace, in any format that 'graft trace' reads. Jobs of the trace with at most one GPU become
	// tasks.
	Workload study.Workload
	// Schedulers and their options. If no scheduler is named, 'graft node simulate' compares all schedulers that need
	// no training, and 'graft node run' uses backfill, or fcfs if a task has neither duration nor estimate. If
	// schedulers are named, 'graft node run' uses the first one.
	Schedule Schedule
	Executor Executor           // Options for 'graft node run'.
	Learn    candidates.Options `config:",omit=max_slots"` // Options for the learner that 'graft learn' runs.
	Run      learn.RunOptions   // Seeds for 'graft learn', and the run folder for every command.

	study.Sources `config:"-"`
	speed         node.Speed
	specs         []node.Spec
	omitted       int         // jobs of the trace that are not tasks
	clipped       int         // tasks of the trace that request more memory than a GPU has
	baselines     []Scheduler // schedulers of the file; nil if it names none
	fsys          files.FS
}

// New returns the configuration before a file is read and EnsureDefaults is called. The defaults for lessons, rounds
// and patience are larger than for cluster simulators, since an episode takes only milliseconds.
func New() *File {
	return &File{Learn: candidates.Options{Lessons: 40, Rounds: 200, Patience: 8}, Tasks: Tasks{Seed: 1},
		Schedule: Schedule{Schedule: study.Schedule{Seed: 1}}, Run: learn.RunOptions{Seed: 1, Every: 1}}
}

// EnsureDefaults fills in defaults.
func (f *File) EnsureDefaults() {
	f.Machine.EnsureDefaults()
	f.Tasks.EnsureDefaults()
	f.Schedule.EnsureDefaults()
	f.Executor.EnsureDefaults()
	f.Learn.EnsureDefaults()
	f.Run.EnsureDefaults()
	shareWeights(f.Task)
	for k := range f.Task {
		f.Task[k].EnsureDefaults()
	}
}

// Validate returns an error that lists every invalid option.
func (f *File) Validate() error {
	return errors.Join(f.Machine.Validate(), f.Tasks.Validate(), f.Schedule.Validate(), f.Executor.Validate(),
		f.Learn.Validate(), agent.CheckTeacher(f.Learn.Teacher), f.Run.Validate())
}

// Shared returns the sections of the file that are common to all simulators.
func (f *File) Shared() study.Shared {
	return study.Shared{Workload: &f.Workload, Schedule: &f.Schedule.Schedule, Folder: f.Run.Folder}
}

// Check reads the profiles, the tasks and the learned schedulers.
func (f *File) Check(fsys files.FS, r *decode.Reading) {
	f.fsys = fsys
	switch {
	case f.Validate() != nil:
	case f.isPublished():
		f.checkPublished(r)
	case f.readSpeed(fsys, r) && f.readTasks(fsys, r):
		f.findSchedulers(fsys, r)
	}
}

// readSpeed reads the measured pairs. It returns false on an error.
func (f *File) readSpeed(fsys files.FS, r *decode.Reading) bool {
	shares := node.Shares{Contention: f.Machine.Contention}
	f.speed = shares
	path := f.Machine.Profiles
	if path == "" {
		return true
	}
	pairs, err := cluster.ReadPairs(fsys, path)
	if err == nil && len(pairs) == 0 {
		err = fmt.Errorf("%s has no measured pairs; remove machine.profiles, or name a file with at least one pair",
			path)
	}
	if err != nil {
		r.Blame("machine.profiles", r.Elsewhere("machine.profiles", err).Error())
		return false
	}
	measured := map[node.Pair][2]float64{}
	for of, rates := range pairs {
		measured[node.Pair{of[0].String(), of[1].String()}] = rates
	}
	f.speed = node.Pairs{Measured: measured, Otherwise: shares}
	return true
}

// Contents writes all inputs other than configuration keys, so that the caller can compute a digest of them.
func (f *File) Contents(w io.Writer) {
	fmt.Fprintln(w, f.specs, f.speed)
	for _, s := range f.baselines {
		fmt.Fprintln(w, s.Digest)
	}
}

// Summary describes the file in one line. It returns an error if the command of a task is invalid.
func (f *File) Summary() (string, error) {
	if f.isPublished() {
		return f.publishedTitle() + " under " + strings.Join(f.PublishedSchedulers(), ", "), nil
	}
	if err := f.checkCommands(); err != nil {
		return "", err
	}
	tasks := fmt.Sprintf("%s of %d to %d generated tasks", words.Plural(f.Tasks.TestCount, "workload"), f.Tasks.Least,
		f.Tasks.Most)
	switch {
	case len(f.Task) > 0:
		tasks = words.Plural(len(f.specs), "task")
	case f.trace() != "":
		tasks = fmt.Sprintf("%s of %s", words.Plural(len(f.specs), "task"), f.trace())
	}
	names := f.Schedule.Schedulers
	if len(names) == 0 {
		names = []string{"all schedulers"}
	}
	return fmt.Sprintf("%s on %s under %s", tasks, words.Plural(len(f.Machine.options().Devices), "GPU"),
		strings.Join(names, ", ")), nil
}

// Study returns the simulations that the file configures.
func (f *File) Study() study.Study {
	if f.isPublished() {
		return published.New(f)
	}
	return &simulations{File: f}
}
