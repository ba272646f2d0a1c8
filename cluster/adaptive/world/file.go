// Package world simulates adaptive jobs, whose batch follows the devices that schedulers choose in rounds, and the same
// jobs as rigid jobs, which keep the devices and the batch that their users request.
package world

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"graft/cluster/adaptive"
	"graft/cluster/study"
	"graft/cluster/trace"
	"graft/internal/decode"
	"graft/internal/files"
	"graft/internal/validate"
	"graft/internal/words"
)

// World returns the description of the adaptive-job simulator for 'graft cluster'.
func World() *study.World {
	return &study.World{
		Name: "adaptive", Title: "simulation of adaptive jobs", Titles: "simulations of adaptive jobs",
		About:    "jobs whose batch follows the devices that schedulers choose in rounds",
		Sections: []string{"adaptive"}, Compats: []string{CompatPollux},
		Intro: "A file with the section `adaptive`, for `graft cluster run`. See [adaptive jobs](adaptive.md).\n",
		Notes: `If --data is a folder of applications, these jobs are simulated. --trace names tables of jobs,
by path or by name in that folder. Under rigid schedulers (fifo and the schedulers listed after it),
jobs keep the devices and the batch that users request. --compat pollux reproduces Pollux's simulator
with its bugs and its results. It cannot be used with rigid schedulers.`,
		Flags: []study.Flag{
			{Name: "data", Key: dataKey}, {Name: "nodes", Key: "adaptive.nodes"},
			{Name: "compat", Key: "adaptive.compat"},
			{Name: "gpus-per-node", Key: "adaptive.gpus_per_node", About: "GPUs per node; 0 means 8"},
			{Name: "load", Key: "schedule.arrival_factors", List: true},
		},
		Quirks: adaptive.Quirks(), New: func() study.File { return &File{} }, Schedulers: entries, Claims: claims,
	}
}

// claims reports whether the flag data names a folder of applications.
func claims(fsys files.FS, flags map[string]string) bool {
	compat, data := flags["compat"], flags["data"]
	return data != "" && (compat == "" || compat == compatNone) && adaptive.HasApplications(fsys, data)
}

// File configures simulations of adaptive jobs.
type File struct {
	Adaptive Options // Applications that the jobs run, and the simulated cluster.
	// Job traces. Required. A trace is a table with the columns name, time, application, num_replicas and batch_size,
	// or a cluster trace in any format that 'graft trace' reads; each job of a cluster trace gets an application of
	// similar size. If a file does not exist, its name is looked up in the folder adaptive.data and in the subfolders
	// "workloads" and "workloads/*" of that folder.
	Workload study.Workload
	// Schedulers to compare. Rigid schedulers run each job on the requested number of GPUs with the requested batch
	// size.
	Schedule                  Schedule
	adaptive.SchedulerOptions                  // Sections of the schedulers that have options.
	Run                       study.RunOptions // Output folder of the run.

	study.Sources `config:"-"`
	schedulers    []Scheduler
	studies       []adaptive.Study // by workload
	paths         []string         // files of the workloads
	names         []string         // of the workloads
	contents      string           // digest of all files
	omitted       trace.Omitted    // jobs of cluster traces that are left out
	clipped       int              // jobs of cluster traces that request fewer devices than in the trace
	parts         int              // jobs of cluster traces that request a part of a device in the trace
}

// Schedule lists the schedulers to compare and the arrival rates to simulate.
type Schedule struct {
	study.Schedule
	study.Arrivals
}

// EnsureDefaults fills in defaults.
func (f *File) EnsureDefaults() {
	f.Adaptive.EnsureDefaults()
	var usual []string
	for _, k := range adaptive.Kinds() {
		usual = append(usual, k.Name)
	}
	f.Schedule.Schedule.EnsureDefaults(usual...)
	f.Schedule.Arrivals.EnsureDefaults()
	f.Pollux.EnsureDefaults()
}

// Validate returns an error that lists every invalid option.
func (f *File) Validate() error {
	var faults validate.Faults
	for _, name := range f.Schedule.Schedulers {
		faults.When(study.IsPath(name), "scheduler %s is a path, but adaptive jobs do not support learned "+
			"schedulers; remove it", name)
		_, err := adaptive.Named(name)
		faults.When(err != nil && known(name) == nil && f.Adaptive.Compat == CompatPollux,
			"scheduler %s is rigid, but compat = \"pollux\" allows only schedulers for adaptive jobs; remove "+
				"the scheduler, or set compat to \"none\"", name)
	}
	return errors.Join(append(faults, f.Adaptive.Validate(), f.Schedule.Schedule.Validate(known),
		f.Schedule.Arrivals.Validate(),
		f.SchedulerOptions.Validate())...)
}

// Shared returns the sections of the file that are common to all simulators.
func (f *File) Shared() study.Shared {
	return study.Shared{Workload: &f.Workload, Schedule: &f.Schedule.Schedule, Folder: f.Run.Folder}
}

// Check reads the applications and the workloads.
func (f *File) Check(fsys files.FS, r *decode.Reading) {
	if len(f.Workload.Traces) == 0 && !r.Broken(tracesKey) {
		r.Blame(tracesKey, "traces is missing; expected at least one table of jobs")
		return
	}
	if f.Validate() != nil {
		return
	}
	f.schedulers = nil
	for _, name := range f.Schedule.Schedulers {
		s, _ := f.scheduler(name, 0) // Validate has checked the name
		f.schedulers = append(f.schedulers, s)
	}
	f.read(fsys, r)
}

// scheduler returns a scheduler with the options of the file.
func (f *File) scheduler(name string, seed uint64) (Scheduler, error) {
	return named(name, f.SchedulerOptions, seed)
}

// Contents writes all inputs other than configuration keys, so that the caller can compute a digest of them.
func (f *File) Contents(w io.Writer) { fmt.Fprintln(w, f.contents) }

// Summary describes the simulations in one line.
func (f *File) Summary() (string, error) {
	return fmt.Sprintf("%s under %s, compat %s", f.title(), strings.Join(f.Schedule.Schedulers, ", "),
		f.Adaptive.Compat), nil
}

func (f *File) title() string {
	return fmt.Sprintf("%s of %s on %s of %s", words.Plural(f.jobs(), "job"), words.Some(f.names, 4),
		words.Plural(f.Adaptive.Nodes*f.Adaptive.Devices, "GPU"), words.Plural(f.Adaptive.Nodes, "node"))
}

// jobs counts the jobs of all workloads.
func (f *File) jobs() (n int) {
	for k := range f.studies {
		n += len(f.studies[k].Jobs)
	}
	return n
}

// Study returns the simulations that the file configures.
func (f *File) Study() study.Study { return &simulations{File: f} }
