// Package failure attaches exit codes to errors.
package failure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Code is an exit code of the process. Scripts and cluster managers depend on it, so a code keeps its meaning once it
// is documented.
type Code int

const (
	Done          Code = 0   // success
	Failed        Code = 1   // any error without its own code
	Crashed       Code = 2   // the Go runtime exits with it after a panic or a fatal error; no error has it
	Partial       Code = 3   // part of the work succeeded
	Configuration Code = 4   // an invalid configuration
	Damaged       Code = 5   // a file that differs from the written one
	Usage         Code = 64  // EX_USAGE of sysexits.h: wrong arguments or flags
	Requeue       Code = 75  // EX_TEMPFAIL of sysexits.h: the same command later may succeed
	Interrupted   Code = 130 // ended by a signal
)

// ExitError wraps an error with an exit code. Its message is the wrapped error's.
type ExitError struct {
	Code Code
	err  error
}

// Error returns the message of the wrapped error.
func (e *ExitError) Error() string { return e.err.Error() }

// Unwrap returns the wrapped error.
func (e *ExitError) Unwrap() error { return e.err }

// With attaches an exit code to an error; nil stays nil. If an error carries several codes the outermost counts.
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

// CodeOf returns the code of an error; without one Interrupted if the cancelled ctx caused it, Damaged for a damaged
// file, otherwise Failed.
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

// AsDamage attaches the code Damaged to an error, unless it has a code.
func AsDamage(err error) error {
	var coded *ExitError
	if errors.As(err, &coded) {
		return err
	}
	return With(Damaged, err)
}
