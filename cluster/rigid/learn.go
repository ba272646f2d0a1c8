package rigid

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"graft/cluster"
	"graft/cluster/schedulers"
	"graft/cluster/schedulers/agent"
	"graft/cluster/study"
	"graft/cluster/trace"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/validate"
	"graft/internal/words"
	"graft/learn"
	"graft/learn/candidates"
	"graft/torch/weights"
)

// Learn configures 'graft learn', which learns a scheduler of jobs that grow and shrink from the first jobs of the
// traces. It divides the jobs of each virtual cluster into workloads, in the order of submission.
type Learn struct {
	candidates.Options `config:",omit=max_slots"`
	Jobs               int // Number of jobs per workload. Zero means 100.
	TrainCount         int // Number of training workloads, the earliest ones. Zero means 32.
	ValidationCount    int // Number of validation workloads, which follow the training workloads. Zero means 8.
}

// usualEvery is the default interval between validations, and between rows of the learning table.
const usualEvery = 4

// EnsureDefaults fills in defaults. The numbers of steps are larger than in other worlds, since an episode takes only
// milliseconds.
func (o *Learn) EnsureDefaults() {
	o.Lessons, o.Rounds, o.Every = cmp.Or(o.Lessons, 64), cmp.Or(o.Rounds, 100), cmp.Or(o.Every, usualEvery)
	o.Patience, o.Rate = cmp.Or(o.Patience, 8), cmp.Or(o.Rate, 1e-3)
	o.Options.EnsureDefaults()
	o.Jobs, o.TrainCount = cmp.Or(o.Jobs, 100), cmp.Or(o.TrainCount, 32)
	o.ValidationCount = cmp.Or(o.ValidationCount, 8)
}

// mostWorkloads is the maximum number of workloads per purpose.
const mostWorkloads = 10_000

// Validate returns an error that lists every invalid option.
func (o Learn) Validate() error {
	faults := validate.Faults{o.Options.Validate(), agent.CheckTeacher(o.Teacher)}
	faults.When(o.Jobs < 2 || o.Jobs > manyJobs, "jobs is %d; must be from 2 to %d", o.Jobs, manyJobs)
	faults.When(o.TrainCount < 1 || o.TrainCount > mostWorkloads, "train_count is %d; must be from 1 to %d",
		o.TrainCount, mostWorkloads)
	faults.When(o.ValidationCount < 1 || o.ValidationCount > mostWorkloads,
		"validation_count is %d; must be from 1 to %d", o.ValidationCount, mostWorkloads)
	return errors.Join(faults...)
}

// Scheduler is a built-in scheduler, a program, or a learned scheduler.
type Scheduler = study.Learned[cluster.Policy]

// ReadScheduler reads a learned scheduler from a file or from a run folder of 'graft learn'.
func ReadScheduler(fsys files.FS, path string) (Scheduler, error) {
	return study.ReadLearned(fsys, path, func(name string, set *weights.Set) (cluster.Policy, bool, error) {
		p, err := agent.ReadPolicy(set)
		if err != nil {
			return cluster.Policy{}, false, err
		}
		return agent.Policy(name, p.Agent), true, nil
	})
}

// LearnOptions returns the sections that 'graft learn' uses.
func (f *File) LearnOptions() (*learn.RunOptions, *candidates.Options) {
	return &f.Run, &f.Learn.Options
}

// hasLearning reports whether the file sets options for learning.
func (f *File) hasLearning() bool {
	for key := range f.Given() {
		if strings.HasPrefix(key, "learn.") {
			return true
		}
	}
	return false
}

// CheckLearning returns an error if the file does not provide both training and validation workloads.
func (f *File) CheckLearning() error {
	if f.Cluster.Compat != compatNone {
		return failure.With(failure.Configuration, fmt.Errorf("learn a scheduler: cluster.compat is %q; remove it, "+
			"because learned schedulers resize jobs", f.Cluster.Compat))
	}
	_, err := f.learning()
	return err
}

// lessons are the workloads from which a scheduler learns.
type lessons struct {
	train, validation []*agent.Workload
	until             int64           // last submission in these workloads, in seconds of the trace
	idle              int             // number of workloads without a decision, because there are enough devices
	refused           int             // number of jobs of the traces that cannot run
	parts             int             // number of jobs of the traces that request parts of GPUs
	traces            map[string]bool // paths of the traces of these workloads
	described         map[string]any  // the cluster and its jobs, for [study.Setting]
}

// String describes the workloads, and says how to compare the schedulers.
func (l *lessons) String() string {
	text := "'graft cluster run' compares them on other traces."
	if len(l.traces) == 1 {
		text = fmt.Sprintf("'graft cluster run --from %d' compares them on later jobs.", l.until+1)
	}
	if l.idle > 0 {
		text += fmt.Sprintf(" Further workloads were left out, because no job waits in them: %d.", l.idle)
	}
	if l.refused > 0 {
		text += fmt.Sprintf(" Jobs that cannot run were left out: %d.", l.refused)
	}
	if l.parts > 0 {
		text += " " + trace.PartsSentence(l.parts)
	}
	return text
}

// learning returns the workloads from which a scheduler learns. They are simulated once with the scheduler fair.
func (f *File) learning() (l *lessons, err error) {
	f.learned.Do(func() { f.lessons, f.lessonsErr = f.readLessons() })
	return f.lessons, f.lessonsErr
}

func (f *File) readLessons() (*lessons, error) {
	l, need := &lessons{traces: map[string]bool{}}, f.Learn.TrainCount+f.Learn.ValidationCount
	all, err := f.workloads(l)
	if err != nil {
		return nil, err
	}
	for _, w := range all {
		if len(l.train)+len(l.validation) == need {
			break
		}
		decides, err := w.Measure(context.Background())
		if err != nil {
			return nil, err
		}
		switch {
		case !decides:
			l.idle++
			continue
		case len(l.train) < f.Learn.TrainCount:
			l.train = append(l.train, w)
		default:
			l.validation = append(l.validation, w)
		}
		l.until = max(l.until, w.Study.Jobs[len(w.Study.Jobs)-1].Submit)
		l.traces[w.Trace] = true
	}
	if len(l.validation) == 0 {
		return nil, failure.With(failure.Configuration, fmt.Errorf("learn a scheduler: the traces have %s of %d jobs "+
			"in which jobs must wait; expected more than learn.train_count, which is %d; lower learn.jobs or "+
			"learn.train_count", words.Plural(len(l.train), "workload"), f.Learn.Jobs, f.Learn.TrainCount))
	}
	return l, nil
}

// workloads divides the jobs of the traces into workloads, in the order of their last submissions. It notes the files
// that it reads.
func (f *File) workloads(l *lessons) (all []*agent.Workload, err error) {
	noted := &study.Noted{FS: f.fsys}
	for _, path := range f.Workload.Traces {
		s, err := f.read(study.Env{Files: noted}, path)
		if err != nil {
			return nil, err
		}
		base := s.base
		l.described = f.describe(&base)
		base.Estimates, base.Spot, base.Forecast = nil, nil, nil
		base.Resizable = f.Resizing.resizable(slices.Max(f.Resizing.shares()), f.Schedule.Seed)
		if s.population != nil {
			base.Learner = s.population.Learner(slices.Max(f.Growth.Shares), f.Schedule.Seed)
		}
		refused, err := base.Refusals(f.Cluster.Placement)
		if err != nil {
			return nil, err
		}
		l.refused += len(refused)
		l.parts += trace.PartsOf(base.Jobs)
		for _, vc := range base.VCs {
			all = append(all, f.divide(path, &base, vc, refused)...)
		}
	}
	if f.inputsDigest, err = noted.Digest(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b *agent.Workload) int {
		return cmp.Compare(a.Study.Jobs[len(a.Study.Jobs)-1].Submit, b.Study.Jobs[len(b.Study.Jobs)-1].Submit)
	})
	return all, nil
}

// divide divides the jobs of a virtual cluster into workloads, without refused jobs. Jobs at the end that do not fill a
// workload are left out.
func (f *File) divide(path string, base *cluster.Study, vc trace.VC,
	refused []cluster.Refusal) (all []*agent.Workload) {
	no := map[string]bool{}
	for _, r := range refused {
		no[r.ID] = true
	}
	jobs := make([]trace.Job, 0, len(base.Jobs))
	for _, j := range base.Jobs {
		if j.VC == vc.Name && !no[j.ID] {
			jobs = append(jobs, j)
		}
	}
	for part := range slices.Chunk(jobs, f.Learn.Jobs) {
		if len(part) < f.Learn.Jobs {
			break
		}
		one := *base
		one.Jobs, one.VCs, one.Begin = part, []trace.VC{vc}, part[0].Submit
		all = append(all, &agent.Workload{Trace: path, Study: one,
			Options: cluster.Options{Placement: f.Cluster.Placement, Workers: 1}})
	}
	return all
}

// Learner creates the learner for a seed.
func (f *File) Learner(seed uint64) (candidates.SchedulerLearner, error) {
	l, err := f.learning()
	if err != nil {
		return nil, err
	}
	return agent.NewLearner(l.train, l.validation, f.Learn.Options, seed)
}

// learnedUntil is the key of a setting for the last submission from which a scheduler learned.
const learnedUntil = "learned_until_s"

// Setting describes the cluster, and the traces from which schedulers learn.
func (f *File) Setting() study.Setting {
	l, err := f.learning()
	if err != nil {
		return study.NewSetting(nil)
	}
	s := study.NewSetting(l.described)
	if len(l.traces) == 1 {
		s.Cluster[learnedUntil] = fmt.Sprint(l.until)
	}
	_ = s.Read(f.fsys, slices.Sorted(maps.Keys(l.traces))...) // the traces have been read before
	return s
}

// describe describes the cluster, and the jobs that can be resized and can grow.
func (f *File) describe(base *cluster.Study) map[string]any {
	gpus, types := 0, []string{}
	for k := range base.VCs {
		all, _ := base.Devices(&base.VCs[k])
		gpus += all
	}
	for _, t := range base.Types {
		types = append(types, fmt.Sprintf("%s at speed %g", t.Name, cmp.Or(t.Speed, 1)))
	}
	return map[string]any{"gpus": gpus, "gpus_per_node": base.PerNode, "virtual_clusters": len(base.VCs),
		"types": types, "placement": f.Cluster.Placement,
		"largest share that can be resized": slices.Max(f.Resizing.shares()),
		"growth":                            f.Growth.On(), "noise_scale": f.Growth.NoiseScale}
}

// Baselines simulates the schedulers that need no estimates on the validation workloads.
func (f *File) Baselines(ctx context.Context) (*candidates.Baselines, error) {
	l, err := f.learning()
	if err != nil {
		return nil, err
	}
	r := &candidates.Baselines{Train: len(l.train), Validation: len(l.validation), Unit: "s",
		Costs: map[string]float64{}, Remark: l.String()}
	policies := slices.DeleteFunc(f.Options.Kinds(), func(p cluster.Policy) bool {
		return p.Estimates != "" || p.Profiles || p.Deadlines || p.Foresees
	})
	for _, t := range schedulers.Teachers() {
		if _, known := schedulers.Kinds().Find(t.Name); !known {
			policies = append(policies, agent.TeacherPolicy(t))
		}
	}
	for _, p := range policies {
		for _, w := range l.validation {
			cost, err := w.MeanJCT(ctx, p)
			if err != nil {
				return nil, err
			}
			r.Costs[p.Name] += cost / float64(len(l.validation))
		}
	}
	return r, nil
}

// aboutLearned describes a learned scheduler of the file, and warns about jobs and clusters.
func (s *simulations) aboutLearned(k int, seeds []uint64) (lines []string) {
	l := &s.candidates[k]
	if n := l.Policies(); len(seeds) > 0 && n > 1 {
		lines = append(lines, fmt.Sprintf("%s has %d learned policies; simulations with different seeds use them in "+
			"turn.", l.Kind.Name, n))
	}
	here := study.NewSetting(s.describe(&s.workloads[0].base))
	until, err := strconv.ParseInt(l.From.Cluster[learnedUntil], 10, 64)
	if err != nil || s.Cluster.From <= until { // it learned from several traces, or from jobs of this simulation
		_ = here.Read(s.fsys, s.Workload.Traces...) // the traces have been read before
	}
	return append(lines, l.Remarks(l.Kind.Name, here)...)
}
