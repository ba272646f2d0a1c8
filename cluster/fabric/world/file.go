// Package world simulates clusters that run training steps operation by operation. Jobs arrive, and schedulers choose
// the number of parts into which each job's step is split.
package world

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"graft/cluster/fabric"
	"graft/cluster/fabric/agent"
	"graft/cluster/fabric/graph"
	"graft/cluster/fabric/networks"
	"graft/cluster/study"
	"graft/internal/decode"
	"graft/internal/files"
	"graft/internal/validate"
	"graft/internal/words"
	"graft/learn"
	"graft/learn/candidates"
	"graft/model"
	"graft/trainer/clock"
)

// World returns the description of the simulator for 'graft fabric run'.
func World() *study.World {
	return &study.World{
		Name: "fabric", Title: "simulation of training steps on a network",
		Titles:   "simulations of training steps on a network",
		About:    "training steps on servers and a network, operation by operation",
		Command:  "graft fabric run",
		Sections: []string{"fabric", "graphs", "demand"},
		Intro: "A file with the section `fabric`, for `graft fabric run`.\n" +
			"See [training steps on a network](fabric.md).\n",
		Notes: notes, Quirks: fabric.Quirks(), New: func() study.File { return New() }, Schedulers: Schedulers,
	}
}

// File configures a cluster that runs training steps operation by operation.
type File struct {
	Fabric   Options            // Servers and their network.
	Graphs   Graphs             // Neural networks that jobs train.
	Demand   Demand             // Arrival times, sizes and time limits of jobs.
	Schedule study.Schedule     // Schedulers, which choose the number of servers of each job.
	Vary     Vary               // Lists of values to sweep; every combination is simulated.
	Learn    candidates.Options `config:",omit=max_slots"` // Options for the learner that 'graft learn' runs.
	Run      learn.RunOptions   // Seeds for 'graft learn', and the run folder for every command.

	study.Sources `config:"-"`
	reader        networks.Reader
	profiles      []*graph.Profile
	times         int // number of profiles from files that contain a graph with its times
	schedulers    []Scheduler
}

// New returns the configuration before a file is read and EnsureDefaults is called. It sets the number of lessons and
// the number of rounds to ten, because larger numbers hardly improved the learned schedulers.
func New() *File {
	return &File{Demand: Demand{Seed: 1}, Learn: candidates.Options{Lessons: 10, Rounds: 10},
		Run: learn.RunOptions{Seed: 1, Every: 1}}
}

// UseNetworks sets the functions that read network files and device profiles. Call it before Check.
func (f *File) UseNetworks(network func(files.FS, string) (*model.Network, error),
	profile func(files.FS, string) (*clock.Profile, error)) {
	f.reader = networks.Reader{Network: network, Profile: profile}
}

// EnsureDefaults fills in defaults.
func (f *File) EnsureDefaults() {
	f.Fabric.EnsureDefaults()
	f.Graphs.EnsureDefaults()
	f.Demand.EnsureDefaults()
	f.Schedule.EnsureDefaults(study.Names(Schedulers())...)
	f.Learn.EnsureDefaults()
	f.Run.EnsureDefaults()
}

// Validate returns an error that lists every invalid option.
func (f *File) Validate() error {
	var faults validate.Faults
	faults.When(len(f.Vary.Loads) > 0 && f.Demand.Every != 0,
		"vary.loads and demand.arrival_interval are mutually exclusive, because an interval sets the load; remove one")
	faults.When(len(f.Vary.Skewness) > 0 && f.Demand.Limits != "skewed",
		"vary.skewness is set, but demand.limits is \"%s\"; set demand.limits to \"skewed\", or remove "+
			"vary.skewness", f.Demand.Limits)
	if s := f.Schedule.Schedulers; f.Schedule.Ablate && len(s) > 0 && s[0] == Exact {
		faults = append(faults, fmt.Errorf("schedule.ablate applies to the first scheduler, "+
			"but %s has no quirks; put another scheduler first", Exact))
	}
	return errors.Join(append(faults, f.Fabric.Validate(), f.Graphs.Validate(), f.Demand.Validate(),
		f.Schedule.Validate(known), f.Vary.Validate(), f.Learn.Validate(), agent.CheckTeacher(f.Learn.Teacher),
		f.Run.Validate())...)
}

// Shared returns the sections of the file that are common to all simulators.
func (f *File) Shared() study.Shared {
	return study.Shared{Schedule: &f.Schedule, Folder: f.Run.Folder}
}

// Check reads the graphs and the learned schedulers. For each combination of swept values, it generates the jobs and
// checks that every model fits on the cluster.
func (f *File) Check(fsys files.FS, r *decode.Reading) {
	if f.Validate() != nil || !f.readGraphs(fsys, r) || !f.findSchedulers(fsys, r) {
		return
	}
	f.blameUnused(r)
	if r.Failed() {
		return
	}
	for _, p := range f.points() {
		s, err := f.cluster(&p, f.Fabric.quirks())
		if err == nil {
			_, err = f.episode(s, &p, 0)
		}
		if err != nil {
			r.Blame("fabric", fmt.Sprintf("%s: %v", cmp.Or(p.name(), "the cluster"), err))
			return
		}
		if model, err := s.Homeless(); err != nil {
			r.Blame("graphs.models", fmt.Sprintf("%s does not fit on the servers at any degree: %v",
				f.Graphs.Models[model], err))
			return
		}
	}
}

// readGraphs reads the graphs. It returns false on an error.
func (f *File) readGraphs(fsys files.FS, r *decode.Reading) bool {
	f.profiles, f.times = nil, 0
	for k, name := range f.Graphs.Models {
		o := networks.ReadOptions{Batch: f.Graphs.Batch, Profile: f.Graphs.Profile}
		if len(f.Graphs.Sizes) > 0 {
			o.Size = f.Graphs.Sizes[k]
		}
		p, err := networks.ReadGraph(fsys, name)
		if p != nil {
			if f.times++; o.Size != 0 {
				r.Blame("graphs.sizes", fmt.Sprintf("sizes[%d] is not used, because %s is a graph with its own sizes; "+
					"set it to 0", k, name), k)
				return false
			}
		} else if err == nil {
			p, err = f.reader.Read(fsys, name, o)
		}
		if err != nil {
			r.Blame("graphs.models", fmt.Sprintf("models[%d]: %v", k, r.Elsewhere("graphs.models", err, k)))
			return false
		}
		if filepath.Ext(name) == "" {
			p.Model = name // a name such as ResNet18; the class is only ResNet
		}
		if slices.ContainsFunc(f.profiles, func(other *graph.Profile) bool { return other.Model == p.Model }) {
			r.Blame("graphs.models", fmt.Sprintf("models[%d]: duplicate network name %s; rename one of the files", k,
				p.Model))
			return false
		}
		f.profiles = append(f.profiles, p)
	}
	return true
}

// Contents writes all inputs other than configuration keys, so that the caller can compute a digest of them.
func (f *File) Contents(w io.Writer) {
	for _, p := range f.profiles {
		fmt.Fprintln(w, *p)
	}
	for _, s := range f.schedulers {
		fmt.Fprintln(w, s.Digest)
	}
}

// Summary describes the simulations in one line.
func (f *File) Summary() (string, error) {
	return fmt.Sprintf("%s with %s each, of %s, on %s, under %s",
		words.Plural(len(f.points())*f.Demand.TestCount, "episode"), words.Plural(f.Demand.Jobs, "job"),
		words.Plural(len(f.profiles), "network"), f.networks(), strings.Join(f.Schedule.Schedulers, ", ")), nil
}

// Study returns the simulations that the file configures.
func (f *File) Study() study.Study { return &simulations{File: f, points: f.points()} }
