package simulate

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"graft/fleet"
	"graft/internal/words"
	"graft/report/document"
	"graft/runner/app"
	"graft/simulation/grid"
	"graft/simulation/tables"
)

// draw shows the progress: bars on a terminal, otherwise a log line every ten seconds. It also writes the progress into
// the run folder.
func (x *monitor) draw() (end func()) {
	x.track = x.env.Track(x.folder, "legs")
	x.trackState()
	closeBars, stop := x.drawBars(), x.env.Poll(x.trackState)
	return func() {
		closeBars()
		stop()
	}
}

// trackState writes the last state into the run folder.
func (x *monitor) trackState() {
	s := x.lastState()
	x.track.Note(float64(s.Done), float64(s.Segments))
	if len(s.Best) > 0 && s.Ended != x.measured {
		x.measured = s.Ended
		x.track.Measure("best_accuracy", document.UnitShare, s.Best[0].Accuracy)
	}
}

func (x *monitor) drawBars() (end func()) {
	if x.env.Show != nil {
		return x.env.Show(app.Progress{Done: x.progress, Text: x.progressText, Details: x.progressDetails})
	}
	ctx, cancel := context.WithCancel(context.Background())
	clock := fleet.NewClock(x.env.Now)
	go func() {
		for clock.Wait(ctx, app.ProgressInterval) == nil {
			x.logProgress()
		}
	}()
	return cancel
}

// lastState is the state at the last refresh.
func (x *monitor) lastState() grid.Progress {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.state
}

// legs returns the running legs at the last refresh.
func (x *monitor) legs() []RunningLeg {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.running
}

func (x *monitor) progress() (done, all int64) {
	s := x.lastState()
	return int64(s.Done), int64(s.Segments)
}

func (x *monitor) progressText() string {
	s := x.lastState()
	if left := x.remaining(s); left > 0 {
		return fmt.Sprintf("%d of %s, %s left", s.Ended, words.Plural(s.Sequences, "run"),
			document.RoughDurationText(left))
	}
	return fmt.Sprintf("%d of %s", s.Ended, words.Plural(s.Sequences, "run"))
}

// remaining estimates the time to the end from the speed since this process started; zero if unknown.
func (x *monitor) remaining(s grid.Progress) time.Duration {
	machine, passed := s.Seconds-x.first.Seconds, x.env.Now().Sub(x.startedAt).Seconds()
	if machine <= 0 || s.Ahead <= 0 {
		return 0
	}
	return time.Duration(s.Ahead / machine * passed * float64(time.Second))
}

func (x *monitor) progressDetails(width int) string {
	s := x.lastState()
	var parts []string
	if s.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", s.Failed))
	}
	for k, b := range s.Best {
		if k == 0 {
			parts = append(parts, fmt.Sprintf("best %s: %s", tables.Sequence(b.Sequence),
				document.AccuracyText(b.Accuracy)))
		}
	}
	for _, leg := range x.legs() {
		parts = append(parts, "runs "+grid.Segment{Sequence: leg.Sequence, Seed: leg.Seed}.String())
	}
	return app.FitLine(append(parts, words.Plural(int(s.Steps), "step")), width)
}

func (x *monitor) logProgress() {
	s := x.lastState()
	about := []zap.Field{zap.Int("ended", s.Ended), zap.Int("of", s.Sequences), zap.Int("failed", s.Failed),
		zap.Int64("steps", s.Steps)}
	if len(s.Best) > 0 {
		about = append(about, zap.Strings("best", s.Best[0].Sequence),
			zap.Float64("accuracy", app.Rounded(s.Best[0].Accuracy)))
	}
	if left := x.remaining(s); left > 0 {
		about = append(about, zap.Duration("to_go", left.Round(time.Second)))
	}
	x.env.Log.Info("simulating", about...)
}
