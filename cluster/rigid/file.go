// Package rigid is the world of rigid jobs, which keep the devices that they request. It replays traces of clusters
// under schedulers, event by event.
package rigid

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"graft/cluster"
	"graft/cluster/curves"
	"graft/cluster/failures"
	"graft/cluster/live"
	"graft/cluster/lucid"
	"graft/cluster/schedulers"
	"graft/cluster/study"
	"graft/internal/coprocess"
	"graft/internal/decode"
	"graft/internal/files"
	"graft/internal/words"
	"graft/learn"
)

// World returns the description of the rigid-job simulator for 'graft cluster'.
func World() *study.World {
	return &study.World{
		Name: "rigid", Title: "cluster simulation", Titles: "cluster simulations",
		About:    "jobs that keep the devices that they request",
		Sections: []string{"cluster"}, Compats: []string{CompatLucid},
		Intro: "A file with the section `cluster`, for `graft cluster run` and `graft learn`. See [the " +
			"cluster](cluster.md).\n",
		Notes: "--compat lucid reproduces Lucid's simulator with its bugs, and its result for each job of the\n" +
			"published month of jobs. Without it, the bugs are fixed; --ablate reports the effect of each bug.",
		Flags: flags(), Quirks: quirks(), New: func() study.File { return New() },
		Schedulers: func() (all []study.Entry) {
			for _, p := range schedulers.Kinds() {
				all = append(all, study.Entry{Name: p.Name, About: p.About, Needs: needs(p)})
			}
			return all
		},
	}
}

// needs lists the flags of which a scheduler requires at least one.
func needs(p cluster.Policy) []string {
	switch {
	case p.Profiles:
		return []string{"data"}
	case p.Deadlines:
		return []string{"deadline-factor"}
	case p.Estimates != "":
		return []string{"data", "estimates"}
	}
	return nil
}

// quirks lists the quirks of all schedulers, each once.
func quirks() (all []cluster.Quirk) {
	for _, p := range schedulers.Kinds() {
		for _, q := range p.Quirks {
			if !slices.Contains(all, q) {
				all = append(all, q)
			}
		}
	}
	return all
}

func flags() []study.Flag {
	return []study.Flag{
		{Name: "data", Key: "cluster.data",
			About: "folder of cluster data: nodes, profiles, estimates and forecasts"},
		{Name: "nodes", Key: "cluster.nodes", About: "number of nodes; all jobs share a single virtual cluster"},
		{Name: "vc-file", Key: "cluster.vc_file", About: "file of virtual clusters and their numbers of nodes",
			Text: true},
		{Name: "compat", Key: "cluster.compat"},
		{Name: "gpus-per-node", Key: "cluster.gpus_per_node", About: "GPUs per node; 0 means 8"},
		{Name: "placement", Key: "cluster.placement",
			About: "selection of nodes: consolidate, consolidate-first or random"},
		{Name: "estimates", Key: "schedule.estimates",
			About: "estimated durations of jobs: limits, lgb or ebm from --data, exact, or a file"},
		{Name: "load", Key: "schedule.arrival_factors",
			About: "factors of the arrival rate relative to the trace, separated by commas", List: true},
		{Name: "deadline-factor", Key: "schedule.deadline_factor",
			About: "deadlines of jobs after their submissions, relative to their time limits"},
		{Name: "failures", Key: "failures.file", Text: true,
			About: "fault trace, list of outages, or Slurm events of the nodes (rigid jobs)"},
		{Name: "from", Key: "cluster.from_seconds", About: "drop jobs submitted before this second of the trace"},
		{Name: "to", Key: "cluster.to_seconds", About: "drop jobs submitted after this second of the trace"},
	}
}

// File configures simulations of a cluster.
type File struct {
	Cluster            Options          // Cluster nodes, and the part of the trace to simulate.
	Workload           study.Workload   // Cluster traces in any format that 'graft trace describe' reads.
	Schedule           Schedule         // Schedulers to compare, and their duration estimates.
	Resizing           Resizing         // Jobs whose number of GPUs can change. Without the section, all jobs.
	Training           Training         // Step times of jobs, computed from networks and a device profile.
	schedulers.Options                  // Sections of the schedulers that have options.
	Growth             curves.Options   // Learning curves of jobs whose networks grow.
	Failures           failures.Options // Simulated failures and drains of nodes, and their effects on jobs.
	Live               live.Options     // Jobs of the trace for which graft trains a network.
	Learn              Learn            // Learning of a scheduler with 'graft learn'.
	Run                learn.RunOptions // Seeds for 'graft learn', and the run folder for every command.

	study.Sources `config:"-"`
	names         []string
	readers       readers
	fsys          files.FS
	candidates    []Scheduler // schedulers of the file
	learned       sync.Once
	lessons       *lessons
	lessonsErr    error
	inputsDigest  string // of the files from which a scheduler learns; empty if none does
}

// New returns an empty file, before EnsureDefaults.
func New() *File { return &File{Run: learn.RunOptions{Seed: 1, Every: usualEvery}} }

// EnsureDefaults fills in defaults.
func (f *File) EnsureDefaults() {
	f.Cluster.EnsureDefaults()
	f.Schedule.EnsureDefaults()
	f.Live.EnsureDefaults()
	f.Growth.EnsureDefaults()
	f.Failures.EnsureDefaults()
	f.Resizing.EnsureDefaults()
	f.Training.EnsureDefaults()
	f.Learn.EnsureDefaults()
	f.Run.EnsureDefaults()
}

// Validate returns an error that lists every invalid option.
func (f *File) Validate() error {
	return errors.Join(f.Cluster.Validate(), f.Schedule.Validate(), f.Training.Validate(), f.Options.Validate(),
		f.Failures.Validate(), f.Live.Validate(), f.Growth.Validate(), f.together(), f.validateTypes(),
		f.validateSpot(), f.validateResizing(), f.Learn.Validate(), f.Run.Validate())
}

// together returns an error for sections that exclude each other.
func (f *File) together() error {
	if f.Cluster.EnforceLimits && slices.Contains(f.Schedule.Schedulers, "lucid") {
		return errors.New("cluster.enforce_limits is true, but lucid does not enforce time limits in its profiler; " +
			"remove one of them")
	}
	if !reflect.DeepEqual(f.Lucid, lucid.Options{}) && !slices.Contains(f.Schedule.Schedulers, "lucid") {
		return errors.New("the section lucid has options for the scheduler lucid, which is not in " +
			"schedule.schedulers; add it, or remove the section")
	}
	if f.Growth.NoiseScale > 0 && len(f.Training.Models) > 0 {
		return errors.New("growth.noise_scale and training.models are set; remove one: the step times of a network " +
			"do not depend on the noise scale")
	}
	if f.Growth.On() && f.Live.Waits() {
		return fmt.Errorf("growth.curves is set and live.ends is %q; remove one: a job follows a learning curve or is "+
			"trained", live.ByLoss)
	}
	return nil
}

// Shared returns the sections that are common to the configuration files of all simulators.
func (f *File) Shared() study.Shared {
	return study.Shared{Workload: &f.Workload, Schedule: &f.Schedule.Schedule, Folder: f.Run.Folder}
}

// Check derives the names of the workloads. It does not read the traces, which may be large; [study.Study.Prepare]
// reads them.
func (f *File) Check(fsys files.FS, r *decode.Reading) {
	f.fsys = fsys
	if len(f.Workload.Traces) == 0 {
		r.Blame("workload.traces", "traces is missing; name a trace file, "+
			"or create one with 'graft trace generate'")
		return
	}
	f.names = f.Workload.Names(r)
	f.findSchedulers(fsys, r)
}

// findSchedulers reads the learned schedulers. Other paths are programs.
func (f *File) findSchedulers(fsys files.FS, r *decode.Reading) {
	f.candidates = nil
	for k, name := range f.Schedule.Schedulers {
		var l Scheduler
		var err error
		if f.isLearned(fsys, name) {
			l, err = ReadScheduler(fsys, name)
		} else {
			l.Kind, _ = f.Options.Named(name) // validated, or a program that Prepare tries
		}
		if err == nil {
			err = f.uniqueName(&l)
		}
		if err != nil {
			r.Blame("schedule.schedulers", err.Error(), k)
			return
		}
		f.candidates = append(f.candidates, l)
	}
}

// uniqueName returns an error if a learned scheduler has the name of another scheduler, since results have folders of
// these names. Validate compares the names of other schedulers.
func (f *File) uniqueName(l *Scheduler) error {
	for k := range f.candidates {
		other := &f.candidates[k]
		if other.Kind.Name == l.Kind.Name && (l.IsLearned() || other.IsLearned()) {
			return fmt.Errorf("two schedulers have the name %s; rename a folder or file", l.Kind.Name)
		}
	}
	return nil
}

// isLearned reports whether the name of a scheduler is the path of a learned scheduler: of a folder, or of a file of
// weights.
func (f *File) isLearned(fsys files.FS, name string) bool {
	if !study.IsPath(name) {
		return false
	}
	info, err := fsys.Stat(name)
	return err == nil && info.IsDir() || filepath.Ext(name) == study.WeightExtension
}

// Contents writes the digests of learned schedulers and, for learning, of the files that were read. The plan of a
// simulation already contains the digest of its other files.
func (f *File) Contents(w io.Writer) {
	if f.inputsDigest != "" {
		fmt.Fprintln(w, f.inputsDigest)
	}
	for k := range f.candidates {
		if f.candidates[k].IsLearned() {
			fmt.Fprintln(w, f.candidates[k].Digest)
		}
	}
}

// Summary describes the simulations in one line.
func (f *File) Summary() (string, error) {
	return fmt.Sprintf("jobs of %s under %s, placement %s, compat %s, arrival factors %v",
		words.Some(f.Workload.Traces, 4), strings.Join(f.Schedule.Schedulers, ", "), f.Cluster.Placement,
		f.Cluster.Compat, f.Schedule.ArrivalFactors), nil
}

// Study returns the simulations that the file configures.
func (f *File) Study() study.Study { return &simulations{File: f} }

// simulations runs the cells of a file.
type simulations struct {
	*File
	workloads []*inputs // by trace
	digest    string    // of the files
}

// Prepare reads the traces and the schedulers' inputs. If quick is true, it reads only the first job of each trace that
// is larger than 64 MiB.
func (s *simulations) Prepare(ctx context.Context, env study.Env, quick bool) error {
	s.workloads = nil
	noted := &study.Noted{FS: env.Files}
	env.Files = noted
	for _, path := range s.Workload.Traces {
		if info, err := env.Files.Stat(path); quick && err == nil && info.Size() > mostChecked {
			if err := s.checkLarge(env, path); err != nil {
				return err
			}
			continue
		}
		w, err := s.read(env, path)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		s.workloads = append(s.workloads, w)
	}
	if err := s.tryPrograms(ctx, env.Files); err != nil {
		return err
	}
	if err := s.checkLive(env); err != nil {
		return err
	}
	if quick && len(s.workloads) == len(s.Workload.Traces) && s.hasLearning() {
		return s.CheckLearning()
	}
	if quick {
		return nil
	}
	var err error
	s.digest, err = noted.Digest()
	return err
}

// tryPrograms starts the schedulers that are programs, and reads their files, which are inputs of the cells.
func (s *simulations) tryPrograms(ctx context.Context, fsys files.FS) error {
	for _, name := range s.Schedule.Schedulers {
		if !schedulers.IsProgram(name) || s.isLearned(fsys, name) {
			continue
		}
		if _, err := coprocess.Digest(fsys, name); err != nil {
			return fmt.Errorf("schedulers: %w; name another program in schedule.schedulers (option scheduler)", err)
		}
		if err := schedulers.TryProgram(ctx, name, s.Cluster.PerNode); err != nil {
			return invalid("schedulers: %w", err)
		}
	}
	return nil
}

// LeftOut returns the jobs that simulations leave out, after Prepare.
func (s *simulations) LeftOut() (list []study.LeftOut) {
	for _, w := range s.workloads {
		list = append(list, w.left...)
	}
	return list
}

// LiveJobs returns the options of live jobs.
func (f *File) LiveJobs() live.Options { return f.Live }

// policy is a scheduler with the options of the file, which were checked.
func (f *File) policy(name string) cluster.Policy {
	if k := slices.Index(f.Schedule.Schedulers, name); k >= 0 && k < len(f.candidates) {
		return f.candidates[k].Kind
	}
	p, _ := f.Options.Named(name)
	return p
}

// kinds returns the policies of a scheduler. A learned scheduler can have several.
func (f *File) kinds(k int) []cluster.Policy {
	if k < len(f.candidates) {
		return f.candidates[k].Kinds()
	}
	return []cluster.Policy{f.policy(f.Schedule.Schedulers[k])}
}

// quirks are the faults of a scheduler's original that are kept.
func (f *File) quirks(p cluster.Policy) cluster.Quirks {
	if f.Cluster.Compat == compatNone {
		return nil
	}
	return p.AllQuirks()
}

// finite is a number; NaN for an infinity.
func finite(v float64) study.Number {
	if math.IsInf(v, 0) {
		return study.Number(math.NaN())
	}
	return study.Number(v)
}
