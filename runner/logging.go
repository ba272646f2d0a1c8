package main

import (
	"context"
	"io"
	"os"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// logOptions are the flags that decide how much is logged.
type logOptions struct {
	verbose bool // log the details too; false leaves them out
	quiet   bool // log errors only; false logs what is done as well
}

// level is the least severe level that is logged.
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

// newLogger logs to w: lines for a person on a terminal, JSON anywhere else.
func newLogger(w io.Writer, o logOptions) *zap.Logger {
	layout := zap.NewProductionEncoderConfig()
	layout.EncodeTime = zapcore.ISO8601TimeEncoder
	layout.EncodeDuration = zapcore.StringDurationEncoder
	encoder := zapcore.NewJSONEncoder(layout)
	if isTerminal(w) {
		layout.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05")
		layout.EncodeLevel = zapcore.CapitalLevelEncoder
		encoder = zapcore.NewConsoleEncoder(layout)
	}
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), o.level()))
}

// isTerminal says whether w is a character device, which for a stream that a
// person may read means a terminal.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

type loggerKey struct{}

// withLogger returns a context from which loggerFrom reads the logger.
func withLogger(ctx context.Context, logger *zap.Logger) context.Context {
	return context.WithValue(ctx, loggerKey{}, logger)
}

// loggerFrom is the logger of the command that runs under ctx; outside of one
// it logs nothing.
func loggerFrom(ctx context.Context) *zap.Logger {
	if logger, ok := ctx.Value(loggerKey{}).(*zap.Logger); ok {
		return logger
	}
	return zap.NewNop()
}
