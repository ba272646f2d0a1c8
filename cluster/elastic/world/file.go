// Package world simulates elastic jobs: in every slot, schedulers choose each job's numbers of workers and parameter
// servers.
package world

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"graft/cluster/elastic"
	"graft/cluster/elastic/agent"
	"graft/cluster/elastic/schedulers"
	"graft/cluster/study"
	"graft/internal/decode"
	"graft/internal/files"
	"graft/internal/words"
	"graft/torch/weights"
)

// World returns the description of the elastic-job simulator for 'graft cluster'.
func World() *study.World {
	return &study.World{
		Name: "elastic", Title: "simulation of elastic jobs", Titles: "simulations of elastic jobs",
		About:    "jobs whose workers and parameter servers change from slot to slot",
		Sections: []string{"elastic"}, Compats: []string{CompatDL2},
		Intro: "A file with the section `elastic`, for `graft cluster run`. See [elastic jobs](elastic.md).\n",
		Notes: "--compat dl2 reproduces DL2's simulator with its bugs and its results.",
		Flags: []study.Flag{
			{Name: "speeds", Key: "elastic.speeds", About: "speeds of elastic jobs: a speed table (JSON), a folder " +
				"of applications, or analytic"},
			{Name: "nodes", Key: "elastic.nodes"}, {Name: "compat", Key: "elastic.compat"},
			{Name: "gpus-per-node", Key: "elastic.gpus_per_node", About: "GPUs per node; 0 means 8"},
		},
		Quirks: elastic.Quirks(), New: func() study.File { return &File{} },
		Schedulers: func() (all []study.Entry) {
			for _, k := range schedulers.Kinds() {
				all = append(all, study.Entry{Name: k.Name, About: k.About})
			}
			return all
		},
		Claims: func(_ files.FS, flags map[string]string) bool { return flags["speeds"] != "" },
	}
}

// File configures simulations of elastic jobs.
type File struct {
	Elastic Options // Cluster, job types and job speeds.
	// Job traces: JSON files of elastic jobs, or cluster traces. Each GPU job of a cluster trace becomes an elastic job
	// with the same amount of work.
	Workload study.Workload
	Schedule study.Schedule   // Schedulers to compare.
	Run      study.RunOptions // Output folder of the run.

	study.Sources `config:"-"`
	inputs        Inputs
	names         []string
	studies       []elastic.Study
	overrides     []map[string]any // parameters that the trace of each study sets
	schedulers    []Scheduler
	setting       study.Setting // empty without learned schedulers
}

// Scheduler is a built-in or learned scheduler for elastic jobs.
type Scheduler = study.Learned[elastic.Kind]

// EnsureDefaults fills in defaults.
func (f *File) EnsureDefaults() {
	f.Elastic.EnsureDefaults()
	f.Schedule.EnsureDefaults(study.Names(World().Schedulers())...)
}

// Validate returns an error that lists every invalid option.
func (f *File) Validate() error {
	return errors.Join(f.Elastic.Validate(), f.Schedule.Validate(Known))
}

// Known returns an error if no scheduler has the given name.
func Known(name string) error {
	_, err := schedulers.Named(name)
	if err != nil {
		err = fmt.Errorf("%w; the path of a learned scheduler, such as ./%s, is also valid", err, name)
	}
	return err
}

// Shared returns the sections of the file that are common to all simulators.
func (f *File) Shared() study.Shared {
	return study.Shared{Workload: &f.Workload, Schedule: &f.Schedule, Folder: f.Run.Folder}
}

// Check reads the workloads, the speeds and the learned schedulers.
func (f *File) Check(fsys files.FS, r *decode.Reading) {
	traces := f.Workload.Traces
	if len(traces) == 0 {
		r.Blame(tracesKey, "traces is missing; expected a JSON file of elastic jobs or a cluster trace")
		return
	}
	if r.Broken(tracesKey) || !f.inputs.Read(fsys, r, &f.Elastic, traces[0]) {
		return
	}
	if f.names = f.Workload.Names(r); f.names == nil {
		return
	}
	f.studies, f.overrides = nil, nil
	f.add(f.inputs.trace)
	for k, path := range traces[1:] {
		t, err := f.inputs.ReadTrace(fsys, path, &f.Elastic)
		if err != nil {
			r.Blame(tracesKey, r.Elsewhere(tracesKey, err, k+1).Error(), k+1)
			return
		}
		f.add(t)
		if a, b := f.studies[0].Options.Slot, f.studies[k+1].Options.Slot; a != b {
			r.Blame(tracesKey, fmt.Sprintf("a slot has %g s in %s and %g s in %s, but times are in slots; set "+
				"elastic.slot_seconds, or simulate the traces separately", b, path, a, traces[0]), k+1)
		}
	}
	for k := range f.studies {
		if err := f.studies[k].Validate(); err != nil {
			r.Blame(tracesKey, "jobs do not fit this cluster: "+err.Error(), k)
		}
	}
	var err error
	if f.schedulers, err = FindSchedulers(fsys, f.Schedule.Schedulers); err != nil {
		r.Blame("schedule.schedulers", r.Elsewhere("schedule.schedulers", err).Error())
		return
	}
	if !slices.ContainsFunc(f.schedulers, func(s Scheduler) bool { return s.IsLearned() }) {
		return
	}
	f.setting = SettingOf(f.studies[0].Options)
	if err = f.setting.Read(fsys, traces...); err != nil {
		r.Blame(tracesKey, err.Error())
	}
}

// add adds a study of the jobs of a trace.
func (f *File) add(t *elastic.Trace) {
	f.studies, f.overrides = append(f.studies, f.inputs.Study(t, &f.Elastic)), append(f.overrides, t.Overrides)
}

// SettingOf describes the cluster on which schedulers learn or run.
func SettingOf(o elastic.Options) study.Setting {
	return study.NewSetting(map[string]any{"nodes": o.Nodes, "cpus_per_node": o.PerNode[elastic.CPU],
		"gpus_per_node": o.PerNode[elastic.GPU], "max_workers": o.Most, "slot_seconds": o.Slot})
}

// FindSchedulers finds built-in schedulers by name, and reads learned schedulers from files.
func FindSchedulers(fsys files.FS, names []string) ([]Scheduler, error) {
	learned := func(path string) (Scheduler, error) { return ReadScheduler(fsys, path) }
	return study.FindSchedulers(names, schedulers.Named, learned, func(k elastic.Kind) string { return k.Name })
}

// ReadScheduler reads a learned scheduler from a file or from a run folder of 'graft learn'.
func ReadScheduler(fsys files.FS, path string) (Scheduler, error) {
	return study.ReadLearned(fsys, path, append(elastic.PolicyReaders(), readAgent)...)
}

func readAgent(name string, set *weights.Set) (elastic.Kind, bool, error) {
	p, err := agent.ReadPolicy(set)
	if err != nil {
		return elastic.Kind{}, false, err
	}
	return agent.SchedulerOf(name, p), true, nil
}

// Contents writes all inputs other than configuration keys, so that the caller can compute a digest of them.
func (f *File) Contents(w io.Writer) {
	f.inputs.Contents(w)
	for k := range f.studies {
		fmt.Fprintln(w, f.studies[k].Jobs)
		for _, name := range slices.Sorted(maps.Keys(f.overrides[k])) {
			fmt.Fprintln(w, name, f.overrides[k][name])
		}
	}
	for _, s := range f.schedulers {
		fmt.Fprintln(w, s.Digest)
	}
}

// Summary describes the simulations in one line.
func (f *File) Summary() (string, error) {
	return fmt.Sprintf("%s under %s, compat %s", f.title(), strings.Join(f.Schedule.Schedulers, ", "),
		f.Elastic.Compat), nil
}

func (f *File) title() string {
	jobs := 0
	for k := range f.studies {
		jobs += len(f.studies[k].Jobs)
	}
	return fmt.Sprintf("%s of %s on %s, scaling %s", words.Plural(jobs, "job"), words.Some(f.Workload.Traces, 4),
		clusterText(&f.studies[0]), f.Elastic.Scaling)
}

// clusterText describes the nodes and the number of workers that they hold, since a worker may take several slots.
func clusterText(s *elastic.Study) string {
	o := s.Options
	text := fmt.Sprintf("%s of %d GPU slots", words.Plural(o.Nodes, "node"), o.PerNode[elastic.GPU])
	most := 0
	for _, t := range s.Types {
		most = max(most, t.Worker[elastic.GPU])
	}
	if most == 0 {
		return text
	}
	return fmt.Sprintf("%s (%s, if each takes %s)", text, words.Plural(o.Nodes*(o.PerNode[elastic.GPU]/most), "worker"),
		words.Plural(most, "slot"))
}

// Studies returns one study per trace: its jobs on the configured cluster.
func (f *File) Studies() []elastic.Study { return f.studies }

// Study returns the simulations that the file configures.
func (f *File) Study() study.Study { return &simulations{File: f} }
