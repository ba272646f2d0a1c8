package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	clusterstudy "graft/cluster/study"
	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/parallel"
	"graft/internal/words"
	"graft/learn"
	"graft/learn/candidates"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
	"graft/torch/weights"
)

// SchedulerResult is the JSON output of `graft learn --json` for schedulers of elastic jobs.
type SchedulerResult struct {
	Folder    string                       `json:"folder"`    // path of the run folder
	Scheduler string                       `json:"scheduler"` // path of the best seed's scheduler
	Outcome   *runs.ElasticLearningOutcome `json:"outcome"`   // outcome of learning
	// duration of learning in this process in seconds, on the machine's clock
	Seconds float64 `json:"seconds"`
}

// scheduler learns one scheduler per seed.
type scheduler struct {
	run
	world
	took time.Duration // duration of learning in this process
}

// world is a file of schedulers that learn, for elastic jobs or a world of cluster simulations.
type world interface {
	Figures() []string
	Steps() int
	TeacherAndMethod() (teacher, method string)
	Learner(seed uint64) (candidates.SchedulerLearner, error)

	options() (*learn.RunOptions, *candidates.Options)
	file() config.File
	// setting describes what the schedulers learn from.
	setting(fsys files.FS) (clusterstudy.Setting, error)
	// baselines adds the rest of an outcome: the workloads, their bound, and other schedulers on them.
	baselines(ctx context.Context, o *runs.ElasticLearningOutcome) error
}

// runScheduler learns the schedulers of a configuration file.
func runScheduler(ctx context.Context, env *app.Env, d *config.Document, path string,
	o Options) (*SchedulerResult, error) {
	l, err := readWorld(d, o.Set)
	if err != nil {
		return nil, runs.AsConfigFault(err)
	}
	run, learner := l.options()
	run.Tensorboard = run.Tensorboard || o.Tensorboard
	o.Folder = app.Folder(o.Folder, run.Folder, path)
	if learner.Compute == candidates.InLibTorch {
		if err := oneThread(); err != nil { // rounding of sums depends on the number of threads
			return nil, err
		}
	}
	s := &scheduler{run: newRun(env, o), world: l}
	outcome, err := s.learn(ctx, d.Text())
	if err := s.end(err); err != nil {
		return nil, err
	}
	return &SchedulerResult{o.Folder, s.stored.Path(clusterstudy.LearnedFile), outcome, s.took.Seconds()}, nil
}

// learn learns from the start or from checkpoints.
func (s *scheduler) learn(ctx context.Context, text string) (*runs.ElasticLearningOutcome, error) {
	log, err := s.begin(text)
	if err != nil {
		return nil, err
	}
	learned, err := s.train(ctx, log)
	if err != nil {
		return nil, err
	}
	var rows [][]learn.Row
	for _, l := range learned {
		rows = append(rows, l.rows)
	}
	if err := log.Finish(rows...); err != nil {
		return nil, err
	}
	outcome, err := s.outcome(ctx, learned)
	if err != nil {
		return nil, err
	}
	s.log.Info("trained schedulers", zap.Int("schedulers", len(learned)), zap.Duration("took",
		s.took.Round(time.Millisecond)))
	return outcome, s.stored.WriteOutcome(outcome)
}

// begin makes the run folder, or opens the folder of these schedulers.
func (s *scheduler) begin(text string) (*schedulerLog, error) {
	o, _ := s.options()
	m := results.Manifest{Seed: o.Seed, ConfigSHA256: config.Digest(s.file())}
	if err := s.open(runs.ElasticLearningKind, text, config.Resolved(s.file()), m); err != nil {
		return nil, err
	}
	if s.stored.Manifest().ConfigSHA256 != config.Digest(s.file()) {
		what := config.Changes(s.env.Files, s.stored.Path(runs.ResolvedFile), s.file())
		return nil, failure.With(failure.Configuration, fmt.Errorf("resume %s: the configuration has changed since "+
			"the run started: %s; restore the configuration, or start a new run with option "+
			"\"folder\"", s.o.Folder, what))
	}
	if _, err := s.env.Files.Stat(s.stored.Path(runs.ElasticComparisonStream + ".csv")); err == nil {
		return nil, failure.Usagef("resume %s: the folder contains a comparison of schedulers; "+
			"choose another folder with option \"folder\"", s.o.Folder)
	}
	s.record.Open(s.stored)
	if err := s.env.Files.MkdirAll(s.stored.Path(clusterstudy.LearnedFolder)); err != nil {
		return nil, err
	}
	var columns []results.Column
	for _, name := range s.Figures() {
		columns = append(columns, results.Column{Name: name})
	}
	folder, err := learn.OpenFolder(s.env.Files, s.stored, columns)
	if err != nil {
		return nil, err
	}
	log := &schedulerLog{Folder: folder, log: s.log, pace: app.NewProgressLimiter(s.env.Now),
		steps: map[uint64]float64{}, seeds: o.Seeds, all: s.Steps(), figures: s.Figures(),
		track: s.env.Track(s.o.Folder, "steps")}
	s.track = log.track
	if err := s.stored.ForgetEvents(); err != nil || !o.Tensorboard { // all rows are reported again
		return log, err
	}
	log.curves, err = openCurves(s.env.Now, s.stored, 0, config.Resolved(s.file()))
	return log, err
}

// learnedSeed is the result of a seed.
type learnedSeed struct {
	runs.ElasticSeed
	set  *weights.Set
	rows []learn.Row
}

// train runs all seeds to their end, and shows the progress.
func (s *scheduler) train(ctx context.Context, log *schedulerLog) ([]learnedSeed, error) {
	o, _ := s.options()
	all := make([]learnedSeed, o.Seeds)
	study := &learn.Study{Seeds: o.All(), Pool: parallel.Pool{Workers: cmp.Or(o.Workers, runtime.GOMAXPROCS(0))},
		Every: o.Every, Checkpoint: o.Checkpoint, Now: s.env.Now, Recorder: log}
	study.With = func(seed uint64, advance func(learn.Learner) ([]learn.Row, error)) error {
		l, err := s.Learner(seed)
		if err != nil {
			return err
		}
		rows, err := advance(l)
		if err != nil {
			return err
		}
		learned, err := l.Learned()
		if err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
		all[seed-o.Seed] = learnedSeed{runs.ElasticSeed{Seed: seed, Steps: l.Steps(), Ended: l.Ended(),
			JCT: learned.Cost, BestAt: learned.Step, Last: lastValidation(rows, s.Figures()),
			Scheduler: runs.ElasticSeedFile(seed)}, learned.Set, rows}
		return nil
	}
	if log.drawn = s.env.Show != nil; log.drawn {
		defer s.env.Show(log.scene())()
	}
	began := s.env.Now()
	err := study.Run(ctx)
	s.took = s.env.Now().Sub(began)
	return all, err
}

// outcome writes the schedulers, with their results on the validation workloads.
func (s *scheduler) outcome(ctx context.Context, all []learnedSeed) (*runs.ElasticLearningOutcome, error) {
	teacher, method := s.TeacherAndMethod()
	o := &runs.ElasticLearningOutcome{Teacher: teacher, Method: method, Baselines: map[string]float64{}}
	best := slices.MinFunc(all, func(a, b learnedSeed) int { return cmp.Compare(a.JCT, b.JCT) })
	from, err := s.setting(s.env.Files)
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		maps.Copy(l.set.Metadata, map[string]string{"graft": s.env.Version, "seed": fmt.Sprint(l.Seed),
			"steps": fmt.Sprint(l.BestAt), "teacher": teacher, "method": method})
		if err := errors.Join(from.Save(l.set), s.write(l.Scheduler, l.set)); err != nil {
			return nil, err
		}
		o.Seeds = append(o.Seeds, l.ElasticSeed)
	}
	o.Best = best.Seed
	if err := s.write(clusterstudy.LearnedFile, best.set); err != nil {
		return nil, err
	}
	return o, s.baselines(ctx, o)
}

// write writes a scheduler atomically.
func (s *scheduler) write(name string, set *weights.Set) error {
	return files.WriteAtomic(s.env.Files, s.stored.Path(name),
		func(w io.Writer) error { return weights.WriteSafetensors(w, set) })
}

// validationFigure is the metric of the mean time to completion on the validation workloads.
const validationFigure = "validation_jct"

// schedulerLog records learning in the run folder, the log and the progress bar.
type schedulerLog struct {
	*learn.Folder
	log    *zap.Logger
	pace   *app.ProgressLimiter
	drawn  bool    // a bar shows the progress, so the log does not
	seeds  int     // number of seeds
	all    int     // maximum steps of a seed
	curves *curves // nil without TensorBoard
	track  *results.Tracker

	figures []string // names of the values of rows

	mu    sync.Mutex
	steps map[uint64]float64 // steps of each seed; all steps for a completed seed
	last  float64            // validation
}

// Step implements [learn.Recorder].
func (l *schedulerLog) Step(seed uint64, of learn.Learner) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.steps[seed] = float64(of.Steps()); of.Ended() != "" {
		l.steps[seed] = float64(l.all)
	}
	steps := float64(l.all * l.seeds)
	l.track.Note(l.part()*steps, steps)
	if !l.drawn && l.pace.Due() {
		l.log.Info("learning", zap.Float64("part", app.Rounded(l.part())),
			zap.Float64("validation_jct", app.Rounded(l.last)))
	}
}

// Row implements [learn.Recorder].
func (l *schedulerLog) Row(r learn.Row) error {
	l.mu.Lock()
	if v := r.Values[slices.Index(l.figures, validationFigure)]; !math.IsNaN(v) {
		l.last = v
	}
	l.mu.Unlock()
	return errors.Join(l.Folder.Row(r), l.curves.scheduler(r, l.figures))
}

// part returns the completed share of all steps.
func (l *schedulerLog) part() (sum float64) {
	for _, steps := range l.steps {
		sum += steps / float64(l.all*l.seeds)
	}
	return sum
}

// scene returns the progress bar of the seeds.
func (l *schedulerLog) scene() app.Progress {
	locked := func(of func() string) string {
		l.mu.Lock()
		defer l.mu.Unlock()
		return of()
	}
	return app.Progress{
		Done: func() (done, all int64) {
			l.mu.Lock()
			defer l.mu.Unlock()
			return int64(wholeBar * l.part()), wholeBar
		},
		Text: func() string { return words.Plural(l.seeds, "scheduler") },
		Details: func(width int) string {
			return locked(func() string {
				return app.FitLine([]string{strings.TrimSpace(fmt.Sprintf("validation %.2f slots", l.last))}, width)
			})
		},
	}
}
