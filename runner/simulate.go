package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"graft/fleet"
	"graft/results/document"
	"graft/results/report"
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
			w := command.OutOrStdout()
			r, err := simulate.Run(ctx, environment(ctx), args[0], o)
			if r == nil || r.Report != nil {
				return show(w, asJSON, reportOf(r), err, printSimulation)
			}
			return show(w, asJSON, r.Submission, err, printSubmission)
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

// reportOf is the report of a simulation that has one.
func reportOf(r *simulate.Result) *simulate.Report {
	if r == nil {
		return nil
	}
	return r.Report
}

// printSubmission prints who runs a simulation.
func printSubmission(w io.Writer, s *simulate.Submission) error {
	last := s.Jobs[len(s.Jobs)-1]
	_, err := fmt.Fprintf(w, "%s: job %s of %s, called %s\nwatch them, and collect the table, with\n  graft fleet attach %s\n", document.Plural(s.Workers, "worker"), last, s.Engine, s.Batch, s.Folder)
	return err
}

// printSimulation prints what a simulation has come to.
func printSimulation(w io.Writer, r *simulate.Report) error {
	if r.Outcome != nil {
		if err := report.PrintTable(r.Outcome, w, false); err != nil {
			return err
		}
	}
	s, p := r.State, &document.Printer{W: w}
	saved := ""
	if s.Alone > s.Steps {
		saved = fmt.Sprintf(", %d if each had been run alone (%.1f times)", s.Alone, float64(s.Alone)/float64(s.Steps))
	}
	p.Line("%d of %d runs ended, of %d legs: %d steps of training%s", s.Ended, s.Sequences, s.Legs, s.Steps, saved)
	p.Line("the table is %s, in the cache %s", r.Table, r.Cache)
	for _, path := range r.Damaged {
		p.Line("damaged, and run again: %s", path)
	}
	return p.Err
}
