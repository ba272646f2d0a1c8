package main

import (
	"fmt"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"graft/results/document"
	"graft/results/runs"
	"graft/trainer"
	"graft/work"
)

// teller logs where a job stands, so seldom that a long log stays readable.
type teller struct {
	log   *zap.Logger
	drawn bool // a person sees it on the terminal, all the time
	*work.Pace
}

func newTeller(log *zap.Logger, now func() time.Time, drawn bool) *teller {
	return &teller{log: log, drawn: drawn, Pace: work.NewPace(now)}
}

// watch says where the job stands when it has not been said for a while.
func (t *teller) watch(p trainer.Progress) {
	if !t.drawn && t.Due() {
		t.log.Info("progress", facts(p)...)
	}
}

// epoch says how an epoch went: in place of where the job stands where there are few,
// else as a detail.
func (t *teller) epoch(r trainer.Row) {
	level := zapcore.DebugLevel
	if t.Due() {
		level = zapcore.InfoLevel
	}
	t.log.Log(level, "epoch", zap.Int("epoch", r.Epoch), zap.Duration("time", r.Time.Round(time.Millisecond)), zap.Float64("loss", work.Rounded(r.Loss)),
		zap.Float64("validation", work.Rounded(r.Validation.Accuracy)), zap.Int("devices", r.Devices), zap.Int("parameters", r.Parameters))
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
		fields = append(fields, zap.Float64("loss", work.Rounded(p.Loss)))
	}
	if p.Evaluated {
		fields = append(fields, zap.Float64("validation", work.Rounded(p.Validation.Accuracy)))
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
