package live

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"

	"graft/cluster/live"
	"graft/config"
	"graft/internal/stat"
	"graft/report/runs"
	"graft/runner/app"
	"graft/runner/sweep"
)

// waiting is the folder, in the folder of the trainings, of trainings that simulations wait for.
const waiting = "until-loss"

// NewTrainer returns a trainer of live jobs that end by their losses. It keeps its trainings in a run folder.
func NewTrainer(env *app.Env, o live.Options, run string) live.Trainer {
	return &trainer{env: env, options: o, run: run, known: map[string]*training{}}
}

// trainer trains each timeline once, and keeps the trainings on disk by their content.
type trainer struct {
	env     *app.Env
	options live.Options
	run     string // run folder

	mutex  sync.Mutex
	known  map[string]*training // by path
	warned bool                 // whether a training has logged its warnings
	once   sync.Once            // for the warning about the loss
}

// training holds the loss curves of a training, one per seed.
type training struct {
	path   string // path in the run folder
	once   sync.Once
	curves []runs.LossCurve
	err    error
}

// Work implements [live.Trainer]. It trains the job with and without its decider on the same timeline, so restarts and
// learning rates are equal. Both trainings have the most work as budget.
func (t *trainer) Work(ctx context.Context, line live.Timeline, draw int) (w live.Work, err error) {
	job, err := base(t.env, t.options)
	if err != nil {
		return w, err
	}
	budget := job.Time.Budget.Seconds()
	line.Scale(budget)
	own, err := t.training(ctx, job, &line, draw, true)
	if err != nil {
		return w, err
	}
	never, err := t.training(ctx, job, &line, draw, false)
	if err != nil {
		return w, err
	}
	var shares, firsts []float64
	for k := range never.curves {
		share, reached := own.curves[k].Share(never.curves[k], budget)
		if most := t.options.MostWork; !reached || share > most {
			share, w.Missed = most, true
		}
		shares, firsts = append(shares, share), append(firsts, never.curves[k].First(budget)/budget)
	}
	w.Share, w.First = stat.Mean(shares), stat.Mean(firsts)
	w.Adaptive, w.Never = own.path, never.path
	t.warn(w.First)
	return w, nil
}

// leastFalling is the part of the budget below which a loss counts as reached too early.
const leastFalling = 0.5

// warn warns once about a job whose loss is reached long before the end of its budget, because it rises again or is
// noisy. Changes of the devices after this time do not change the job's work.
func (t *trainer) warn(first float64) {
	if first < leastFalling {
		t.once.Do(func() {
			t.env.Log.Warn(fmt.Sprintf("live.ends: without a decider, a live job has the validation loss of the end "+
				"of its budget after %.0f%% of it, so later changes of its devices hardly count; use more training "+
				"data, a schedule that lowers the learning rate, or more seeds", 100*first))
		})
	}
}

// training trains the job on a timeline for a simulation, with or without its decider. Each simulation has other seeds.
func (t *trainer) training(ctx context.Context, job *config.Job, line *live.Timeline, draw int, adapts bool) (
	*training, error) {
	longer := time.Duration(t.options.MostWork * float64(job.Time.Budget))
	set := []string{line.Directions(), "time.timeline=", "time.budget=" + config.Quote(longer.String())}
	if draw > 0 {
		set = append(set, fmt.Sprintf("run.seed=%d", job.Run.Seed+int64(draw*t.options.Seeds)))
	}
	if !adapts {
		set = append(set, job.Adapt.Replace(config.DecideNone)...)
	}
	path := filepath.Join(folder, waiting, runs.DigestOfTexts(set...)[:digits])
	t.mutex.Lock()
	one := t.known[path]
	if one == nil {
		one = &training{path: path}
		t.known[path] = one
	}
	t.mutex.Unlock()
	one.once.Do(func() { one.curves, one.err = t.train(ctx, filepath.Join(t.run, path), set) })
	return one, one.err
}

// digits is the length of the names of folders.
const digits = 16

func (t *trainer) train(ctx context.Context, folder string, set []string) ([]runs.LossCurve, error) {
	trained, err := sweep.Run(ctx, t.quiet(), t.options.Job, sweep.Options{Folder: folder, Resume: true,
		Seeds: t.options.Seeds, Set: set})
	if err != nil {
		return nil, fmt.Errorf("train with %s: %w", set[0], err)
	}
	t.env.Log.Info("trained live job", zap.String("timeline", set[0]), zap.String("folder", folder))
	return runs.LossCurves(t.env.Files, folder, trained.Outcome)
}

// quiet returns the environment of a training. There may be hundreds of them, so only the first one logs warnings,
// which are about the job file.
func (t *trainer) quiet() *app.Env {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	level := zap.ErrorLevel
	if !t.warned {
		level, t.warned = zap.WarnLevel, true
	}
	one := *t.env
	if one.Show = nil; one.Log.Core().Enabled(level) { // otherwise it logs even less
		one.Log = one.Log.WithOptions(zap.IncreaseLevel(level))
	}
	return &one
}
