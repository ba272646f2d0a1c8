package main

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"graft/results"
	"graft/results/document"
	"graft/results/runs"
	"graft/trainer"
	"graft/work"
)

// record is the log in a run folder: all that is logged, whatever the flags say.
// What comes before there is a folder waits for it.
type record struct {
	fail func(error) // is told once that it cannot be written

	mu    sync.Mutex
	held  [][]byte       // lines that wait
	lines *results.Lines // nil until there is a folder
	shut  bool           // no more is written
}

// Write adds a line. A line that cannot be written is no error: the job goes on
// without it, and fail has been told.
func (r *record) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(line)
	return len(line), nil
}

func (r *record) put(line []byte) {
	switch {
	case r.shut:
	case r.lines == nil:
		r.held = append(r.held, bytes.Clone(line))
	default:
		_, err := r.lines.Write(line)
		r.check(err)
	}
}

// Sync does nothing: the lines are synced with the run's checkpoints.
func (r *record) Sync() error { return nil }

// open writes what has waited, and the rest from now on, into a run folder.
func (r *record) open(run *results.Run) {
	lines, err := run.Lines("log")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.check(err)
	r.lines = lines
	for _, line := range r.held {
		r.put(line)
	}
	r.held = nil
}

// check ends the log after its first error.
func (r *record) check(err error) {
	if err != nil && !r.shut {
		r.shut = true
		r.fail(err)
	}
}

// recorded is a log that is written into a run folder as well. Only the second goes
// there alone.
func recorded(log *zap.Logger) (both, alone *zap.Logger, r *record) {
	r = &record{fail: func(err error) {
		log.Error("the log in the run folder cannot be written; the job goes on without it", zap.Error(err))
	}}
	core := zapcore.NewCore(zapcore.NewJSONEncoder(layoutOf()), r, zapcore.DebugLevel)
	return log.WithOptions(zap.WrapCore(func(c zapcore.Core) zapcore.Core { return zapcore.NewTee(c, core) })), zap.New(core), r
}

// teller logs where a job stands, so seldom that a long log stays readable.
type teller struct {
	log   *zap.Logger
	now   func() time.Time
	last  time.Time // when it was last said
	drawn bool      // a person sees it on the terminal, all the time
}

func newTeller(log *zap.Logger, now func() time.Time, drawn bool) *teller {
	return &teller{log: log, now: now, last: now(), drawn: drawn}
}

// due says whether it is time for another line, which is then said.
func (t *teller) due() bool {
	now := t.now()
	if now.Sub(t.last) < work.LogEvery {
		return false
	}
	t.last = now
	return true
}

// watch says where the job stands when it has not been said for a while.
func (t *teller) watch(p trainer.Progress) {
	if !t.drawn && t.due() {
		t.log.Info("progress", facts(p)...)
	}
}

// epoch says how an epoch went: in place of where the job stands where there are few,
// else as a detail.
func (t *teller) epoch(r trainer.Row) {
	level := zapcore.DebugLevel
	if t.due() {
		level = zapcore.InfoLevel
	}
	t.log.Log(level, "epoch", zap.Int("epoch", r.Epoch), zap.Duration("time", r.Time.Round(time.Millisecond)), zap.Float64("loss", document.Rounded(r.Loss)),
		zap.Float64("validation", document.Rounded(r.Validation.Accuracy)), zap.Int("devices", r.Devices), zap.Int("parameters", r.Parameters))
}

// note says what happened.
func (t *teller) note(n trainer.Note) {
	fields := []zap.Field{zap.Duration("time", n.Time.Round(time.Millisecond)), zap.Int("devices", n.Devices), zap.Int("parameters", n.Parameters)}
	if n.Action != "" {
		fields = append(fields, zap.String("action", n.Action))
	}
	if n.Processes > 0 {
		fields = append(fields, zap.Int("processes", n.Processes))
	}
	if isWarning(n) {
		t.log.Warn(n.Event+"; the job goes on without it", append(fields, zap.String("why", n.Why), zap.String("printed", runs.LogsName))...)
		return
	}
	t.log.Info(n.Event, fields...)
}

// facts are where a job stands.
func facts(p trainer.Progress) []zap.Field {
	fields := []zap.Field{zap.Int("epoch", p.Epoch), zap.Duration("time", p.Time.Round(time.Millisecond)), zap.Duration("left", p.Left.Round(time.Millisecond))}
	if p.Loss > 0 {
		fields = append(fields, zap.Float64("loss", document.Rounded(p.Loss)))
	}
	if p.Evaluated {
		fields = append(fields, zap.Float64("validation", document.Rounded(p.Validation.Accuracy)))
	}
	fields = append(fields, zap.Int("devices", p.Devices), zap.Int("layers", p.Layers), zap.Int("parameters", p.Parameters))
	if next := eventText(p.Next); next != "" {
		fields = append(fields, zap.String("next", next))
	}
	return fields
}

// eventText is what happens next; empty where nothing is known.
func eventText(e trainer.Event) string {
	switch {
	case e.Change == trainer.Same:
		return ""
	case e.Devices > 0:
		return fmt.Sprintf("%s to %d at %s", e.Change, e.Devices, document.SpanText(e.At))
	}
	return fmt.Sprintf("%s at %s", e.Change, document.SpanText(e.At))
}
