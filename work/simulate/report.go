package simulate

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"graft/fleet"
	"graft/results/document"
	"graft/results/failure"
	"graft/results/runs"
	"graft/simulation"
	"graft/work"
)

// Report holds progress and outcome of a simulation; `graft simulate --json` prints it.
type Report struct {
	Folder   string               `json:"folder"`   // of the run
	Table    string               `json:"table"`    // its folder
	Cache    string               `json:"cache"`    // its folder
	State    simulation.State     `json:"state"`    // how far it is
	Failures []simulation.Trouble `json:"failures"` // every attempt that failed
	Damaged  []string             `json:"damaged"`  // files of the cache that were put aside
	Outcome  *runs.TableReport    `json:"outcome"`  // of the table; null where nothing ended
}

// finish collects the table and reports the outcome, with an error where sequences failed.
func (x *monitor) finish() (*Report, error) {
	if _, err := x.collectTable(); err != nil {
		return nil, err
	}
	r, err := x.report()
	if err != nil {
		return nil, err
	}
	if r.State.Failed == 0 {
		if err := x.grid.Sweep(); err != nil {
			return nil, err
		}
	}
	return r, r.err()
}

func (x *monitor) report() (*Report, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := &Report{Folder: x.folder, Table: x.table(), Cache: x.cache()}
	var err error
	if r.State, err = x.grid.State(); err != nil {
		return nil, err
	}
	if r.Failures, err = x.grid.Log.List(); err != nil {
		return nil, err
	}
	if r.Damaged, err = x.grid.Store.Damaged(); err != nil || r.State.Ended == 0 {
		return r, err
	}
	table, err := simulation.Read(x.env.Files, r.Table)
	if err != nil {
		return nil, err
	}
	r.Outcome = runs.NewTableReport(table)
	return r, nil
}

// MissingSequences reports sequences that failed and are left out of the table.
type MissingSequences struct{ text string }

// Error names the first of them and the remedy.
func (m *MissingSequences) Error() string { return m.text }

// err is a MissingSequences error where sequences failed.
func (r *Report) err() error {
	if r.State.Failed == 0 {
		return nil
	}
	err := &MissingSequences{fmt.Sprintf("%d of %d sequences failed, such as %s: %s; see %s/%s, and try them again with --retry",
		r.State.Failed, r.State.Sequences, simulation.Leg{Sequence: r.Failures[0].Sequence, Seed: r.Failures[0].Seed}, r.Failures[0].Why, r.Folder, runs.FailuresFolder)}
	if r.State.Ended == 0 {
		return err
	}
	return failure.With(failure.Partial, err)
}

// draw shows the progress: bars on a terminal, elsewhere a log line every ten seconds.
func (x *monitor) draw() (end func()) {
	if x.env.Show != nil {
		return x.env.Show(work.Progress{Done: x.progress, Text: x.progressText, Details: x.progressDetails})
	}
	ctx, cancel := context.WithCancel(context.Background())
	clock := fleet.NewClock(x.env.Now)
	go func() {
		for clock.Wait(ctx, work.ProgressInterval) == nil {
			x.logProgress()
		}
	}()
	return cancel
}

// lastState is the state at the last refresh.
func (x *monitor) lastState() simulation.State {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.state
}

// legs are the running legs at the last refresh.
func (x *monitor) legs() []RunningLeg {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.running
}

func (x *monitor) progress() (done, all int64) {
	s := x.lastState()
	return int64(s.Done), int64(s.Legs)
}

func (x *monitor) progressText() string {
	s := x.lastState()
	if left := x.remaining(s); left > 0 {
		return fmt.Sprintf("%d of %d runs, %s to go", s.Ended, s.Sequences, document.RoughDurationText(left))
	}
	return fmt.Sprintf("%d of %d runs", s.Ended, s.Sequences)
}

// remaining estimates the time to the end from the pace since this process started; zero where
// it is not known.
func (x *monitor) remaining(s simulation.State) time.Duration {
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
			parts = append(parts, fmt.Sprintf("best %s: %s", simulation.Sequence(b.Sequence), document.AccuracyText(b.Accuracy)))
		}
	}
	for _, leg := range x.legs() {
		parts = append(parts, "runs "+simulation.Leg{Sequence: leg.Sequence, Seed: leg.Seed}.String())
	}
	return work.FitLine(append(parts, document.Plural(int(s.Steps), "step")), width)
}

func (x *monitor) logProgress() {
	s := x.lastState()
	about := []zap.Field{zap.Int("ended", s.Ended), zap.Int("of", s.Sequences), zap.Int("failed", s.Failed), zap.Int64("steps", s.Steps)}
	if len(s.Best) > 0 {
		about = append(about, zap.Strings("best", s.Best[0].Sequence), zap.Float64("accuracy", work.Rounded(s.Best[0].Accuracy)))
	}
	if left := x.remaining(s); left > 0 {
		about = append(about, zap.Duration("to_go", left.Round(time.Second)))
	}
	x.env.Log.Info("simulating", about...)
}
