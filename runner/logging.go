package main

import (
	"context"
	"io"
	"os"
	"sync"

	"github.com/vbauerster/mpb/v8/cwriter"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"graft/runner/app"
)

// logOptions are the flags for the amount of logging.
type logOptions struct {
	verbose bool // log details too
	quiet   bool // log only errors; false also logs actions
}

// level returns the least severe level to log.
func (o logOptions) level() zapcore.Level {
	switch {
	case o.verbose:
		return zapcore.DebugLevel
	case o.quiet:
		return zapcore.ErrorLevel
	default:
		return zapcore.InfoLevel
	}
}

// screen is the stderr of a command, which receives all lines of its log.
type screen struct {
	logOptions
	w  io.Writer
	mu sync.Mutex
	// over is the progress bar that owns the terminal, and writes lines above itself; nil if there is none.
	over io.Writer
}

// Write writes a line above the progress bar. After the progress bar has closed, Write passes the line directly to the
// underlying writer.
func (s *screen) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over != nil {
		if n, err := s.over.Write(line); err == nil {
			return n, nil
		}
	}
	return s.w.Write(line)
}

// newLogger logs to a screen: readable lines on a terminal, otherwise JSON.
func newLogger(s *screen) *zap.Logger {
	layout := app.LogLayout()
	encoder := zapcore.NewJSONEncoder(layout)
	if isTerminal(s.w) {
		layout.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05")
		layout.EncodeLevel = zapcore.CapitalLevelEncoder
		encoder = zapcore.NewConsoleEncoder(layout)
	}
	return zap.New(zapcore.NewCore(encoder, zapcore.AddSync(s), s.level()))
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && cwriter.IsTerminal(int(file.Fd()))
}

type (
	loggerKey struct{}
	screenKey struct{}
)

// withLogger returns a context with a screen and its logger, for screenFrom and loggerFrom.
func withLogger(ctx context.Context, s *screen) context.Context {
	return context.WithValue(context.WithValue(ctx, loggerKey{}, newLogger(s)), screenKey{}, s)
}

// screenFrom returns the screen of the command that runs under ctx; outside of a command, a screen that discards
// everything.
func screenFrom(ctx context.Context) *screen {
	if s, ok := ctx.Value(screenKey{}).(*screen); ok {
		return s
	}
	return &screen{w: io.Discard}
}

// loggerFrom returns the logger of the command that runs under ctx; outside of a command it discards everything.
func loggerFrom(ctx context.Context) *zap.Logger {
	if logger, ok := ctx.Value(loggerKey{}).(*zap.Logger); ok {
		return logger
	}
	return zap.NewNop()
}
