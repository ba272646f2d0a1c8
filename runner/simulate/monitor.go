package simulate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"graft/fleet"
	"graft/internal/failure"
	"graft/results"
	"graft/runner/workers"
	"graft/simulation/grid"
)

// monitor follows a simulation while workers run it, and collects its table.
type monitor struct {
	*workspace
	mu          sync.Mutex
	grid        *grid.Grid
	state       grid.Progress
	running     []RunningLeg  // at the last refresh
	stateAt     time.Time     // time of the last refresh
	startedAt   time.Time     // start of this process
	first       grid.Progress // progress when this process started
	legsLeft    int           // at the last count
	countTook   time.Duration // duration of the last count
	countedAt   time.Time     // time of the last count
	ended       int           // sequences in the last collected table
	collectedAt time.Time     // time of the last collection
	finished    bool          // all work is done
	track       *results.Tracker
	measured    int // sequences at the last tracked accuracy
}

func newMonitor(s *workspace) (*monitor, error) {
	g, err := s.grid()
	if err != nil {
		return nil, err
	}
	return &monitor{workspace: s, grid: g, ended: -1}, nil
}

// start starts the workers. Local ones are supervised to the end.
func (x *monitor) start(ctx context.Context, o Options) (*Result, error) {
	left, err := x.left()
	if err != nil {
		return nil, err
	}
	if left == 0 {
		x.env.Log.Info("all work is done", zap.String("cache", x.cache()))
		return monitored(x.finish())
	}
	b, err := x.batch()
	if err == nil {
		b, err = x.fitted(ctx, b)
	}
	if err != nil {
		return nil, err
	}
	f, err := fleet.Start(ctx, workers.Tools(x.env), x.Fleet.Engine, b)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if f.Engine() != "local" && !o.Wait {
		return &Result{Submission: submissionOf(x.folder, f)}, nil
	}
	return monitored(x.runWorkers(ctx, f, 0))
}

// tracked ends the tracking of the progress.
func (x *monitor) tracked(ctx context.Context, err error) {
	x.track.StopOrEnd(ctx.Err() != nil || failure.CodeOf(ctx, err) == failure.Requeue, err)
}

// monitored returns the result of a simulation supervised to its end.
func monitored(r *Report, err error) (*Result, error) {
	if r == nil {
		return nil, err
	}
	return &Result{Report: r}, err
}

// Submission describes workers that were submitted to other machines; `graft simulate --engine slurm --json` prints it.
type Submission struct {
	Folder  string   `json:"folder"`  // path of the simulation's run folder
	Engine  string   `json:"engine"`  // engine that starts the workers
	Batch   string   `json:"batch"`   // name of the batch in Slurm
	Jobs    []string `json:"jobs"`    // numbers of Slurm's job arrays, the latest last
	Workers int      `json:"workers"` // number of workers
}

func submissionOf(folder string, f *fleet.Fleet) *Submission {
	return &Submission{folder, f.Engine(), f.Batch().Key, f.Handle().Jobs, f.Batch().Workers}
}

// runWorkers supervises workers until all work is done. Every is the polling interval; zero means 200 ms for
// local workers and 10 s for others.
func (x *monitor) runWorkers(ctx context.Context, f *fleet.Fleet, every time.Duration) (r *Report, err error) {
	defer func() { x.tracked(ctx, err) }()
	closeBars, err := x.showProgress()
	if err != nil {
		return nil, err
	}
	if every == 0 {
		every = workers.PollInterval(f.Engine())
	}
	err = f.Supervise(ctx, x.left, fleet.SuperviseOptions{Recount: x.recount,
		Note: func(text string) { x.env.Log.Warn(text) }, Every: every, Grace: grace})
	closeBars()
	switch {
	case ctx.Err() != nil && !x.finished:
		return nil, x.stop(f)
	case errors.Is(err, fleet.ErrCancelled):
		_, failed := x.collectTable()
		return nil, failure.With(failure.Requeue, errors.Join(
			fmt.Errorf("%w; completed work is kept in %s; run 'graft simulate' again to continue", err, x.folder),
			failed))
	case err != nil && ctx.Err() == nil:
		_, failed := x.collectTable()
		return nil, errors.Join(err, workers.LastLogLine(x.env.Files, f), failed)
	}
	return x.finish()
}

// showProgress shows the progress until end is called.
func (x *monitor) showProgress() (end func(), err error) {
	x.startedAt = x.env.Now()
	if _, err := x.refreshState(); err != nil {
		return nil, err
	}
	x.first = x.state
	return x.draw(), nil
}

// await follows workers supervised by a cluster until all work is done.
func (x *monitor) await(ctx context.Context, every time.Duration) (r *Report, err error) {
	defer func() { x.tracked(ctx, err) }()
	if every == 0 {
		every = collectInterval
	}
	closeBars, err := x.showProgress()
	if err != nil {
		return nil, err
	}
	clock := fleet.NewClock(x.env.Now)
	for left := 1; left > 0 && err == nil; {
		if left, err = x.left(); left > 0 && err == nil {
			err = clock.Wait(ctx, every)
		}
	}
	closeBars()
	switch {
	case ctx.Err() != nil:
		return nil, x.stop(nil)
	case err != nil:
		return nil, err
	}
	return x.finish()
}

// grace is the time for workers to end when all work is done.
const grace = 10 * time.Second

// stop ends local workers, which save their state; others continue.
func (x *monitor) stop(f *fleet.Fleet) error {
	if f == nil || f.Engine() != "local" {
		return failure.With(failure.Requeue,
			fmt.Errorf("stopped following the simulation; its workers continue; follow them with "+
				"'graft fleet attach %s'", x.folder))
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := f.Cancel(ctx)
	_, failed := x.collectTable()
	return failure.With(failure.Requeue,
		errors.Join(fmt.Errorf("stopped; completed work is kept in %s; run the same command again to continue",
			x.folder),
			err, failed))
}
