package live

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"go.uber.org/zap"

	"graft/cluster/live"
	"graft/config"
	"graft/internal/files"
	"graft/internal/stat"
	"graft/internal/words"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
	"graft/runner/sweep"
	jobs "graft/trainer"
)

// waiting is the folder, in the folder of the trainings, of trainings that simulations wait for.
const waiting = "until-loss"

// NewTrainer returns a trainer of live jobs that end by their losses. It keeps its trainings in a run folder.
func NewTrainer(env *app.Env, o live.Options, run string) live.Trainer {
	return &trainer{env: env, options: o, run: run, known: map[string]*pair{}}
}

// trainer trains each timeline once, and keeps the trainings on disk by their content. A timeline with a further change
// is trained from the last kept checkpoint before this change.
type trainer struct {
	env     *app.Env
	options live.Options
	run     string // run folder

	mutex  sync.Mutex
	known  map[string]*pair // by timeline and simulation
	warned bool             // whether a training has logged its warnings
	rises  sync.Once        // for the warning about losses that rise again
	coarse sync.Once        // for the warning about few epochs
}

// pair holds the trainings of a timeline with and without the decider.
type pair struct {
	once       sync.Once
	own, never training
	err        error
}

// training holds the loss curves of a training, one per seed.
type training struct {
	path   string   // path in the run folder
	trials []string // folders of the trials
	curves []runs.LossCurve
}

// Work implements [live.Trainer]. It trains the job with and without its decider on the same timeline, so restarts and
// learning rates are equal. Both trainings have the most work as budget. The training without the decider stops after
// the work in the trace, the other one after it has the loss.
func (t *trainer) Work(ctx context.Context, line live.Timeline, draw int) (w live.Work, err error) {
	job, err := base(t.env, t.options)
	if err != nil {
		return w, err
	}
	budget := job.Time.Budget.Seconds()
	line.Scale(budget)
	line.Until(t.options.MostWork * budget)
	p, err := t.pair(ctx, job, line, draw)
	if err != nil {
		return w, err
	}
	var shares, firsts []float64
	for k, never := range p.never.curves {
		share, reached := p.own.curves[k].Share(never)
		if most := t.options.MostWork; !reached || share > most {
			share, w.Missed = most, true
		}
		shares, firsts = append(shares, share), append(firsts, never.First()/budget)
	}
	w.Share, w.First = stat.Mean(shares), stat.Mean(firsts)
	w.Adaptive, w.Never = p.own.path, p.never.path
	t.warn(w.First, p.never.curves[0].Epochs())
	return w, nil
}

// leastFalling is the part of the budget below which a loss counts as reached too early.
const leastFalling = 0.5

// fewEpochs is the number of epochs per budget below which the loss of the last whole epoch may be long before the end.
const fewEpochs = 3

// warn warns once about a job whose loss is reached long before the end of its budget, because it rises again or is
// noisy, and once about a job with few epochs. Changes of the devices after this time do not change the job's work.
func (t *trainer) warn(first float64, epochs int) {
	if epochs < fewEpochs {
		t.coarse.Do(func() {
			t.env.Log.Warn(fmt.Sprintf("live.ends: only %s in the budget of a live job, and the loss to reach is "+
				"the loss after the last one; use a longer time.budget, or less training data",
				words.Plural(epochs, "whole epoch")))
		})
	}
	if first < leastFalling {
		t.rises.Do(func() {
			t.env.Log.Warn(fmt.Sprintf("live.ends: without a decider, a live job has the validation loss of the end "+
				"of its budget after %.0f%% of it, so later changes of its devices hardly count; use more training "+
				"data, a schedule that lowers the learning rate, or more seeds", 100*first))
		})
	}
}

// pair returns the trainings of the job on a timeline for a simulation. Each simulation has other seeds.
func (t *trainer) pair(ctx context.Context, job *config.Job, line live.Timeline, draw int) (*pair, error) {
	key := fmt.Sprintln(draw, line.Directions())
	t.mutex.Lock()
	p := t.known[key]
	if p == nil {
		p = &pair{}
		t.known[key] = p
	}
	t.mutex.Unlock()
	p.once.Do(func() { p.err = t.train(ctx, p, job, line, draw) })
	return p, p.err
}

// train trains both jobs of a pair. They start from the trainings of the timeline without its last change.
func (t *trainer) train(ctx context.Context, p *pair, job *config.Job, line live.Timeline, draw int) (err error) {
	from := &pair{}
	if n := len(line.Changes); n > 0 {
		before := line
		before.Changes = line.Changes[:n-1]
		if from, err = t.pair(ctx, job, before, draw); err != nil {
			return err
		}
	}
	budget := job.Time.Budget
	longer := time.Duration(t.options.MostWork * float64(budget))
	set := []string{line.Directions(), "time.timeline=", "time.budget=" + config.Quote(longer.String())}
	if draw > 0 {
		set = append(set, fmt.Sprintf("run.seed=%d", job.Run.Seed+int64(draw*t.options.Seeds)))
	}
	never := append(job.Adapt.Replace(config.DecideNone), "time.stop="+config.Quote(budget.String()))
	if p.never, err = t.training(ctx, slices.Concat(set, never), from.never, budget); err != nil {
		return err
	}
	loss := math.Inf(1)
	for k, c := range p.never.curves {
		p.never.curves[k] = c.Within(budget.Seconds())
		loss = min(loss, p.never.curves[k].Last())
	}
	own := []string{"time.stop_loss=" + strconv.FormatFloat(loss, 'g', -1, 64)}
	p.own, err = t.training(ctx, slices.Concat(set, own), from.own, budget)
	if n := len(line.Changes); err == nil && n > 1 { // all jobs continue from the timeline without changes
		err = t.forget(from, line.Changes[n-1].At)
	}
	return err
}

// forget deletes the kept checkpoints of both trainings after a time, because the timeline has changed there.
func (t *trainer) forget(p *pair, after float64) error {
	for _, one := range []training{p.own, p.never} {
		for _, trial := range one.trials {
			if err := jobs.ForgetKept(t.env.Files, trial, time.Duration(after*1e9)); err != nil {
				return err
			}
		}
	}
	return nil
}

// keptParts is the number of checkpoints per budget from which other timelines continue. With the largest most work,
// their number is below the limit of a job.
const keptParts = 16

// digits is the length of the names of folders.
const digits = 16

// training trains the job with assignments, from the kept checkpoints of another training if it has a path.
func (t *trainer) training(ctx context.Context, set []string, from training, budget time.Duration) (one training,
	err error) {
	one.path = filepath.Join(folder, waiting, runs.DigestOfTexts(set...)[:digits])
	folder := filepath.Join(t.run, one.path)
	also := []string{"checkpoint.keep_every=" + config.Quote((budget / keptParts).String())}
	if len(from.trials) > 0 {
		also = append(also, "run.fork="+config.Quote(filepath.Join(filepath.Dir(from.trials[0]), "seed-{seed}")))
	}
	trained, err := sweep.Run(ctx, t.quiet(), t.options.Job, sweep.Options{Folder: folder, Resume: true,
		Seeds: t.options.Seeds, Set: append(also, set...)})
	if err != nil {
		return one, fmt.Errorf("train with %s: %w", set[0], err)
	}
	t.env.Log.Info("trained live job", zap.String("timeline", set[0]), zap.String("folder", folder))
	for _, trial := range trained.Outcome.Cases[0].Trials {
		one.trials = append(one.trials, filepath.Join(folder, trial.Folder))
	}
	one.curves, err = runs.LossCurves(t.env.Files, folder, trained.Outcome)
	return one, err
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

// Forget deletes the kept checkpoints of all trainings in a run folder, from which no other training will start.
func Forget(fsys files.FS, run string) error {
	trainings, err := files.Entries(fsys, filepath.Join(run, folder, waiting))
	for _, training := range trainings {
		path := filepath.Join(run, folder, waiting, training.Name())
		plan, unread := runs.ReadSweepPlan(fsys, path)
		if unread != nil { // a kill before the first trial
			continue
		}
		for _, trial := range plan.Trials() {
			err = errors.Join(err, results.RemoveKept(fsys, filepath.Join(path, trial.Folder())))
		}
	}
	return err
}
