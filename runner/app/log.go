package app

import (
	"bytes"
	"sync"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"graft/results"
)

// RunLog is the log in a run folder, with messages of every level. It buffers lines until the folder exists.
type RunLog struct {
	fail func(error) // called once if the log cannot be written

	mu    sync.Mutex
	held  [][]byte       // lines until the folder exists
	lines *results.Lines // nil until the folder exists
	shut  bool           // nothing more is written
}

// Write appends a line to the log. It never returns an error: if a line cannot be written, it calls the function fail,
// and the job continues without a log.
func (r *RunLog) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(line)
	return len(line), nil
}

func (r *RunLog) put(line []byte) {
	switch {
	case r.shut:
	case r.lines == nil:
		r.held = append(r.held, bytes.Clone(line))
	default:
		_, err := r.lines.Write(line)
		r.check(err)
	}
}

// Sync does nothing, since the run's checkpoints sync the lines.
func (r *RunLog) Sync() error { return nil }

// Open writes the buffered lines to the log in a run folder. Later lines are written directly.
func (r *RunLog) Open(run *results.Run) {
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

// check closes the log after its first error.
func (r *RunLog) check(err error) {
	if err != nil && !r.shut {
		r.shut = true
		r.fail(err)
	}
}

// WithRunLog returns two loggers. The first, both, writes to log and to the log of a run folder; the second, alone,
// writes only to the log of the run folder. r buffers their lines until its method Open is called with the run.
func WithRunLog(log *zap.Logger) (both, alone *zap.Logger, r *RunLog) {
	r = &RunLog{fail: func(err error) {
		log.Error("cannot write the log in the run folder; continuing without it", zap.Error(err))
	}}
	core := zapcore.NewCore(zapcore.NewJSONEncoder(LogLayout()), r, zapcore.DebugLevel)
	return log.WithOptions(zap.WrapCore(func(c zapcore.Core) zapcore.Core { return zapcore.NewTee(c, core) })),
		zap.New(core), r
}

// LogLayout returns the encoding of times and durations in JSON log lines.
func LogLayout() zapcore.EncoderConfig {
	layout := zap.NewProductionEncoderConfig()
	layout.EncodeTime = zapcore.ISO8601TimeEncoder
	layout.EncodeDuration = zapcore.StringDurationEncoder
	return layout
}

// Warn logs the probable mistakes in a valid configuration file.
func Warn(log *zap.Logger, f any) {
	if file, warns := f.(interface{ Warnings() []string }); warns {
		for _, text := range file.Warnings() {
			log.Warn(text)
		}
	}
}
