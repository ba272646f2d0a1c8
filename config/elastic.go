package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"graft/cluster/elastic"
	"graft/cluster/elastic/schedulers"
	"graft/config/decode"
	"graft/internal/files"
	"graft/report/document"
)

// ElasticKind is the kind of files with the section elastic.
var ElasticKind = &Kind{
	Name: "elastic", Noun: "simulations of elastic jobs", Command: "graft cluster run",
	Files: "files of simulations of elastic jobs", Title: "simulations of elastic jobs",
	Sections: []string{"elastic"}, New: func() File { return &Elastic{} }, Summary: summaryOf((*Elastic).Summary),
	Page: Page{Title: "Keys of the file of simulations of elastic jobs",
		Intro: "A file with the section `elastic`, for `graft cluster run`. See [elastic jobs](elastic.md).\n"},
}

// Elastic is the file of simulations of elastic jobs: a workload, a cluster and schedulers.
type Elastic struct {
	Elastic  ElasticOptions  // workload and cluster
	Schedule ElasticSchedule // schedulers
	Output   ElasticOutput   // run folder

	sources
	world elasticWorld
	kinds []ElasticScheduler
}

// ElasticOptions describe the jobs and the cluster. Values that are zero are those of the trace's
// parameters, where it has some. Paths are those of the operating system, from the working folder or,
// where nothing is there, from that of the file.
type ElasticOptions struct {
	// Trace is a JSON file of the jobs, and of parameters of the simulator DL2 in overrides; or the trace of
	// a cluster, of any format that 'graft trace' reads, whose jobs with devices keep their work: a job has the
	// type that is named as its model, else a drawn one. Required.
	Trace string `result:"contents"`
	// Speeds is a JSON file of steps a second by model, servers and workers, each from 1 on; a folder of
	// applications as in adaptive.data, which are then the types of jobs, without parameter servers; or analytic,
	// which computes speeds from what the types say of computation and communication. Required unless the
	// trace says that speeds are analytic.
	Speeds string `result:"contents"`
	// JSON file of job types: demands, size of an epoch, communication; empty means the eight models of DL2
	Types string  `result:"contents"`
	Nodes int     // of the cluster; zero is the trace's, or 96
	CPUs  int     `config:"cpu_slots"` // CPU slots of a node; zero is the trace's, or 8
	GPUs  int     `config:"gpu_slots"` // GPU slots of a node; zero is the trace's, or 8
	Most  int     // maximum number of workers of a job, and of servers; zero is the trace's, or 16
	Slot  float64 `config:"slot_seconds"` // length of a slot in seconds; zero is the trace's, or 1200
	Limit int     `config:"max_slots"`    // slots after which a simulation fails; zero is no limit
	// SpeedError is the relative error of speeds, drawn evenly in ± of it for each job and slot, from 0 to
	// below 1. Zero is the trace's, or none.
	SpeedError float64
	// Scaling is the time that a job loses in a slot when its counts have changed: checkpoint stops and
	// restarts it, hot moves parameters while it runs, none is free. Empty means checkpoint, or none with
	// compat dl2.
	Scaling string `config:",one=checkpoint|hot|none"`
	// Compat reproduces the faults of another simulator: dl2 has the results of DL2's, none corrects its
	// errors. Empty means none.
	Compat string `config:",one=none|dl2"`
}

// usualSlots are the slots of either kind of a node of DL2.
const usualSlots = 8

// speedsAnalytic computes speeds in place of reading them.
const speedsAnalytic = "analytic"

// CompatDL2 has the results of DL2's simulator.
const CompatDL2 = "dl2"

// EnsureDefaults fills in what zero stands for, but for what the trace says.
func (o *ElasticOptions) EnsureDefaults() {
	o.Compat = cmp.Or(o.Compat, CompatNone)
	otherwise := elastic.CheckpointRestart
	if o.Compat == CompatDL2 {
		otherwise = elastic.NoScaling
	}
	o.Scaling = cmp.Or(o.Scaling, otherwise)
}

// Validate joins all that is wrong.
func (o ElasticOptions) Validate() error {
	var faults faultList
	for name, v := range map[string]int{"nodes": o.Nodes, "cpu_slots": o.CPUs, "gpu_slots": o.GPUs, "most": o.Most,
		"max_slots": o.Limit} {
		faults.when(v < 0, "%s is %d; must not be negative", name, v)
	}
	faults.when(!(o.Slot >= 0), "slot_seconds is %v; must not be negative", o.Slot)
	faults.when(!(o.SpeedError >= 0 && o.SpeedError < 1), "speed_error is %v; must be from 0 to below 1", o.SpeedError)
	if _, err := elastic.ScalingNamed(o.Scaling); err != nil {
		faults = append(faults, fmt.Errorf("scaling: %w", err))
	}
	faults.when(o.Compat != CompatNone && o.Compat != CompatDL2, "compat is %q; must be none or dl2", o.Compat)
	faults.when(o.Compat == CompatDL2 && o.Scaling != elastic.NoScaling,
		"scaling is %q; the original moves jobs at no cost: with compat dl2 it is none", o.Scaling)
	return errors.Join(faults...)
}

// ElasticSchedule names the schedulers.
type ElasticSchedule struct {
	// Schedulers to compare: fifo, srtf, drf, tetris, optimus, peak, frontier, or learned ones, each a run
	// folder of 'graft learn' or a file of its policies. Empty means all that need no learning.
	Schedulers []string
	Workers    int `result:"none"` // simulations in parallel; zero means one for each processor
}

// EnsureDefaults fills in what zero stands for.
func (o *ElasticSchedule) EnsureDefaults() {
	if len(o.Schedulers) > 0 {
		return
	}
	for _, k := range schedulers.Kinds() {
		o.Schedulers = append(o.Schedulers, k.Name)
	}
}

// Validate joins all that is wrong.
func (o ElasticSchedule) Validate() error {
	var faults faultList
	for k, name := range o.Schedulers {
		if _, err := schedulers.Named(name); err != nil && !isPath(name) {
			faults = append(faults, fmt.Errorf("schedulers[%d]: %w; or the path of a learned one, such as ./%s", k,
				err, name))
		}
		faults.when(slices.Contains(o.Schedulers[:k], name), "schedulers[%d]: %s is given twice", k, name)
	}
	faults.when(o.Workers < 0, "workers is %d; must not be negative", o.Workers)
	return errors.Join(faults...)
}

// ElasticOutput is the run folder.
type ElasticOutput struct {
	Folder string `result:"none"` // path of the run folder; empty lets the command choose
}

// ReadElastic is ElasticKind.Read.
func ReadElastic(fsys files.FS, path string, set []string) (*Elastic, error) {
	return readAs[*Elastic](ElasticKind, fsys, path, set)
}

// EnsureDefaults fills in what zero stands for.
func (e *Elastic) EnsureDefaults() {
	e.Elastic.EnsureDefaults()
	e.Schedule.EnsureDefaults()
}

// Validate joins all that is wrong.
func (e *Elastic) Validate() error { return errors.Join(e.Elastic.Validate(), e.Schedule.Validate()) }

// check reads the workload, the speeds and the learned schedulers, and simulates nothing.
func (e *Elastic) check(fsys files.FS, r *decode.Reading) {
	if e.Elastic.Trace == "" {
		r.Blame("elastic.trace", "trace is missing; name a JSON file with jobs")
		return
	}
	if r.Broken("elastic.trace") || !e.world.read(fsys, r, &e.Elastic) {
		return
	}
	s := e.Study()
	if err := s.Validate(); err != nil {
		r.Blame("elastic.trace", "the jobs on this cluster: "+err.Error())
	}
	e.kinds = readElasticSchedulers(fsys, r, e.Schedule.Schedulers)
}

// elasticWorld holds the contents of the files that the section elastic names.
type elasticWorld struct {
	types []elastic.JobType
	trace *elastic.Trace // nil where none is named
	table elastic.Table  // nil where speeds are analytic, or those of applications
	steps elastic.Steps  // times of applications; nil without

	contents string // digest of the files of the applications

	analytic bool
}

// read reads it, and reports whether all is right.
func (w *elasticWorld) read(fsys files.FS, r *decode.Reading, o *ElasticOptions) bool {
	var err error
	if info, err := fsys.Stat(o.Speeds); o.Speeds != "" && err == nil && info.IsDir() {
		if !w.readApplications(fsys, r, o) {
			return false
		}
	} else if w.types = elastic.PublishedTypes(); o.Types != "" {
		if w.types, err = readJSON(fsys, o.Types, elastic.ReadTypes); err != nil {
			r.Blame("elastic.types", err.Error())
			return false
		}
	}
	clustered := false
	if o.Trace != "" {
		if clustered, err = isClusterTrace(fsys, o.Trace); err == nil && !clustered {
			w.trace, err = w.readJobs(fsys, o.Trace)
		}
		if err != nil {
			r.Blame("elastic.trace", r.Elsewhere("elastic.trace", err).Error())
			return false
		}
	}
	if !w.readSpeeds(fsys, r, o) {
		return false
	}
	if clustered {
		if w.trace, err = w.readTrace(fsys, o.Trace, o); err != nil {
			r.Blame("elastic.trace", err.Error())
		}
	}
	return err == nil
}

// readSpeeds reads the speeds, unless they are analytic, and reports whether all is right.
func (w *elasticWorld) readSpeeds(fsys files.FS, r *decode.Reading, o *ElasticOptions) bool {
	if w.steps != nil {
		return true
	}
	if w.analytic = o.Speeds == speedsAnalytic || w.trace != nil && w.trace.Settings.Analytic; w.analytic {
		return true
	}
	if o.Speeds == "" {
		r.Blame("elastic.speeds", "speeds are missing; name a JSON file with the speed of each model by servers and "+
			"workers or a folder of applications, or say analytic")
		return false
	}
	var err error
	if w.table, err = readJSON(fsys, o.Speeds, elastic.ReadTable); err != nil {
		r.Blame("elastic.speeds", err.Error())
	}
	return err == nil
}

// study is a trace on the cluster that the section describes.
func (w *elasticWorld) study(t *elastic.Trace, given *ElasticOptions) elastic.Study {
	o := t.Settings.Options
	o.Nodes, o.Most, o.Slot, o.Limit = cmp.Or(given.Nodes, o.Nodes), cmp.Or(given.Most, o.Most),
		cmp.Or(given.Slot, o.Slot), cmp.Or(given.Limit, o.Limit)
	o.PerNode = elastic.Resources{elastic.CPU: cmp.Or(given.CPUs, o.PerNode[elastic.CPU], usualSlots),
		elastic.GPU: cmp.Or(given.GPUs, o.PerNode[elastic.GPU], usualSlots)}
	o.Scaling, o.SpeedError = given.Scaling, cmp.Or(given.SpeedError, o.SpeedError)
	compatible := given.Compat == CompatDL2
	if compatible {
		o.Quirks = elastic.Compatible().Quirks
	}
	s := elastic.Study{Types: w.types, Jobs: t.Jobs, Speed: w.table, Options: o}
	switch {
	case w.steps != nil:
		s.Speed, s.Options.AllReduce = w.steps, true
	case w.analytic:
		s.Speed = elastic.Analytic{WholeShares: compatible}
	}
	s.Options.EnsureDefaults()
	return s
}

// readJSON reads a file.
func readJSON[T any](fsys files.FS, path string, read func(io.Reader) (T, error)) (value T, err error) {
	f, err := fsys.Open(path)
	if err != nil {
		return value, err
	}
	defer f.Close()
	if value, err = read(f); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return value, err
}

// Study is the workload on the cluster.
func (e *Elastic) Study() elastic.Study { return e.world.study(e.world.trace, &e.Elastic) }

// Schedulers returns the schedulers to compare.
func (e *Elastic) Schedulers() []ElasticScheduler { return e.kinds }

// Resolved is the text of the file with every value.
func (e *Elastic) Resolved() string { return Resolved(e) }

// Digest covers what results depend on, the contents of the files too.
func (e *Elastic) Digest() string {
	return digest(e, func(w io.Writer) {
		fmt.Fprintln(w, e.world.trace, e.world.table, e.world.types, e.world.analytic)
		_, _ = io.WriteString(w, e.world.contents)
		for _, k := range e.kinds {
			fmt.Fprintln(w, k.digest)
		}
	})
}

// Summary is simulations of elastic jobs in a line.
func (e *Elastic) Summary() (string, error) {
	s := e.Study()
	return fmt.Sprintf("%s of %s on %s under %s, scaling %s, quirks of %s; digest %.12s",
		document.Plural(len(s.Jobs), "job"), e.Elastic.Trace, document.Plural(s.Options.Nodes, "node"),
		strings.Join(e.Schedule.Schedulers, ", "), e.Elastic.Scaling, e.Elastic.Compat, e.Digest()), nil
}
