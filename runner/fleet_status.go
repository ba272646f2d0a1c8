package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"graft/fleet"
	"graft/internal/failure"
	"graft/internal/words"
	"graft/report/document"
	"graft/runner/simulate"
	"graft/runner/sweep"
	"graft/runner/workers"
	"graft/simulation/tables"
)

// newFleetStatusCommand is `graft fleet status`.
func newFleetStatusCommand() *cobra.Command {
	asJSON := false
	command := &cobra.Command{
		Use:   "status FOLDER",
		Short: "Print the progress of a simulation or of trials, and the state of their workers",
		Long: `status prints the number of completed sequences, the legs in progress and their workers, the best
sequence so far, the time left, and the state of each worker. A leg is the training between two
decisions. For trials, status prints the number of completed trials, and lists the trials that are
running or have failed. The command is read-only and safe while another process supervises the
workers. If the engine that runs the workers, such as Slurm, does not respond, status omits the
workers' states and exits with code 3.`,
		Example: `  graft fleet status runs/late
  graft fleet status runs/late --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			ctx, w := command.Context(), command.OutOrStdout()
			if env := environment(ctx); workers.IsSweep(env, args[0]) {
				r, err := sweep.StatusOf(ctx, env, args[0])
				if err != nil {
					return err
				}
				return show(w, asJSON, r, silent(r.EngineError), printTrialStatus)
			}
			r, err := simulate.StatusOf(ctx, environment(ctx), args[0])
			if err != nil {
				return err
			}
			return show(w, asJSON, r, silent(r.EngineError), printStatus)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

// silent returns the error of an engine that did not respond; nil if it did.
func silent(engineError string) error {
	if engineError == "" {
		return nil
	}
	return failure.With(failure.Partial, errors.New(engineError))
}

// printStatus prints a status as text.
func printStatus(w io.Writer, r *simulate.Status) error {
	p := &document.Printer{W: w}
	p.Line("%s", statusHeadline(r))
	if len(r.Legs) > 0 {
		p.Line("")
		p.Table(legTable(r))
	}
	printWorkers(p, r.Status)
	return p.Err
}

// printTrialStatus prints a status of trials as text.
func printTrialStatus(w io.Writer, r *sweep.Status) error {
	p := &document.Printer{W: w}
	p.Line("%d of %s ended, %d failed, %d left", r.Ended, words.Plural(r.Trials, "trial"), len(r.Failed), r.Left)
	if len(r.Running) > 0 {
		p.Line("")
		p.Table(runningTable(r))
	}
	for _, f := range r.Failed {
		p.Line("%s, seed %d, failed: %s", document.Printable(f.Case), f.Seed, document.Printable(f.Why))
	}
	printWorkers(p, r.Status)
	return p.Err
}

// printWorkers prints the workers of a run folder.
func printWorkers(p *document.Printer, r workers.Status) {
	if r.Batch == "" {
		p.Line("\nno workers were started from this folder")
		return
	}
	about := "batch " + r.Batch + " of " + r.Engine
	if r.Cancelled {
		about += ", which was cancelled"
	}
	p.Line("\n%s", about)
	if len(r.Workers) > 0 {
		p.Table(workerTable(r.Workers))
	}
}

// statusHeadline summarizes the simulation in a few lines.
func statusHeadline(r *simulate.Status) string {
	s := r.State
	text := fmt.Sprintf("%d of %s ended, %d failed, %d left; %d of %s", s.Ended, words.Plural(s.Sequences, "run"),
		s.Failed, r.Left, s.Done, words.Plural(s.Segments, "leg"))
	if r.ToGo > 0 {
		text += fmt.Sprintf("; %s left", document.RoughDurationText(time.Duration(r.ToGo*float64(time.Second))))
	}
	if len(s.Best) > 0 {
		text += fmt.Sprintf("\nbest so far %s: %s", tables.Sequence(s.Best[0].Sequence),
			document.AccuracyText(s.Best[0].Accuracy))
	}
	return text
}

func legTable(r *simulate.Status) *document.Table {
	t := (&document.Table{}).Given("under way", false).Given("seed", true).Given("by", false)
	for _, l := range r.Legs {
		t.Add(tables.Sequence(l.Sequence), l.Seed, ownerText(l.Owner, l.Dead))
	}
	return t
}

func runningTable(r *sweep.Status) *document.Table {
	t := (&document.Table{}).Given("under way", false).Given("seed", true).Given("by", false)
	for _, l := range r.Running {
		t.Add(l.Case, l.Seed, ownerText(l.Owner, l.Dead))
	}
	return t
}

func ownerText(owner string, dead bool) string {
	if dead {
		return owner + ", which has died"
	}
	return owner
}

func workerTable(all []fleet.WorkerState) *document.Table {
	t := (&document.Table{}).Given("worker", true).Given("state", false).Given("host", false).Given("detail", false).
		Given("log", false)
	for _, s := range all {
		detail := s.Detail
		if s.Exit != 0 {
			detail = strings.TrimPrefix(fmt.Sprintf("%s, exit code %d", detail, s.Exit), ", ")
		}
		t.Add(s.Worker, s.State, cmp.Or(s.Host, "-"), cmp.Or(detail, "-"), s.Log)
	}
	return t
}
