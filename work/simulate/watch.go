package simulate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"graft/files"
	"graft/fleet"
	"graft/results/failure"
	"graft/results/runs"
	"graft/simulation/grid"
	"graft/work"
)

// watch looks at a simulation while workers run it, and collects its table.
type watch struct {
	*site
	mu      sync.Mutex
	grid    *grid.Grid
	state   grid.Progress
	running []RunningLeg // when the state was looked at
	looked  time.Time
	begun   time.Time
	first   grid.Progress // when this process began to look
	count   int           // legs that were left when they were counted last
	took    time.Duration // that counting took
	at      time.Time     // when they were counted
	ended   int           // sequences in the table that was collected last
	swept   time.Time     // when
	over    bool          // nothing is left to run
}

func newWatch(s *site) (*watch, error) {
	g, err := s.grid()
	if err != nil {
		return nil, err
	}
	return &watch{site: s, grid: g, ended: -1}, nil
}

func tools(env *work.Env) fleet.Tools {
	return fleet.Tools{Files: env.Files, Clock: fleet.NewClock(env.Now)}
}

// start starts the workers. Those of this machine are watched to the end.
func (x *watch) start(ctx context.Context, o Options) (*Result, error) {
	left, err := x.left()
	if err != nil {
		return nil, err
	}
	if left == 0 {
		x.env.Log.Info("all of it was run before", zap.String("cache", x.cache()))
		return watched(x.finish())
	}
	b, err := x.batch()
	if err != nil {
		return nil, err
	}
	f, err := fleet.Start(ctx, tools(x.env), x.Fleet.Engine, b)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if f.Engine() != "local" && !o.Wait {
		return &Result{Submission: submissionOf(x.folder, f)}, nil
	}
	return watched(x.tend(ctx, f, 0))
}

// watched is a simulation that was watched to its end.
func watched(r *Report, err error) (*Result, error) {
	if r == nil {
		return nil, err
	}
	return &Result{Report: r}, err
}

// Submission is what `graft simulate --engine slurm --json` prints.
type Submission struct {
	Folder  string   `json:"folder"`  // of the simulation's run
	Engine  string   `json:"engine"`  // who starts the workers
	Batch   string   `json:"batch"`   // its name, which Slurm's programs show
	Jobs    []string `json:"jobs"`    // numbers of the job arrays, the latest last
	Workers int      `json:"workers"` // how many there are
}

func submissionOf(folder string, f *fleet.Fleet) *Submission {
	return &Submission{folder, f.Engine(), f.Batch().Key, f.Handle().Jobs, f.Batch().Workers}
}

// tend looks after workers until nothing is left to run. They are polled every so often; zero
// is 200 ms for local ones and 10 s for others.
func (x *watch) tend(ctx context.Context, f *fleet.Fleet, every time.Duration) (*Report, error) {
	closeBars, err := x.begin()
	if err != nil {
		return nil, err
	}
	if every == 0 {
		every = tendEvery(f.Engine())
	}
	err = f.Supervise(ctx, x.left, fleet.SuperviseOptions{Note: func(text string) { x.env.Log.Warn(text) }, Every: every, Grace: grace})
	closeBars()
	switch {
	case ctx.Err() != nil && !x.over:
		return nil, x.stop(f)
	case errors.Is(err, fleet.ErrCancelled):
		_, harvest := x.harvest()
		return nil, failure.With(failure.Requeue, errors.Join(fmt.Errorf("%w, and what was run is kept; 'graft simulate' goes on with it in %s", err, x.folder), harvest))
	case err != nil && ctx.Err() == nil:
		_, harvest := x.harvest()
		return nil, errors.Join(err, lastWords(x.env.Files, f), harvest)
	}
	return x.finish()
}

// begin begins to show how far it has come.
func (x *watch) begin() (end func(), err error) {
	x.begun = x.env.Now()
	if _, err := x.look(); err != nil {
		return nil, err
	}
	x.first = x.state
	return x.draw(), nil
}

// await watches workers that a cluster looks after until nothing is left to run.
func (x *watch) await(ctx context.Context, every time.Duration) (*Report, error) {
	if every == 0 {
		every = between
	}
	closeBars, err := x.begin()
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

// grace is how long workers have to end when nothing is left to run.
const grace = 10 * time.Second

// lastWords is what a worker that failed has said last.
func lastWords(fsys files.FS, f *fleet.Fleet) error {
	states, err := f.Workers(context.Background())
	for _, s := range states {
		if s.State != fleet.Failed {
			continue
		}
		text, err := files.ReadAll(fsys, s.Log, largestLog)
		if err != nil {
			return err
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		return fmt.Errorf("worker %d: %s", s.Worker, lines[len(lines)-1])
	}
	return err
}

// largestLog is how much of a worker's log is read.
const largestLog = 64 << 20

// tendEvery is how often workers are looked at: those here cost nothing.
func tendEvery(engine string) time.Duration {
	if engine == "local" {
		return 200 * time.Millisecond
	}
	return 0
}

// stop lets local workers save what they run; others go on.
func (x *watch) stop(f *fleet.Fleet) error {
	if f == nil || f.Engine() != "local" {
		return failure.With(failure.Requeue, fmt.Errorf("stopped watching; the workers go on: graft fleet attach %s", x.folder))
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := f.Cancel(ctx)
	_, harvest := x.harvest()
	return failure.With(failure.Requeue, errors.Join(fmt.Errorf("stopped, and what was run is kept; the same command goes on in %s", x.folder), err, harvest))
}

// left is how many legs are left to run, as of late: to count them takes a file each,
// which is to be a small part of what the machine does.
func (x *watch) left() (int, error) {
	x.mu.Lock()
	n, err := x.counted()
	x.mu.Unlock()
	if err != nil {
		return 0, err
	}
	if n == 0 && !x.over { // workers may take long to end, and the table need not wait for them
		x.over = true
		_, err = x.harvest()
		return 0, err
	}
	return n, x.collect()
}

// rarely is how much more time passes between two counts than one takes.
const rarely = 50

func (x *watch) counted() (int, error) {
	began := x.env.Now()
	if !x.at.IsZero() && began.Sub(x.at) < rarely*x.took {
		return x.count, nil
	}
	n, err := x.grid.Left()
	x.count, x.at = n, x.env.Now()
	x.took = x.at.Sub(began)
	return n, err
}

// look says how far the simulation has come, as of late.
func (x *watch) look() (grid.Progress, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if since := x.env.Now().Sub(x.looked); x.state.Legs > 0 && (since < time.Second || since < rarely*x.took) {
		return x.state, nil
	}
	s, err := x.grid.Progress()
	if err == nil {
		x.running, _ = legsUnderWay(x.env, x.grid, x.cache()) // what cannot be read is not shown, and workers say why
	}
	x.state, x.looked = s, x.env.Now()
	return s, err
}

// between is how long lies between two collections of the table at least, so that it
// can be read while it grows.
const between = 10 * time.Second

// collect writes the table anew when there is more of it, now and then.
func (x *watch) collect() error {
	s, err := x.look()
	if err != nil || s.Ended == x.ended || x.env.Now().Sub(x.swept) < between {
		return err
	}
	_, err = x.harvest()
	return err
}

func (x *watch) table() string { return filepath.Join(x.folder, runs.TableFolder) }

func (x *watch) harvest() (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	n, err := x.grid.WriteTable(x.env.Files, x.table())
	if err != nil {
		return 0, err
	}
	x.ended, x.swept = n, x.env.Now()
	return n, nil
}
