package sweep

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"go.uber.org/zap"

	"graft/config"
	"graft/fleet"
	"graft/internal/failure"
	"graft/internal/words"
	"graft/runner/app"
	"graft/runner/workers"
)

// batch describes the workers. The zero batch is for a library without a program, whose trials run in this process. If
// the engine rejects the batch, the exit code is Configuration.
func (s *sweep) batch() (fleet.Batch, error) {
	if s.env.Program == "" {
		return fleet.Batch{}, nil
	}
	folder, err := filepath.Abs(s.folder)
	if err != nil {
		return fleet.Batch{}, err
	}
	here, err := filepath.Abs(".")
	if err != nil {
		return fleet.Batch{}, err
	}
	key := sha256.Sum256([]byte(folder + s.Digest()))
	// The folder keeps its given name: it is a part of the configuration of some trials.
	b := fleet.Batch{Key: fmt.Sprintf("graft-%x", key[:8]), Folder: folder, Dir: here,
		Argv: []string{s.env.Program, "work", s.folder}, Workers: s.workers(), Resources: s.Fleet.Resources()}
	if s.Fleet.Threads > 0 {
		b.Argv = append(b.Argv, "--threads", strconv.Itoa(s.Fleet.Threads))
	}
	return b, failure.With(failure.Configuration, s.Fleet.ValidateFor(b))
}

// workers returns the number of concurrent workers, at most the number of trials. On a wall clock it is one: concurrent
// trials would slow each other down.
func (s *sweep) workers() int {
	n := workers.Number(s.Fleet, s.Run.Device)
	if s.Time.Clock == config.WallClock && s.Fleet.Workers == 0 {
		n = 1
	}
	return max(1, min(n, len(s.plan.Trials())))
}

// runTrials runs workers until no trial is left.
func (s *sweep) runTrials(ctx context.Context, b fleet.Batch) error {
	left, err := s.left()
	if err != nil || left == 0 {
		return err
	}
	if len(b.Argv) == 0 {
		end := s.trackTrials()
		err := s.work(ctx, workers.Options{})
		end(ctx, err)
		if ctx.Err() != nil {
			return s.stopped(err)
		}
		return err
	}
	if s.Time.Clock == config.WallClock && b.Workers > 1 {
		s.env.Log.Warn("parallel trials timed by the wall clock slow each other down; "+
			"set fleet.workers = 1 to run them one by one", zap.Int("workers", b.Workers))
	}
	f, err := fleet.Start(ctx, workers.Tools(s.env), s.Fleet.Engine, b)
	if err != nil {
		return err
	}
	return s.supervise(ctx, f, 0)
}

// supervise supervises workers until no trial is left. Every is the polling interval; zero means the engine's.
func (s *sweep) supervise(ctx context.Context, f *fleet.Fleet, every time.Duration) error {
	closeBars, end := s.showProgress(), s.trackTrials()
	err := f.Supervise(ctx, s.left, fleet.SuperviseOptions{Recount: s.left, Note: func(text string) {
		s.env.Log.Warn(text)
	}, Every: cmp.Or(every, workers.PollInterval(f.Engine())), Grace: grace})
	closeBars()
	end(ctx, err)
	switch {
	case ctx.Err() != nil:
		return errors.Join(s.stopped(s.cancel(f)), f.Close())
	case errors.Is(err, fleet.ErrCancelled):
		err = s.stopped(err)
	case err != nil:
		err = errors.Join(err, workers.LastLogLine(s.env.Files, f))
	}
	return errors.Join(err, f.Close())
}

// grace is the time for workers to end when no trial is left.
const grace = 10 * time.Second

// stopped returns the error of an interrupted sweep.
func (s *sweep) stopped(err error) error {
	return failure.With(failure.Requeue,
		errors.Join(fmt.Errorf("stopped; completed work is kept in %s; rerun the command with option "+
			"\"resume\"", s.folder), err))
}

// cancel ends local workers, which save their trials; others continue.
func (s *sweep) cancel(f *fleet.Fleet) error {
	if f.Engine() != "local" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return f.Cancel(ctx)
}

// left counts the remaining trials.
func (s *sweep) left() (int, error) {
	all, err := s.look()
	n := 0
	for _, t := range all {
		if t.state == ready || t.state == waiting {
			n++
		}
	}
	return n, err
}

// counter returns a function that counts the completed trials and all trials, for another goroutine.
func (s *sweep) counter() func() (done, all int64) {
	trials := s.plan.Trials()
	twin := *s
	twin.seen = map[string]state{}
	return func() (int64, int64) {
		left, err := twin.left()
		if err != nil {
			left = len(trials)
		}
		return int64(len(trials) - left), int64(len(trials))
	}
}

// trackTrials writes the number of completed trials into the run folder until end is called with the error of the
// trials.
func (s *sweep) trackTrials() (end func(ctx context.Context, err error)) {
	track, count := s.env.Track(s.folder, "trials"), s.counter()
	note := func() {
		done, of := count()
		track.Note(float64(done), float64(of))
	}
	note()
	stop := s.env.Poll(note)
	return func(ctx context.Context, err error) {
		stop()
		track.StopOrEnd(ctx.Err() != nil || errors.Is(err, fleet.ErrCancelled), err)
	}
}

// showProgress shows the number of completed trials: a bar on a terminal, otherwise a log line every ten seconds.
func (s *sweep) showProgress() (end func()) {
	done := s.counter()
	if s.env.Show != nil {
		return s.env.Show(app.Progress{Done: done, Text: func() string {
			return words.Plural(len(s.plan.Cases), "case")
		}, Details: func(int) string { return "" }})
	}
	ctx, cancel := context.WithCancel(context.Background())
	clock := fleet.NewClock(s.env.Now)
	go func() {
		for clock.Wait(ctx, app.ProgressInterval) == nil {
			n, of := done()
			s.env.Log.Info("running trials", zap.Int64("ended", n), zap.Int64("of", of))
		}
	}()
	return cancel
}
