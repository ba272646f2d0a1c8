package simulate

import (
	"fmt"
	"time"

	"go.uber.org/zap"

	"graft/results/document"
	"graft/results/failure"
	"graft/results/runs"
	"graft/simulation/grid"
	"graft/simulation/tables"
	"graft/work"
)

// Report is what `graft simulate --json` prints.
type Report struct {
	Folder   string            `json:"folder"`   // of the run
	Table    string            `json:"table"`    // its folder
	Cache    string            `json:"cache"`    // its folder
	State    grid.Progress     `json:"state"`    // how far it is
	Failures []grid.Failure    `json:"failures"` // every attempt that failed
	Damaged  []string          `json:"damaged"`  // files of the cache that were put aside
	Outcome  *runs.TableReport `json:"outcome"`  // of the table; null where nothing ended
}

// finish collects the table and reports what came out, with an error where sequences failed.
func (x *watch) finish() (*Report, error) {
	if _, err := x.harvest(); err != nil {
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

func (x *watch) report() (*Report, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := &Report{Folder: x.folder, Table: x.table(), Cache: x.cache()}
	var err error
	if r.State, err = x.grid.Progress(); err != nil {
		return nil, err
	}
	if r.Failures, err = x.grid.Failures.List(); err != nil {
		return nil, err
	}
	if r.Damaged, err = x.grid.Store.Damaged(); err != nil || r.State.Ended == 0 {
		return r, err
	}
	table, err := tables.Read(x.env.Files, r.Table)
	if err != nil {
		return nil, err
	}
	r.Outcome = runs.ReportTable(table)
	return r, nil
}

// Missing says that some failed, and were left out.
type Missing struct{ text string }

// Error says which, and what to do.
func (m *Missing) Error() string { return m.text }

// err says what is missing.
func (r *Report) err() error {
	if r.State.Failed == 0 {
		return nil
	}
	err := &Missing{fmt.Sprintf("%d of %d sequences failed, such as %s: %s; see %s/%s, and try them again with --retry",
		r.State.Failed, r.State.Sequences, grid.Segment{Sequence: r.Failures[0].Sequence, Seed: r.Failures[0].Seed}, r.Failures[0].Why, r.Folder, runs.FailuresFolder)}
	if r.State.Ended == 0 {
		return err
	}
	return failure.With(failure.Partial, err)
}

// draw shows how far it has come: bars on a terminal, now and then a line elsewhere.
func (x *watch) draw() (end func()) {
	if x.env.Show != nil {
		return x.env.Show(work.Scene{Part: x.part, Right: x.right, Facts: x.facts})
	}
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(work.ProgressInterval)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				x.tell()
			}
		}
	}()
	return func() { close(done) }
}

// last is the state that was looked at last.
func (x *watch) last() grid.Progress {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.state
}

// legs are those under way, when it was looked last.
func (x *watch) legs() []RunningLeg {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.running
}

func (x *watch) part() (done, all int64) {
	s := x.last()
	return int64(s.Done), int64(s.Legs)
}

func (x *watch) right() string {
	s := x.last()
	if left := x.toGo(s); left > 0 {
		return fmt.Sprintf("%d of %d runs, %s to go", s.Ended, s.Sequences, document.SpanText(left))
	}
	return fmt.Sprintf("%d of %d runs", s.Ended, s.Sequences)
}

// toGo is how long what is left will take, at the pace of since this process began to
// look; zero where that is not known.
func (x *watch) toGo(s grid.Progress) time.Duration {
	machine, passed := s.Seconds-x.first.Seconds, x.env.Now().Sub(x.begun).Seconds()
	if machine <= 0 || s.Ahead <= 0 {
		return 0
	}
	return time.Duration(s.Ahead / machine * passed * float64(time.Second))
}

func (x *watch) facts(width int) string {
	s := x.last()
	var parts []string
	if s.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", s.Failed))
	}
	for k, b := range s.Best {
		if k == 0 {
			parts = append(parts, fmt.Sprintf("best %s: %s", tables.Sequence(b.Sequence), document.AccuracyText(b.Accuracy)))
		}
	}
	for _, leg := range x.legs() {
		parts = append(parts, "runs "+grid.Segment{Sequence: leg.Sequence, Seed: leg.Seed}.String())
	}
	return work.FitLine(append(parts, document.Counted(int(s.Steps), "step")), width)
}

func (x *watch) tell() {
	s := x.last()
	about := []zap.Field{zap.Int("ended", s.Ended), zap.Int("of", s.Sequences), zap.Int("failed", s.Failed), zap.Int64("steps", s.Steps)}
	if len(s.Best) > 0 {
		about = append(about, zap.Strings("best", s.Best[0].Sequence), zap.Float64("accuracy", work.Rounded(s.Best[0].Accuracy)))
	}
	if left := x.toGo(s); left > 0 {
		about = append(about, zap.Duration("to_go", left.Round(time.Second)))
	}
	x.env.Log.Info("simulating", about...)
}
