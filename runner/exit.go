package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"graft/dataset"
	"graft/results"
)

// exitCode is what the process leaves with. Scripts and cluster managers decide
// by it, so a code keeps its meaning once it is in exitTable.
type exitCode int

const (
	exitDone        exitCode = 0
	exitFailed      exitCode = 1
	exitUsage       exitCode = 2
	exitPartial     exitCode = 3
	exitConfig      exitCode = 4
	exitDamaged     exitCode = 5
	exitRequeue     exitCode = 75 // EX_TEMPFAIL of sysexits.h: the same command later may succeed
	exitInterrupted exitCode = 130
)

// exitTable is the one place that says what each code means: the help text of
// the root command and the JSON form of an error are made from it.
var exitTable = []struct {
	code    exitCode
	kind    string // one word for programs
	meaning string // one line for people
}{
	{exitDone, "done", "everything that was asked for was done"},
	{exitFailed, "failed", "it could not be done; the error says why"},
	{exitUsage, "usage", "the command line is wrong; nothing was started"},
	{exitPartial, "partial", "some of it was done, and what was done is kept"},
	{exitConfig, "configuration", "the configuration is wrong; nothing was started"},
	{exitDamaged, "damaged", "a file is truncated, corrupt or not what it claims to be"},
	{exitRequeue, "requeue", "stopped early with all progress saved; run the same command again"},
	{exitInterrupted, "interrupted", "stopped by SIGINT or SIGTERM"},
}

// exitHelp renders exitTable for a help text.
func exitHelp() string {
	var text strings.Builder
	for _, row := range exitTable {
		fmt.Fprintf(&text, "  %3d  %-13s  %s\n", row.code, row.kind, row.meaning)
	}
	return strings.TrimRight(text.String(), "\n")
}

// kindOf is the one word for a code; a code outside the table is a failure.
func kindOf(code exitCode) string {
	for _, row := range exitTable {
		if row.code == code {
			return row.kind
		}
	}
	return kindOf(exitFailed)
}

// exitError is an error that also says which code the process leaves with. It
// adds nothing to the message.
type exitError struct {
	code exitCode
	err  error
}

// Error is the message of the error inside.
func (e *exitError) Error() string { return e.err.Error() }

// Unwrap makes the error inside visible to errors.Is and errors.As.
func (e *exitError) Unwrap() error { return e.err }

// withCode attaches an exit code to an error; no error stays no error. Where an
// error carries several codes the outermost counts.
func withCode(code exitCode, err error) error {
	if err == nil {
		return nil
	}
	return &exitError{code: code, err: err}
}

// usageErrorf is an error about how a command was called.
func usageErrorf(format string, args ...any) error {
	return withCode(exitUsage, fmt.Errorf(format, args...))
}

// isDamage says whether an error to which nobody gave a code is about a file of graft's
// own that is not what was written.
func isDamage(err error) bool {
	return errors.Is(err, results.ErrDamaged) || errors.Is(err, dataset.ErrDamaged) || errors.As(err, new(*json.SyntaxError)) || errors.As(err, new(*json.UnmarshalTypeError))
}

// codeOf says which code an error leads to: the one it carries, else
// interrupted when the cancelled ctx caused it, else damaged where a file is, else
// failed.
func codeOf(ctx context.Context, err error) exitCode {
	var coded *exitError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &coded) && coded.code != exitDone: // an error is never success
		return coded.code
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return exitInterrupted
	case isDamage(err):
		return exitDamaged
	default:
		return exitFailed
	}
}
