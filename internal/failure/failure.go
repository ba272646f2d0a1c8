// Package failure attaches exit codes to errors.
package failure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Code is an exit code of the process. Scripts and cluster managers rely on exit codes, so the meaning of a documented
// code never changes.
type Code int

const (
	Done   Code = 0 // success
	Failed Code = 1 // any error without a code of its own
	// a panic or a fatal error of the Go runtime, which exits with it; no error carries it
	Crashed       Code = 2
	Partial       Code = 3   // only part of the work succeeded
	Configuration Code = 4   // an invalid configuration
	Damaged       Code = 5   // a file whose content differs from what was written
	Usage         Code = 64  // EX_USAGE of sysexits.h: wrong arguments or flags
	Requeue       Code = 75  // EX_TEMPFAIL of sysexits.h: the same command can succeed later
	Interrupted   Code = 130 // ended by a signal
)

// ExitError wraps an error with an exit code. Its message is the message of the wrapped error.
type ExitError struct {
	Code Code
	err  error
}

// Error returns the message of the wrapped error.
func (e *ExitError) Error() string { return e.err.Error() }

// Unwrap returns the wrapped error.
func (e *ExitError) Unwrap() error { return e.err }

// With attaches an exit code to an error. A nil error stays nil. If an error carries several codes, the outermost
// applies.
func With(code Code, err error) error {
	if err == nil {
		return nil
	}
	return &ExitError{Code: code, err: err}
}

// Usagef formats an error with the code Usage.
func Usagef(format string, args ...any) error {
	return With(Usage, fmt.Errorf(format, args...))
}

// isDamaged reports whether an error without a code concerns a damaged file.
func isDamaged(err error) bool {
	var room interface{ Damaged() bool } // implemented by errors of packages that detect damage
	return errors.As(err, &room) && room.Damaged() || errors.As(err, new(*json.SyntaxError)) ||
		errors.As(err, new(*json.UnmarshalTypeError))
}

// CodeOf returns the exit code of an error. The code of a nil error is Done. For an error without a code, CodeOf
// returns Interrupted if the end of ctx caused the error, Damaged if the error reports a damaged file, and Failed
// otherwise.
func CodeOf(ctx context.Context, err error) Code {
	var coded *ExitError
	switch {
	case err == nil:
		return Done
	case errors.As(err, &coded) && coded.Code != Done: // an error is never success
		return coded.Code
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return Interrupted
	case isDamaged(err):
		return Damaged
	default:
		return Failed
	}
}

// AsDamage attaches the code Damaged to an error that has no code.
func AsDamage(err error) error {
	var coded *ExitError
	if errors.As(err, &coded) {
		return err
	}
	return With(Damaged, err)
}
