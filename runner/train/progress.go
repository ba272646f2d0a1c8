package train

import (
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
	"graft/trainer"
)

// progressLog logs the progress of a job at limited intervals.
type progressLog struct {
	log   *zap.Logger
	shown bool // a progress bar is shown, so progress is not logged
	pace  *app.ProgressLimiter
}

func newProgressLog(log *zap.Logger, now func() time.Time, shown bool) *progressLog {
	return &progressLog{log, shown, app.NewProgressLimiter(now)}
}

// watch logs progress when a line is due.
func (l *progressLog) watch(p trainer.Progress) {
	if !l.shown && l.pace.Due() {
		l.log.Info("training", facts(p)...)
	}
}

// epoch logs an epoch: as progress when a line is due, otherwise as a detail.
func (l *progressLog) epoch(r trainer.Row) {
	level := zapcore.DebugLevel
	if l.pace.Due() {
		level = zapcore.InfoLevel
	}
	l.log.Log(level, "completed epoch", zap.Int("epoch", r.Epoch), zap.Duration("time", r.Time.Round(time.Millisecond)),
		zap.Float64("loss", app.Rounded(r.Loss)), zap.Float64("validation", app.Rounded(r.Validation.Accuracy)),
		zap.Int("devices", r.Devices), zap.Int("parameters", r.Parameters))
}

// note logs an event.
func (l *progressLog) note(n trainer.Note) {
	fields := []zap.Field{zap.Duration("time", n.Time.Round(time.Millisecond)), zap.Int("devices", n.Devices),
		zap.Int("parameters", n.Parameters)}
	if n.Action != "" {
		fields = append(fields, zap.String("action", n.Action))
	}
	if n.Batch > 0 {
		fields = append(fields, zap.Int("batch", n.Batch))
	}
	if n.Processes > 0 {
		fields = append(fields, zap.Int("processes", n.Processes))
	}
	if n.Why != "" {
		fields = append(fields, zap.String("why", n.Why))
	}
	traits := n.Event.Traits()
	if traits.Warning == "" {
		l.log.Info(string(n.Event), fields...)
		return
	}
	if traits.Of == results.OfProcesses {
		fields = append(fields, zap.String("printed", runs.LogsFolder))
	}
	l.log.Warn(string(n.Event)+"; "+traits.Warning, fields...)
}

// facts returns progress as the fields of a log line.
func facts(p trainer.Progress) []zap.Field {
	fields := []zap.Field{zap.Int("epoch", p.Epoch), zap.Duration("time", p.Time.Round(time.Millisecond)),
		zap.Duration("left", p.Left.Round(time.Millisecond))}
	if p.Loss > 0 {
		fields = append(fields, zap.Float64("loss", app.Rounded(p.Loss)))
	}
	if p.Evaluated {
		fields = append(fields, zap.Float64("validation", app.Rounded(p.Validation.Accuracy)))
	}
	if p.Efficiency > 0 {
		fields = append(fields, zap.Int("batch", p.Batch), zap.Float64("images_per_second", app.Rounded(p.Throughput)),
			zap.Float64("efficiency", app.Rounded(p.Efficiency)))
	}
	fields = append(fields, zap.Int("devices", p.Devices), zap.Int("layers", p.Layers),
		zap.Int("parameters", p.Parameters))
	if next := eventText(p.Next); next != "" {
		fields = append(fields, zap.String("next", next))
	}
	return fields
}
