package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"graft/cluster"
	"graft/cluster/adaptive"
	"graft/cluster/study"
	"graft/config/decode"
	"graft/internal/files"
	"graft/report/document"
)

// AdaptiveKind is the kind of files with the section adaptive.
var AdaptiveKind = &Kind{
	Name: "adaptive", Noun: "simulations of adaptive jobs", Command: "graft cluster run",
	Files: "files of simulations of jobs that adapt their batch", Title: "simulations of jobs that adapt their batch",
	Sections: []string{"adaptive"}, New: func() File { return &Adaptive{} }, Summary: summaryOf((*Adaptive).Summary),
	Page: Page{Title: "Keys of the file of simulations of adaptive jobs",
		Intro: "A file with the section `adaptive`, for `graft cluster run`. See [adaptive jobs](adaptive.md).\n"},
}

// Adaptive is the file of simulations of jobs that adapt their batch: applications, workloads, a cluster and
// schedulers.
type Adaptive struct {
	Adaptive                  AdaptiveOptions  // workloads and cluster
	Schedule                  AdaptiveSchedule // schedulers
	adaptive.SchedulerOptions                  // sections of the schedulers that have options
	Output                    AdaptiveOutput   // run folder

	sources
	world adaptiveWorld
}

// AdaptiveOptions describe the jobs and the cluster. Paths are those of the operating system, from the
// working folder or, where nothing is there, from that of the file.
type AdaptiveOptions struct {
	// Data is a folder of applications, each a folder with placements.csv and validation-BATCH.csv, beneath it or
	// beneath traces; applications.csv has their epochs. Required.
	Data string `result:"contents"`
	// Traces are tables of jobs, with columns name, time, application, num_replicas and batch_size, or traces of
	// clusters in any format, whose jobs get applications of their sizes. What is no file is looked for in data,
	// data/workloads and the folders beneath that. Required.
	Traces   []string `result:"contents"`
	Nodes    int      // of the cluster, all alike; zero is 16
	Devices  int      // of a node; zero is 4
	Interval float64  `config:"interval_seconds"` // time between two decisions; zero is 60
	// time for which a job stands still when its devices change; zero is 30
	Delay float64 `config:"delay_seconds"`
	// share of its speed that a job on several nodes loses beside another one, from 0 to below 1; default 0
	Interference float64
	Limit        float64 `config:"limit_seconds"` // time after which a simulation fails; zero is no limit
	// Compat reproduces the faults of another simulator: pollux has the results of Pollux's, none corrects its
	// errors. Empty means none.
	Compat string   `config:",one=none|pollux"`
	Quirks []string // faults that are kept, by name, where compat is none; empty keeps none
}

// CompatPollux has the results of Pollux's simulator.
const CompatPollux = "pollux"

// EnsureDefaults fills in what zero stands for.
func (o *AdaptiveOptions) EnsureDefaults() {
	o.Compat = cmp.Or(o.Compat, CompatNone)
	c := o.cluster()
	c.EnsureDefaults()
	o.Nodes, o.Devices, o.Interval, o.Delay = c.Nodes, c.Devices, c.Interval, c.Delay
}

// Validate joins all that is wrong.
func (o AdaptiveOptions) Validate() error {
	var faults faultList
	faults.when(o.Data == "", "data is missing; name a folder of applications")
	faults.when(len(o.Traces) == 0, "traces is missing; name tables of jobs")
	faults.when(o.Compat != CompatNone && o.Compat != CompatPollux, "compat is %q; must be none or pollux", o.Compat)
	faults.when(o.Compat == CompatPollux && len(o.Quirks) > 0,
		"quirks is set beside compat pollux, which keeps all; leave out one of them")
	if _, err := cluster.NamedQuirks(o.Quirks, adaptive.Quirks()); err != nil {
		faults = append(faults, fmt.Errorf("quirks: %w", err))
	}
	return errors.Join(append(faults, o.cluster().Validate())...)
}

// cluster is the cluster without quirks.
func (o *AdaptiveOptions) cluster() *adaptive.Options {
	return &adaptive.Options{Nodes: o.Nodes, Devices: o.Devices, Interval: o.Interval, Interference: o.Interference,
		Delay: o.Delay, Limit: o.Limit}
}

// AdaptiveSchedule names the schedulers.
type AdaptiveSchedule struct {
	// Schedulers to compare, as 'graft cluster run --help' lists them: those of adaptive jobs, or of jobs that keep
	// the devices and the batch of their users. Empty means all of adaptive jobs.
	Schedulers []string
	Seed       uint64 // of schedulers that draw; with several seeds the first
	Seeds      int    // simulations under each scheduler that draws, with successive seeds; zero means 1
	Worth      bool   // also simulates the first workload with each quirk alone; default false
	Workers    int    `result:"none"` // simulations in parallel; zero means one for each processor
}

// EnsureDefaults fills in what zero stands for.
func (o *AdaptiveSchedule) EnsureDefaults() {
	if o.Seeds = cmp.Or(o.Seeds, 1); len(o.Schedulers) > 0 {
		return
	}
	for _, k := range adaptive.Kinds() {
		o.Schedulers = append(o.Schedulers, k.Name)
	}
}

// Validate joins all that is wrong.
func (o AdaptiveSchedule) Validate() error {
	var faults faultList
	for k, name := range o.Schedulers {
		if _, err := adaptiveScheduler(name, adaptive.SchedulerOptions{}, 0); err != nil {
			faults = append(faults, fmt.Errorf("schedulers[%d]: %w", k, err))
		}
		faults.when(slices.Contains(o.Schedulers[:k], name), "schedulers[%d]: %s is given twice", k, name)
	}
	faults.when(o.Seeds < 1 || o.Seeds > study.MostSeeds, "seeds is %d; must be from 1 to %d", o.Seeds, study.MostSeeds)
	faults.when(o.Workers < 0, "workers is %d; must not be negative", o.Workers)
	return errors.Join(faults...)
}

// AdaptiveOutput is the run folder.
type AdaptiveOutput struct {
	Folder string `result:"none"` // path of the run folder; empty lets the command choose
}

// ReadAdaptive is AdaptiveKind.Read.
func ReadAdaptive(fsys files.FS, path string, set []string) (*Adaptive, error) {
	return readAs[*Adaptive](AdaptiveKind, fsys, path, set)
}

// EnsureDefaults fills in what zero stands for.
func (a *Adaptive) EnsureDefaults() {
	a.Adaptive.EnsureDefaults()
	a.Schedule.EnsureDefaults()
	a.Pollux.EnsureDefaults()
}

// Validate joins all that is wrong.
func (a *Adaptive) Validate() error {
	var faults faultList
	for _, name := range a.Schedule.Schedulers {
		_, err := adaptive.Named(name)
		faults.when(err != nil && a.Adaptive.Compat == CompatPollux,
			"scheduler %s is not of adaptive jobs; leave it out, or set compat to none", name)
	}
	return errors.Join(append(faults, a.Adaptive.Validate(), a.Schedule.Validate(), a.SchedulerOptions.Validate())...)
}

// check reads the applications and the workloads, and simulates nothing.
func (a *Adaptive) check(fsys files.FS, r *decode.Reading) {
	if a.Validate() == nil {
		a.world.read(fsys, r, a)
	}
}

// Workloads are the jobs on the cluster, in the order of adaptive.traces.
func (a *Adaptive) Workloads() []AdaptiveWorkload { return a.world.workloads }

// Quirks are the faults that are kept.
func (a *Adaptive) Quirks() cluster.Quirks {
	if a.Adaptive.Compat == CompatPollux {
		return cluster.QuirksOf(adaptive.Quirks())
	}
	return a.Adaptive.Quirks
}

// Scheduler returns a scheduler with the options of the file.
func (a *Adaptive) Scheduler(name string, seed uint64) (AdaptiveScheduler, error) {
	return adaptiveScheduler(name, a.SchedulerOptions, seed)
}

// Resolved is the text of the file with every value.
func (a *Adaptive) Resolved() string { return Resolved(a) }

// Digest covers what results depend on, the contents of the files too.
func (a *Adaptive) Digest() string {
	return digest(a, func(w io.Writer) { fmt.Fprintln(w, a.world.contents) })
}

// Summary is simulations of adaptive jobs in a line.
func (a *Adaptive) Summary() (string, error) {
	jobs := 0
	var names []string
	for _, w := range a.world.workloads {
		jobs += len(w.Study.Jobs)
		names = append(names, w.Name)
	}
	return fmt.Sprintf("%s of %s on %s of %s under %s, quirks of %s; digest %.12s", document.Plural(jobs, "job"),
		document.SomeOf(names, 4), document.Plural(a.Adaptive.Nodes, "node"),
		document.Plural(a.Adaptive.Devices, "device"), strings.Join(a.Schedule.Schedulers, ", "), a.Adaptive.Compat,
		a.Digest()), nil
}
