package rigid

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

// EnsureDefaults fills in defaults.
func (o *Learn) EnsureDefaults() {
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
	until             int64 // last submission in these workloads, in seconds of the trace
	idle              int   // number of workloads without a decision, because there are enough devices for all jobs
}

// String describes the workloads, and says how to compare the schedulers.
func (l *lessons) String() string {
	text := fmt.Sprintf("'graft cluster run --from %d' compares them on later jobs.", l.until+1)
	if l.idle > 0 {
		text += fmt.Sprintf(" Further workloads were left out, because no job waits in them: %d.", l.idle)
	}
	return text
}

// learning returns the workloads from which a scheduler learns. They are simulated once with the scheduler fair.
func (f *File) learning() (l *lessons, err error) {
	f.learned.Do(func() { f.lessons, f.lessonsErr = f.readLessons() })
	return f.lessons, f.lessonsErr
}

func (f *File) readLessons() (*lessons, error) {
	all, err := f.workloads()
	if err != nil {
		return nil, err
	}
	l, need := &lessons{}, f.Learn.TrainCount+f.Learn.ValidationCount
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
	}
	if len(l.validation) == 0 {
		return nil, failure.With(failure.Configuration, fmt.Errorf("learn a scheduler: the traces have %s of %d jobs "+
			"in which jobs must wait; expected more than learn.train_count, which is %d; lower learn.jobs or "+
			"learn.train_count", words.Plural(len(l.train), "workload"), f.Learn.Jobs, f.Learn.TrainCount))
	}
	return l, nil
}

// workloads divides the jobs of the traces into workloads, in the order of their last submissions.
func (f *File) workloads() (all []*agent.Workload, err error) {
	for _, path := range f.Workload.Traces {
		s, err := f.read(study.Env{Files: f.fsys}, path)
		if err != nil {
			return nil, err
		}
		settings := f.settings()
		at := settings[len(settings)-1]
		base, err := s.with(cluster.Policy{}, at.factor)
		if err != nil {
			return nil, err
		}
		base.Estimates, base.Spot, base.Forecast = nil, nil, nil
		base.Resizable = f.Resizing.resizable(at.resizable, f.Schedule.Seed)
		if s.population != nil {
			base.Learner = s.population.Learner(at.growing, f.Schedule.Seed)
		}
		for _, vc := range base.VCs {
			all = append(all, f.divide(base, vc)...)
		}
	}
	slices.SortStableFunc(all, func(a, b *agent.Workload) int {
		return cmp.Compare(a.Study.Jobs[len(a.Study.Jobs)-1].Submit, b.Study.Jobs[len(b.Study.Jobs)-1].Submit)
	})
	return all, nil
}

// divide divides the jobs of a virtual cluster into workloads. Jobs at the end that do not fill a workload are left
// out.
func (f *File) divide(base *cluster.Study, vc trace.VC) (all []*agent.Workload) {
	jobs := make([]trace.Job, 0, len(base.Jobs))
	for _, j := range base.Jobs {
		if j.VC == vc.Name {
			jobs = append(jobs, j)
		}
	}
	for part := range slices.Chunk(jobs, f.Learn.Jobs) {
		if len(part) < f.Learn.Jobs {
			break
		}
		one := *base
		one.Jobs, one.VCs, one.Begin = part, []trace.VC{vc}, part[0].Submit
		all = append(all, &agent.Workload{Study: one,
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
	s := f.here()
	if l, err := f.learning(); err == nil {
		s.Cluster[learnedUntil] = fmt.Sprint(l.until)
	}
	_ = s.Read(f.fsys, f.Workload.Traces...) // the traces have been read before
	return s
}

// here describes the cluster.
func (f *File) here() study.Setting {
	return study.NewSetting(map[string]any{"gpus_per_node": f.Cluster.PerNode, "nodes": f.Cluster.Nodes,
		"placement": f.Cluster.Placement, "growth": f.Growth.On(), "noise_scale": f.Growth.NoiseScale})
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
	here := s.here()
	if until, err := strconv.ParseInt(l.From.Cluster[learnedUntil], 10, 64); err == nil && s.Cluster.From <= until {
		_ = here.Read(s.fsys, s.Workload.Traces...) // the traces have been read before
	}
	return append(lines, l.Remarks(l.Kind.Name, here)...)
}
