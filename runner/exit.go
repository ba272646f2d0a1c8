package main

import (
	"fmt"
	"strings"

	"graft/internal/failure"
)

// exitTable defines the meaning of each code: the help text of the root command and the JSON form of an error are made
// from it.
var exitTable = []struct {
	code    failure.Code
	kind    string // one word, for programs
	meaning string // one line of text
}{
	{failure.Done, "done", "the command did everything that was requested"},
	{failure.Failed, "failed", "the command failed; the error message states the cause"},
	{failure.Crashed, "crashed", "a bug in graft, or out of memory; stderr shows where"},
	{failure.Partial, "partial", "partial success: some of the work failed; completed work is kept"},
	{failure.Configuration, "configuration", "the configuration is invalid; nothing was started"},
	{failure.Damaged, "damaged", "a file is truncated, corrupt or not in the expected format"},
	{failure.Usage, "usage", "the command line is invalid; nothing was started"},
	{failure.Requeue, "requeue", "stopped early with all progress saved; run the command again, with --resume if " +
		"it has that flag"},
	{failure.Interrupted, "interrupted", "stopped by SIGINT or SIGTERM"},
}

// exitHelp renders exitTable for a help text.
func exitHelp() string {
	var text strings.Builder
	for _, row := range exitTable {
		fmt.Fprintf(&text, "  %3d  %-13s  %s\n", row.code, row.kind, row.meaning)
	}
	return strings.TrimRight(text.String(), "\n")
}

// kindOf returns the word for a code; a code outside the table is a failure.
func kindOf(code failure.Code) string {
	for _, row := range exitTable {
		if row.code == code {
			return row.kind
		}
	}
	return kindOf(failure.Failed)
}
