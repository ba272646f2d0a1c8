// Command graft grows a network while it trains: if a job gets more devices it deepens or widens its network; if
// devices are taken away the network shrinks and keeps what it learned.
//
// This package is the only one that reads flags, writes to stdout and exits. Each command has its own file and is
// registered in root.go. Data goes to stdout, everything else (logs, progress, errors) to stderr.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"graft/internal/failure"
)

func main() {
	startsTrials()
	os.Exit(int(run(os.Args[1:], os.Stdout, os.Stderr)))
}

// run is the whole program except the process: it handles signals, runs the command in args and returns the exit code.
func run(args []string, stdout, stderr io.Writer) failure.Code {
	ctx, stop := withSignals(context.Background(), os.Exit)
	defer stop()
	return execute(ctx, newRootCommand(), args, stdout, stderr)
}

// execute runs one command line on a command tree and reports a failure once.
func execute(ctx context.Context, root *cobra.Command, args []string, stdout, stderr io.Writer) failure.Code {
	began := prepare(root, stderr)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return failure.Done
	}
	if !*began {
		// An error before a command's own code runs is a usage error: an unknown command or flag, or a wrong or missing
		// argument.
		err = failure.With(failure.Usage, err)
	}
	code := failure.CodeOf(ctx, err)
	if cause := context.Cause(ctx); code == failure.Interrupted && !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", err, cause) // names the signal
	}
	reportError(stderr, command, args, code, err)
	return code
}
