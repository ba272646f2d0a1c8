// Package failure gives errors the exit code that the process ends with.
package failure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Code is an exit code of the process. Scripts and cluster managers decide by it, so a code
// keeps its meaning once it is documented.
type Code int

const (
	Done          Code = 0   // success
	Failed        Code = 1   // any error without a code of its own
	Crashed       Code = 2   // the Go runtime ends a process with it after a panic or a fatal error; no error has it
	Partial       Code = 3   // part of the work succeeded
	Configuration Code = 4   // a configuration with faults
	Damaged       Code = 5   // a file that is not what was written
	Usage         Code = 64  // EX_USAGE of sysexits.h: wrong arguments or flags
	Requeue       Code = 75  // EX_TEMPFAIL of sysexits.h: the same command later may succeed
	Interrupted   Code = 130 // ended by a signal
)

// ExitError wraps an error with an exit code. Its message is that of the wrapped error.
type ExitError struct {
	Code Code
	err  error
}

// Error is the message of the error inside.
func (e *ExitError) Error() string { return e.err.Error() }

// Unwrap makes the error inside visible to errors.Is and errors.As.
func (e *ExitError) Unwrap() error { return e.err }

// With attaches an exit code to an error; no error stays no error. Where an
// error carries several codes the outermost counts.
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

// isDamaged reports whether an error without a code is about a damaged file.
func isDamaged(err error) bool {
	var room interface{ Damaged() bool } // implemented by errors of packages that detect damage
	return errors.As(err, &room) && room.Damaged() || errors.As(err, new(*json.SyntaxError)) ||
		errors.As(err, new(*json.UnmarshalTypeError))
}

// CodeOf returns the code that an error carries, else Interrupted where the cancelled ctx
// caused it, else Damaged for a damaged file, else Failed.
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

// AsDamage gives an error the code Damaged, unless it has a code.
func AsDamage(err error) error {
	var coded *ExitError
	if errors.As(err, &coded) {
		return err
	}
	return With(Damaged, err)
}
