package main

import (
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"graft/fleet"
	"graft/results/document"
	"graft/work/simulate"
)

func newSimulateCommand() *cobra.Command {
	var o simulate.Options
	asJSON := false
	command := &cobra.Command{
		Use:   "simulate CONFIG",
		Short: "Run every sequence of actions of a scenario, for policies to learn from",
		Long: `simulate runs the sequences of a scenario: what every decision of a job could be, one
after the other. CONFIG is the file of a job with a section simulate. Sequences that
begin alike have their beginning in common: what they share is trained once. Workers
take what nobody else runs, each in a process of its own.

What was run is kept in a cache, by all that it follows from, for this scenario and
others. The run folder gets the table that policies learn from. The same command goes
on where an earlier one was stopped or killed, and runs again what is damaged; what
failed is left out, said, and tried again with --retry.

With --engine slurm the workers are a job array: the command submits it and returns.
'graft fleet attach' watches it and collects the table, from anywhere that sees the
folder, and so does --wait. What workers get stands in the section fleet.`,
		Example: `  graft simulate late.toml
  graft simulate late.toml --set simulate.seeds=3 --workers 8
  graft simulate late.toml --engine slurm && graft fleet attach runs/late`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			ctx, stop := heedRequeue(command.Context())
			defer stop()
			r, err := simulate.Run(ctx, environment(ctx), args[0], o)
			return errors.Join(printSimulated(command.OutOrStdout(), r, asJSON), err)
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&o.Set, "set", nil, "set a key, such as simulate.seeds=3; may be given several times")
	flags.StringVar(&o.Folder, "folder", "", "the run folder; empty is run.folder, or runs/ and the file's name")
	flags.BoolVar(&o.Force, "force", false, "move a run folder of another simulation aside")
	flags.BoolVar(&o.Retry, "retry", false, "try again what failed")
	flags.StringVar(&o.Engine, "engine", "", "who starts the workers: "+strings.Join(fleet.Engines(), " or ")+"; empty is fleet.engine")
	flags.IntVar(&o.Workers, "workers", 0, "how many run side by side; 0 is fleet.workers")
	flags.BoolVar(&o.Wait, "wait", false, "wait for workers of a cluster as for those of this machine")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

// printSimulated prints what a simulation has come to, or who runs it.
func printSimulated(w io.Writer, r *simulate.Result, asJSON bool) error {
	switch {
	case r == nil:
		return nil
	case r.Report != nil:
		return printSimulation(w, r.Report, asJSON)
	}
	return printSubmission(r.Submission, w, asJSON)
}

// printSimulation prints what a simulation has come to.
func printSimulation(w io.Writer, r *simulate.Report, asJSON bool) error {
	if asJSON {
		return document.PrintJSON(w, r)
	}
	return printSimulateReport(r, w)
}
