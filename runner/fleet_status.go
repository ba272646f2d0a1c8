package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"graft/results/document"
	"graft/results/failure"
	"graft/simulation/tables"
	"graft/work/simulate"
)

// newFleetStatusCommand is `graft fleet status`.
func newFleetStatusCommand() *cobra.Command {
	asJSON := false
	command := &cobra.Command{
		Use:   "status FOLDER",
		Short: "Print the state of a simulation and its workers",
		Long: `status prints the number of sequences that have ended, the legs under way and their workers,
the best sequence so far, the time left, and the state of each worker. A leg is the training
between two decisions. The command changes nothing, also while another process supervises the
workers. If the engine does not answer the rest is printed, and the exit code is 3.`,
		Example: `  graft fleet status runs/late
  graft fleet status runs/late --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			r, err := simulate.StatusOf(command.Context(), environment(command.Context()), args[0])
			if err == nil && r.EngineError != "" {
				err = failure.With(failure.Partial, errors.New(r.EngineError))
			}
			return show(command.OutOrStdout(), asJSON, r, err, printStatus)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

// printStatus prints a status for people.
func printStatus(w io.Writer, r *simulate.Status) error {
	p := &document.Printer{W: w}
	p.Line("%s", statusHeadline(r))
	if len(r.Legs) > 0 {
		p.Line("")
		p.Table(legTable(r))
	}
	if r.Batch == "" {
		p.Line("\nno workers were started from here")
		return p.Err
	}
	about := "batch " + r.Batch + " of " + r.Engine
	if r.Cancelled {
		about += ", which was cancelled"
	}
	p.Line("\n%s", about)
	if len(r.Workers) > 0 {
		p.Table(workerTable(r))
	}
	return p.Err
}

// statusHeadline is the simulation in a few lines.
func statusHeadline(r *simulate.Status) string {
	s := r.State
	text := fmt.Sprintf("%d of %s ended, %d failed, %d left; %d of %s", s.Ended, document.Plural(s.Sequences, "run"), s.Failed, r.Left, s.Done, document.Plural(s.Segments, "leg"))
	if r.ToGo > 0 {
		text += fmt.Sprintf("; %s to go", document.RoughDurationText(time.Duration(r.ToGo*float64(time.Second))))
	}
	if len(s.Best) > 0 {
		text += fmt.Sprintf("\nbest so far %s: %s", tables.Sequence(s.Best[0].Sequence), document.AccuracyText(s.Best[0].Accuracy))
	}
	return text
}

func legTable(r *simulate.Status) *document.Table {
	t := (&document.Table{}).Given("under way", false).Given("seed", true).Given("by", false)
	for _, l := range r.Legs {
		if l.Dead {
			l.Owner += ", which has died"
		}
		t.Add(tables.Sequence(l.Sequence), l.Seed, l.Owner)
	}
	return t
}

func workerTable(r *simulate.Status) *document.Table {
	t := (&document.Table{}).Given("worker", true).Given("state", false).Given("host", false).Given("detail", false).Given("log", false)
	for _, s := range r.Workers {
		detail := s.Detail
		if s.Exit != 0 {
			detail = strings.TrimPrefix(fmt.Sprintf("%s, exit code %d", detail, s.Exit), ", ")
		}
		t.Add(s.Worker, s.State, cmp.Or(s.Host, "-"), cmp.Or(detail, "-"), s.Log)
	}
	return t
}
