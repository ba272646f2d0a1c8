package failure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"graft/results"
)

// Code is what the process leaves with. Scripts and cluster managers decide
// by it, so a code keeps its meaning once it is in exitTable.
type Code int

const (
	Done          Code = 0
	Failed        Code = 1
	Usage         Code = 2
	Partial       Code = 3
	Configuration Code = 4
	Damaged       Code = 5
	Requeue       Code = 75 // EX_TEMPFAIL of sysexits.h: the same command later may succeed
	Interrupted   Code = 130
)

// ExitError is an error that also says which code the process leaves with. It
// adds nothing to the message.
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

// Usagef is an error about how a command was called.
func Usagef(format string, args ...any) error {
	return With(Usage, fmt.Errorf(format, args...))
}

// isDamage says whether an error to which nobody gave a code is about a file of graft's
// own that is not what was written.
func isDamage(err error) bool {
	var room interface{ Damaged() bool } // an error of a room that knows damage when it sees it
	return errors.Is(err, results.ErrDamaged) || errors.As(err, &room) && room.Damaged() || errors.As(err, new(*json.SyntaxError)) || errors.As(err, new(*json.UnmarshalTypeError))
}

// CodeOf says which code an error leads to: the one it carries, else
// interrupted when the cancelled ctx caused it, else damaged where a file is, else
// failed.
func CodeOf(ctx context.Context, err error) Code {
	var coded *ExitError
	switch {
	case err == nil:
		return Done
	case errors.As(err, &coded) && coded.Code != Done: // an error is never success
		return coded.Code
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return Interrupted
	case isDamage(err):
		return Damaged
	default:
		return Failed
	}
}

// AsDamage gives an error the code of files that are not what they claim to be.
func AsDamage(err error) error {
	var coded *ExitError
	if errors.As(err, &coded) {
		return err
	}
	return With(Damaged, err)
}
