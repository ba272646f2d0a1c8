package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"graft/fleet"
	"graft/internal/words"
	"graft/report"
	"graft/report/document"
	"graft/runner/simulate"
)

func newSimulateCommand() *cobra.Command {
	var o simulate.Options
	asJSON := false
	command := &cobra.Command{
		Use:   "simulate CONFIG",
		Short: "Simulate all action sequences of a scenario",
		Long: `simulate runs every sequence of actions that is possible in a scenario. A scenario is a job with
several possible actions at each decision. CONFIG is a job file with a section [simulate].
Sequences that begin with the same actions share the training up to the point where they differ.
Worker processes run the sequences and divide the work among themselves, without duplicates.
Results are cached by a digest of their inputs, and other scenarios can reuse them. The resulting
table, from which policies learn, is written into the run folder. The same command continues a
stopped or killed simulation. It also repeats work whose result files are damaged. Failed
sequences are left out and reported; --retry retries them.

With --engine slurm, the workers are a job array, which the command submits before it returns.
'graft fleet attach' supervises the job array and collects its results into the table, from any
machine with access to the folder; with --wait, the submitting command does so itself. The section
[fleet] sets the resources of workers.`,
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
	flags.StringArrayVar(&o.Set, "set", nil, "set a configuration key, such as simulate.seeds=3; repeatable")
	flags.StringVar(&o.Folder, "folder", "",
		"run folder (default: the value of run.folder or, without that key, runs/NAME for a file NAME.toml)")
	flags.BoolVar(&o.Force, "force", false, "move an existing run folder of another simulation aside")
	flags.BoolVar(&o.Retry, "retry", false, "retry failed sequences")
	flags.StringVar(&o.Engine, "engine", "",
		"engine that starts the workers: "+strings.Join(fleet.Engines(), " or ")+
			" (default: the value of fleet.engine)")
	flags.IntVar(&o.Workers, "workers", 0, "number of workers; 0 means the value of fleet.workers")
	flags.BoolVar(&o.Wait, "wait", false, "supervise the workers until they end; requires engine slurm")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

// reportOf returns the report of a simulation that has one.
func reportOf(r *simulate.Result) *simulate.Report {
	if r == nil {
		return nil
	}
	return r.Report
}

// printSubmission prints the engine and workers of a simulation.
func printSubmission(w io.Writer, s *simulate.Submission) error {
	last := s.Jobs[len(s.Jobs)-1]
	_, err := fmt.Fprintf(w, "submitted %s: job %s of %s, named %s\nto watch the workers and collect the table, run\n"+
		"  graft fleet attach %s\n", words.Plural(s.Workers, "worker"), last, s.Engine, s.Batch, s.Folder)
	return err
}

// printSimulation prints the result of a simulation.
func printSimulation(w io.Writer, r *simulate.Report) error {
	if r.Outcome != nil {
		if err := report.PrintTable(r.Outcome, w, false); err != nil {
			return err
		}
	}
	s, p := r.State, &document.Printer{W: w}
	saved := ""
	if s.Alone > s.Steps {
		saved = fmt.Sprintf("; without shared legs it would be %d steps (%.1f times as many)", s.Alone,
			float64(s.Alone)/float64(s.Steps))
	}
	p.Line("%d of %s ended, of %s: %s of training%s", s.Ended, words.Plural(s.Sequences, "run"),
		words.Plural(s.Segments, "leg"), words.Plural(s.Steps, "step"), saved)
	p.Line("the table is %s, in the cache %s", r.Table, r.Cache)
	for _, path := range r.Damaged {
		p.Line("repeated damaged work: %s", path)
	}
	return p.Err
}
