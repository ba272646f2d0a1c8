// Package learning reads the configuration file of a learned scheduler of elastic jobs. Either graft's own learner or
// DL2's trains it.
package learning

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"graft/cluster/elastic"
	"graft/cluster/elastic/agent"
	elasticworld "graft/cluster/elastic/world"
	"graft/cluster/study"
	"graft/internal/decode"
	"graft/internal/files"
	"graft/internal/validate"
	"graft/internal/words"
	"graft/learn"
	"graft/learn/candidates"
	"graft/original/dl2"
)

// KindName names the kind of configuration file that has a workloads section.
const KindName = "elastic-learning"

func init() {
	decode.Register(&decode.FileKind{
		Name: KindName, Noun: "learning of a scheduler", Command: "graft learn",
		Files: "files for training schedulers of elastic jobs", Title: "schedulers of elastic jobs that learn",
		Sections: []string{"workloads"}, BeforeWorlds: true, New: func() decode.CheckedFile { return New() },
		Page: decode.Page{Title: "Keys for training schedulers of elastic jobs",
			Sections: []string{"workloads", "learn", "dl2", "run"}, Intro: "A file with the section `workloads`, " +
				"for `graft learn` and `graft evaluate`. The sections `elastic`,\nwhose trace is optional here, " +
				"and `schedule` are as in simulations of elastic jobs. See [elastic\njobs](elastic.md).\n"},
	})
}

// File is the configuration for learning a scheduler for elastic jobs: the cluster, the workloads, the learner, and the
// schedulers to compare with.
type File struct {
	Elastic   elasticworld.Options // Cluster, job types and job speeds.
	Workload  study.Workload       // At most one job trace. Generated workloads use its settings.
	Workloads WorkloadOptions      // Workloads for training, validation and test.
	Learn     candidates.Options   // Options for the learner.
	// Options for the learner that runs if elastic.compat = "dl2".
	DL2      dl2.Options      `config:"dl2,omit=seed"`
	Run      learn.RunOptions // Seeds and output of the run.
	Schedule study.Schedule   // Schedulers that 'graft evaluate' compares with the learned scheduler.

	decode.Sources
	world                   elasticworld.Inputs
	train, validation, test []elastic.Study
	baselines               []elasticworld.Scheduler
}

// WorkloadOptions describes the workloads: it names traces, splits a cluster trace, or configures generated workloads.
// Jobs of generated workloads have uniformly drawn types. If workload.traces is set, zero values mean the settings of
// the first of these traces.
type WorkloadOptions struct {
	// Path of a cluster trace in any format of 'graft trace'. The trace's GPU jobs, in the order of submission, become
	// training workloads, then validation workloads, then test workloads. There is a gap between workloads of different
	// kinds: jobs that were submitted up to one slot after the last training workload, or after the last validation
	// workload, are skipped. Jobs after the last test workload are not used. If empty, the other keys of this section
	// determine the workloads.
	From string `result:"contents"`
	// Trace files of training workloads, in the formats that workload.traces accepts. If the list is empty, workloads
	// are generated.
	Train []string `result:"contents"`
	// Trace files of validation workloads, used to select the best learned policy. If the list is empty, workloads are
	// generated.
	Validation []string `result:"contents"`
	// Trace files of test workloads, on which 'graft evaluate' compares schedulers. If the list is empty, workloads are
	// generated.
	Test       []string `result:"none"`
	Seed       uint64   // Seed of generated workloads. Default 1.
	TrainCount int      // Number of training workloads to generate if workloads.train is empty. Zero means 40.
	// Number of validation workloads to generate if workloads.validation is empty. Zero means 8.
	ValidationCount int
	// Number of test workloads to generate if workloads.test is empty. Zero means 10.
	TestCount int `result:"none"`
	// Arrival process of generated workloads. "uniform" generates the same number of jobs in each slot. "poisson" draws
	// the number of jobs in each slot from a Poisson distribution. "pattern" repeats the job counts of
	// workloads.pattern, starting at a random slot. "trace" repeats the job counts of workload.traces. "submission"
	// keeps the submission times and requires workloads.from. Empty means "poisson", or "submission" if workloads.from
	// is set.
	Arrivals string `config:",one=uniform|poisson|pattern|trace|submission"`
	// Numbers of jobs that arrive in consecutive slots, for arrivals = "pattern". Values above max_arrivals are reduced
	// to max_arrivals.
	Pattern []int
	Jobs    int // Number of jobs in each workload that is generated or taken from workloads.from. Zero means 60.
	// Maximum number of job arrivals per slot. Zero means 3. Cannot be combined with workloads.from.
	Rate int `config:"max_arrivals,was=rate"`
	// Base number of epochs: a job has this number times the "length" of its job type. Zero means 30,000; if
	// workloads.from is set, zero keeps the amount of work that each job has in the trace.
	Epochs float64
	// Maximum relative error of the epoch count that is reported to schedulers, in [0, 1). Zero means exact
	// counts.
	EpochError float64
	// Varies the number of epochs by up to 10% between jobs of the same type. Cannot be combined with workloads.from.
	// False gives all jobs of a type the same number of epochs.
	Jitter bool
}

// Arrival patterns of generated jobs.
const (
	arriveUniform = "uniform"
	arrivePoisson = "poisson"
	arrivePattern = "pattern"
	arriveTrace   = "trace"
	arriveSubmit  = "submission"
)

// EnsureDefaults replaces zero values with the defaults, except values that a trace determines.
func (o *WorkloadOptions) EnsureDefaults() {
	o.TrainCount, o.ValidationCount, o.TestCount = cmp.Or(o.TrainCount, 40), cmp.Or(o.ValidationCount, 8),
		cmp.Or(o.TestCount, 10)
	usual := arrivePoisson
	if o.From != "" {
		usual = arriveSubmit
	}
	o.Arrivals = cmp.Or(o.Arrivals, usual)
}

// mostWorkloads limits the workloads of each purpose.
const mostWorkloads = 10_000

// Validate returns an error that lists every invalid option.
func (o WorkloadOptions) Validate() error {
	var faults validate.Faults
	for name, v := range map[string]int{"train_count": o.TrainCount, "validation_count": o.ValidationCount,
		"test_count": o.TestCount} {
		faults.When(v < 1 || v > mostWorkloads, "%s is %d; must be between 1 and %d", name, v, mostWorkloads)
	}
	for name, v := range map[string]int{"jobs": o.Jobs, "max_arrivals": o.Rate} {
		faults.When(v < 0, "%s is %d; must not be negative", name, v)
	}
	faults.When((o.Arrivals == arrivePattern) != (len(o.Pattern) > 0),
		"arrivals is %s and pattern has %d slots; set pattern only with arrivals = \"pattern\", which requires it",
		o.Arrivals, len(o.Pattern))
	faults.When(slices.ContainsFunc(o.Pattern, func(n int) bool { return n < 0 }),
		"pattern is %v; must not contain negative numbers", o.Pattern)
	faults.When(!(o.Epochs >= 0), "epochs is %v; must not be negative", o.Epochs)
	faults.When(!(o.EpochError >= 0 && o.EpochError < 1), "epoch_error is %v; must be at least 0 and less than 1",
		o.EpochError)
	faults.When(o.From == "" && o.Arrivals == arriveSubmit, "arrivals is submission, which requires a trace; set "+
		"from to a trace")
	if o.From != "" {
		for name, given := range map[string]bool{"train": len(o.Train) > 0, "validation": len(o.Validation) > 0,
			"test": len(o.Test) > 0, "arrivals": o.Arrivals != arriveSubmit, "max_arrivals": o.Rate != 0,
			"jitter": o.Jitter} {
			faults.When(given, "%s is set, but from also defines the workloads; remove one of them", name)
		}
	}
	return errors.Join(faults...)
}

// New returns a file in which only the seeds and Run.Every are set, to 1. EnsureDefaults sets the other defaults.
func New() *File {
	return &File{Workloads: WorkloadOptions{Seed: 1}, Run: learn.RunOptions{Seed: 1, Every: 1}}
}

// EnsureDefaults sets zero fields to their defaults.
func (l *File) EnsureDefaults() {
	l.Elastic.EnsureDefaults()
	l.Workloads.EnsureDefaults()
	l.Learn.EnsureDefaults()
	l.DL2.EnsureDefaults()
	l.Run.EnsureDefaults()
	l.Schedule.EnsureDefaults(study.Names(elasticworld.World().Schedulers())...)
}

// Validate returns an error that lists every invalid option.
func (l *File) Validate() error {
	var faults validate.Faults
	faults.When(l.Workloads.Arrivals == arriveTrace && len(l.Workload.Traces) == 0,
		"workloads.arrivals is trace, which requires a trace; add one to workload.traces")
	return errors.Join(append(faults, l.Elastic.Validate(), l.Workloads.Validate(), l.Learn.Validate(),
		agent.CheckTeacher(l.Learn.Teacher), l.checkLearner(), l.Run.Validate(),
		l.Schedule.Validate(elasticworld.Known))...)
}

// Check reads and generates the workloads. It does not train anything.
func (l *File) Check(fsys files.FS, r *decode.Reading) {
	l.blameUnread(r)
	if l.Validate() != nil || r.Broken("workload.traces") || !l.world.Read(fsys, r, &l.Elastic, l.trace()) {
		return
	}
	o := &l.Workloads
	var err error
	if l.baselines, err = elasticworld.FindSchedulers(fsys, l.Schedule.Schedulers); err != nil {
		r.Blame("schedule.schedulers", r.Elsewhere("schedule.schedulers", err).Error())
		return
	}
	if o.From != "" {
		if err := l.divide(fsys); err != nil {
			r.Blame("workloads.from", r.Elsewhere("workloads.from", err).Error())
		}
		return
	}
	l.train = l.workloads(fsys, r, "workloads.train", o.Train, o.TrainCount, 0)
	l.validation = l.workloads(fsys, r, "workloads.validation", o.Validation, o.ValidationCount, 1)
	l.test = l.workloads(fsys, r, "workloads.test", o.Test, o.TestCount, 2)
	for _, name := range slices.Concat(o.Train, o.Validation) {
		if slices.Contains(o.Test, name) {
			r.Blame("workloads.test", name+" is also a training or validation trace; use test traces that are not "+
				"used for learning")
		}
	}
}

// blameUnread reports keys of the unused learner that differ from their defaults.
func (l *File) blameUnread(r *decode.Reading) {
	fresh := New()
	fresh.EnsureDefaults()
	unread := map[bool]string{true: "learn.", false: "dl2."}[l.published()]
	for _, key := range r.Differing(fresh) {
		if strings.HasPrefix(key, unread) {
			r.Blame(key, fmt.Sprintf("%s is not used if elastic.compat is %s; remove it, "+
				"or change elastic.compat", key, l.Elastic.Compat))
		}
	}
}

// workloads reads traces or, without traces, generates a number of workloads.
func (l *File) workloads(fsys files.FS, r *decode.Reading, key string, paths []string,
	count, purpose int) (all []elastic.Study) {
	for _, path := range paths {
		t, err := l.world.ReadTrace(fsys, path, &l.Elastic)
		if err != nil {
			r.Blame(key, r.Elsewhere(key, err).Error())
			return nil
		}
		all = append(all, l.world.Study(t, &l.Elastic))
	}
	if len(paths) == 0 {
		key = "workloads"
	}
	for k := range count {
		if len(paths) > 0 {
			break
		}
		t, err := l.generate(l.Workloads.seed(purpose, k))
		if err != nil {
			r.Blame(key, err.Error())
			return nil
		}
		all = append(all, l.world.Study(t, &l.Elastic))
	}
	for k := range all {
		if err := all[k].Validate(); err != nil {
			r.Blame(key, fmt.Sprintf("workload %d on this cluster: %v", k, err))
			return nil
		}
	}
	return all
}

// trace returns the trace whose settings generated workloads use; empty for none.
func (l *File) trace() string {
	if len(l.Workload.Traces) == 0 {
		return ""
	}
	return l.Workload.Traces[0]
}

// generate draws a workload.
func (l *File) generate(seed uint64) (*elastic.Trace, error) {
	t := &elastic.Trace{Settings: l.settings()}
	var err error
	t.Jobs, err = elastic.Generate(l.world.Types(), t.Settings.Generate, elastic.NewDraws(seed))
	return t, err
}

// settings returns the settings of the trace; for generated workloads, the settings of the file.
func (l *File) settings() (s elastic.Settings) {
	if l.world.Trace() != nil {
		s = l.world.Trace().Settings
	}
	o, given := &s.Generate, &l.Workloads
	o.Jobs, o.Rate, o.MaxEpochs = cmp.Or(given.Jobs, o.Jobs), cmp.Or(given.Rate, o.Rate),
		cmp.Or(given.Epochs, o.MaxEpochs)
	o.EpochError, o.Jitter = cmp.Or(given.EpochError, o.EpochError), given.Jitter || o.Jitter
	switch o.Pattern = nil; given.Arrivals {
	case arriveUniform:
		o.Arrivals = elastic.UniformArrivals
	case arrivePoisson:
		o.Arrivals = elastic.PoissonArrivals
	case arrivePattern:
		o.Arrivals, o.Pattern = elastic.PatternArrivals, given.Pattern
	case arriveTrace:
		o.Arrivals, o.Pattern = elastic.PatternArrivals, l.world.Trace().Pattern()
	}
	return s
}

// Studies returns the workloads for training, validation and test.
func (l *File) Studies() (train, validation, test []elastic.Study) {
	return l.train, l.validation, l.test
}

// Learned returns the paths of the traces from which schedulers learn. If workloads.from is set, schedulers learn from
// one part of this trace, and are compared on another part.
func (l *File) Learned() []string {
	o := &l.Workloads
	if o.From != "" {
		return []string{o.From}
	}
	return slices.Concat(o.Train, o.Validation)
}

// Baselines returns the schedulers to compare with.
func (l *File) Baselines() []elasticworld.Scheduler { return l.baselines }

// DigestSections returns the sections that learned results depend on. The section schedule is excluded, since it
// affects only comparisons.
func (l *File) DigestSections() []string {
	return []string{"elastic.", "workload.", "workloads.", l.section(), "run."}
}

// Contents writes the contents of the files that learning reads, for a digest.
func (l *File) Contents(w io.Writer) {
	l.world.Contents(w)
	for _, list := range [][]elastic.Study{l.train, l.validation} {
		for k := range list {
			fmt.Fprintln(w, list[k].Jobs, list[k].Options)
		}
		fmt.Fprintln(w)
	}
}

// section returns the section of the learner.
func (l *File) section() string {
	if l.published() {
		return "dl2."
	}
	return "learn."
}

// Summary describes, in one line, which scheduler is learned.
func (l *File) Summary() (string, error) {
	lessons, rounds := "nobody", ""
	if l.Learn.Teacher != candidates.NoTeacher {
		lessons = l.Learn.Teacher + " in " + words.Plural(l.Learn.Lessons, "lesson") + " of one workload"
	}
	if l.Learn.Method != candidates.OnlyImitate {
		rounds = fmt.Sprintf(", then at most %s of %s", words.Plural(l.Learn.Rounds, "round"), l.Learn.Method)
	}
	if l.published() {
		lessons = fmt.Sprintf("%s in %s as DL2", l.DL2.Supervised.Teacher,
			words.Plural(max(0, l.DL2.Supervised.Steps), "update"))
		rounds = fmt.Sprintf(", then in %d by reinforcement,", max(0, l.DL2.Reinforced.Steps))
	}
	source := ""
	if l.Workloads.From != "" {
		source = " of " + l.Workloads.From
	}
	return fmt.Sprintf("%s learn from %s%s on %s%s, with %d of validation and %d of test; scaling %s",
		words.Plural(l.Run.Seeds, "scheduler"), lessons, rounds, words.Plural(l.trained(), "workload"), source,
		len(l.validation), len(l.test), l.Elastic.Scaling), nil
}

// trained returns the number of training workloads.
func (l *File) trained() int {
	if l.published() {
		return l.DL2.Workloads.Count * l.DL2.Agents
	}
	return len(l.train)
}

// divide splits the trace of a cluster into workloads.
func (l *File) divide(fsys files.FS) error {
	o := &l.Workloads
	jobs, _, err := elastic.ReadClusterTrace(fsys, o.From)
	if err != nil {
		return err
	}
	t := &elastic.Trace{Settings: l.settings()}
	size := t.Settings.Generate
	size.EnsureDefaults()
	gap := int64(math.Ceil(l.world.Study(t, &l.Elastic).Options.Slot))
	parts, err := elastic.Divide(jobs, size.Jobs, gap, o.TrainCount, o.ValidationCount, o.TestCount)
	if err != nil {
		return fmt.Errorf("%s: %w", o.From, err)
	}
	for purpose, into := range []*[]elastic.Study{&l.train, &l.validation, &l.test} {
		for k, jobs := range parts[purpose] {
			t, err := l.world.Workload(jobs, elastic.TraceOptions{MaxEpochs: o.Epochs, EpochError: o.EpochError},
				o.seed(purpose, k), &l.Elastic)
			s := elastic.Study{}
			if err == nil {
				s = l.world.Study(t, &l.Elastic)
				err = s.Validate()
			}
			if err != nil {
				return fmt.Errorf("%s: %w", o.From, err)
			}
			*into = append(*into, s)
		}
	}
	return nil
}

// seed returns the seed of the k-th workload of a purpose.
func (o *WorkloadOptions) seed(purpose, k int) uint64 {
	return o.Seed<<32 + uint64(purpose*mostWorkloads+k)
}
