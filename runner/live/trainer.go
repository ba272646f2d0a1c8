package live

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

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
	return &trainer{env: env, options: o, folder: filepath.Join(run, folder, waiting), known: map[string]*training{}}
}

// trainer trains each timeline once, and keeps the trainings on disk by their content.
type trainer struct {
	env     *app.Env
	options live.Options
	folder  string

	mutex sync.Mutex
	known map[string]*training // by folder
}

// training holds the loss curves of a training, one per seed.
type training struct {
	once   sync.Once
	curves []runs.LossCurve
	err    error
}

// Work implements [live.Trainer]. Both trainings have the most work as budget; the share is a mean over seeds.
func (t *trainer) Work(ctx context.Context, line live.Timeline, requested int, adapts bool) (share float64,
	reached bool, err error) {
	job, err := base(t.env, t.options)
	if err != nil {
		return 0, false, err
	}
	budget := job.Time.Budget.Seconds()
	line.Scale(budget)
	own, err := t.curves(ctx, job, &line, adapts)
	if err != nil {
		return 0, false, err
	}
	never, err := t.curves(ctx, job, &live.Timeline{First: requested}, false)
	if err != nil {
		return 0, false, err
	}
	shares, all := make([]float64, len(never)), true
	for k := range never {
		one, reached := own[k].Share(never[k], budget)
		if reached = reached && one <= t.options.MostWork; !reached {
			one, all = t.options.MostWork, false
		}
		shares[k] = one
	}
	return stat.Mean(shares), all, nil
}

// curves trains the job on a timeline, with or without its decider, and returns its loss curves.
func (t *trainer) curves(ctx context.Context, job *config.Job, line *live.Timeline, adapts bool) ([]runs.LossCurve,
	error) {
	longer := time.Duration(t.options.MostWork * float64(job.Time.Budget))
	set := append(assignments(line), "time.budget="+config.Quote(longer.String()))
	if !adapts && job.Adapt.Decider != config.DecideNone {
		set = append(set, job.Adapt.Replace(config.DecideNone)...)
	}
	folder := filepath.Join(t.folder, runs.DigestOfTexts(set...)[:digits])
	t.mutex.Lock()
	one := t.known[folder]
	if one == nil {
		one = &training{}
		t.known[folder] = one
	}
	t.mutex.Unlock()
	one.once.Do(func() { one.curves, one.err = t.train(ctx, folder, set) })
	return one.curves, one.err
}

// digits is the length of the names of folders.
const digits = 16

func (t *trainer) train(ctx context.Context, folder string, set []string) ([]runs.LossCurve, error) {
	trained, err := sweep.Run(ctx, t.env, t.options.Job, sweep.Options{Folder: folder, Resume: true,
		Seeds: t.options.Seeds, Set: set})
	if err != nil {
		return nil, fmt.Errorf("train with %s: %w", set[0], err)
	}
	return runs.LossCurves(t.env.Files, folder, trained.Outcome)
}
