package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"graft/files"
	"graft/fleet"
	"graft/simulation/grid"
)

// watch looks at a simulation while workers run it, and collects its table.
type watch struct {
	*site
	log    *zap.Logger
	screen *screen

	mu      sync.Mutex
	grid    *grid.Grid
	state   grid.Progress
	running []runningLeg // when the state was looked at
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

func newWatch(s *site, log *zap.Logger, screen *screen) (*watch, error) {
	g, err := s.grid()
	if err != nil {
		return nil, err
	}
	return &watch{site: s, log: log, screen: screen, grid: g, ended: -1}, nil
}

func tools() fleet.Tools { return fleet.Tools{Files: files.OS{}, Clock: fleet.NewClock(time.Now)} }

// start starts the workers. Those of this machine are watched to the end.
func (x *watch) start(ctx context.Context, w io.Writer, o simulateOptions) error {
	left, err := x.left()
	if err != nil {
		return err
	}
	if left == 0 {
		x.log.Info("all of it was run before", zap.String("cache", x.cache()))
		return x.finish(w, o.json)
	}
	b, err := x.batch()
	if err != nil {
		return err
	}
	f, err := fleet.Start(ctx, tools(), x.Fleet.Engine, b)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if f.Engine() != "local" && !o.wait {
		return submissionOf(x.folder, f).print(w, o.json)
	}
	return x.tend(ctx, w, f, watchOptions{json: o.json})
}

// submission is what `graft simulate --engine slurm --json` prints.
type submission struct {
	Folder  string   `json:"folder"`  // of the simulation's run
	Engine  string   `json:"engine"`  // who starts the workers
	Batch   string   `json:"batch"`   // its name, which Slurm's programs show
	Jobs    []string `json:"jobs"`    // numbers of the job arrays, the latest last
	Workers int      `json:"workers"` // how many there are
}

func submissionOf(folder string, f *fleet.Fleet) submission {
	return submission{folder, f.Engine(), f.Batch().Key, f.Handle().Jobs, f.Batch().Workers}
}

func (s submission) print(w io.Writer, json bool) error {
	if json {
		return printJSON(w, s)
	}
	last := s.Jobs[len(s.Jobs)-1]
	_, err := fmt.Fprintf(w, "%s: job %s of %s, called %s\nwatch them, and collect the table, with\n  graft fleet attach %s\n", counted(s.Workers, "worker"), last, s.Engine, s.Batch, s.Folder)
	return err
}

// watchOptions say how workers are watched.
type watchOptions struct {
	json  bool          // print one object in the end
	every time.Duration // between two looks at the workers; zero is 200 ms for local ones and 10 s for others
}

// tend looks after workers until nothing is left to run.
func (x *watch) tend(ctx context.Context, w io.Writer, f *fleet.Fleet, o watchOptions) error {
	closeBars, err := x.begin()
	if err != nil {
		return err
	}
	if o.every == 0 {
		o.every = tendEvery(f.Engine())
	}
	err = f.Tend(ctx, x.left, fleet.TendOptions{Note: func(text string) { x.log.Warn(text) }, Every: o.every, Grace: grace})
	closeBars()
	switch {
	case ctx.Err() != nil && !x.over:
		return x.stop(f)
	case errors.Is(err, fleet.ErrCancelled):
		_, harvest := x.harvest()
		return withCode(exitRequeue, errors.Join(fmt.Errorf("%w, and what was run is kept; 'graft simulate' goes on with it in %s", err, x.folder), harvest))
	case err != nil && ctx.Err() == nil:
		_, harvest := x.harvest()
		return errors.Join(err, lastWords(f), harvest)
	}
	return x.finish(w, o.json)
}

// begin begins to show how far it has come.
func (x *watch) begin() (end func(), err error) {
	x.begun = time.Now()
	if _, err := x.look(); err != nil {
		return nil, err
	}
	x.first = x.state
	return x.draw(), nil
}

// await watches workers that a cluster looks after until nothing is left to run.
func (x *watch) await(ctx context.Context, w io.Writer, o watchOptions) error {
	if o.every == 0 {
		o.every = between
	}
	closeBars, err := x.begin()
	if err != nil {
		return err
	}
	clock := fleet.NewClock(time.Now)
	for left := 1; left > 0 && err == nil; {
		if left, err = x.left(); left > 0 && err == nil {
			err = clock.Wait(ctx, o.every)
		}
	}
	closeBars()
	switch {
	case ctx.Err() != nil:
		return x.stop(nil)
	case err != nil:
		return err
	}
	return x.finish(w, o.json)
}

// grace is how long workers have to end when nothing is left to run.
const grace = 10 * time.Second

// lastWords is what a worker that failed has said last.
func lastWords(f *fleet.Fleet) error {
	states, err := f.Workers(context.Background())
	for _, s := range states {
		if s.State != fleet.Failed {
			continue
		}
		text, err := files.ReadAll(files.OS{}, s.Log, largestLog)
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
		return withCode(exitRequeue, fmt.Errorf("stopped watching; the workers go on: graft fleet attach %s", x.folder))
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := f.Cancel(ctx)
	_, harvest := x.harvest()
	return withCode(exitRequeue, errors.Join(fmt.Errorf("stopped, and what was run is kept; the same command goes on in %s", x.folder), err, harvest))
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
	began := time.Now()
	if !x.at.IsZero() && began.Sub(x.at) < rarely*x.took {
		return x.count, nil
	}
	n, err := x.grid.Left()
	x.count, x.took, x.at = n, time.Since(began), time.Now()
	return n, err
}

// look says how far the simulation has come, as of late.
func (x *watch) look() (grid.Progress, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if since := time.Since(x.looked); x.state.Legs > 0 && (since < time.Second || since < rarely*x.took) {
		return x.state, nil
	}
	s, err := x.grid.Progress()
	if err == nil {
		x.running, _ = legsUnderWay(x.grid, x.cache()) // what cannot be read is not shown, and workers say why
	}
	x.state, x.looked = s, time.Now()
	return s, err
}

// between is how long lies between two collections of the table at least, so that it
// can be read while it grows.
const between = 10 * time.Second

// collect writes the table anew when there is more of it, now and then.
func (x *watch) collect() error {
	s, err := x.look()
	if err != nil || s.Ended == x.ended || time.Since(x.swept) < between {
		return err
	}
	_, err = x.harvest()
	return err
}

func (x *watch) table() string { return filepath.Join(x.folder, tableFolder) }

func (x *watch) harvest() (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	n, err := x.grid.WriteTable(files.OS{}, x.table())
	if err != nil {
		return 0, err
	}
	x.ended, x.swept = n, time.Now()
	return n, nil
}
