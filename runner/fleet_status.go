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
		Short: "Say how a simulation and its workers are",
		Long: `status says how many sequences have ended, which legs are under way and by whom, what
is best so far, how long it will take, and how each worker is. It disturbs nobody:
somebody may be looking after the workers. Where the engine cannot be asked the rest
is printed, and the code is 3.`,
		Example: `  graft fleet status runs/late
  graft fleet status runs/late --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			r, err := simulate.StatusOf(command.Context(), environment(command.Context()), args[0])
			if err != nil {
				return err
			}
			return printStatus(command.OutOrStdout(), r, asJSON)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

// printStatus prints a status. An engine that could not be asked is an error.
func printStatus(w io.Writer, r *simulate.Status, asJSON bool) (err error) {
	if asJSON {
		err = document.PrintJSON(w, r)
	} else {
		err = printFleetStatus(r, w)
	}
	if err == nil && r.EngineError != "" {
		err = failure.With(failure.Partial, errors.New(r.EngineError))
	}
	return err
}

func printFleetStatus(r *simulate.Status, w io.Writer) error {
	if _, err := io.WriteString(w, statusHeadline(r)); err != nil {
		return err
	}
	if err := printLegs(r, w); err != nil {
		return err
	}
	return printWorkers(r, w)
}

// statusHeadline is the simulation in a few lines.
func statusHeadline(r *simulate.Status) string {
	s := r.State
	text := fmt.Sprintf("%d of %d runs ended, %d failed, %d left; %d of %d legs", s.Ended, s.Sequences, s.Failed, r.Left, s.Done, s.Legs)
	if r.ToGo > 0 {
		text += fmt.Sprintf("; %s to go", document.RoughDurationText(time.Duration(r.ToGo*float64(time.Second))))
	}
	if len(s.Best) > 0 {
		text += fmt.Sprintf("\nbest so far %s: %s", tables.Sequence(s.Best[0].Sequence), document.AccuracyText(s.Best[0].Accuracy))
	}
	return text + "\n"
}

func printLegs(r *simulate.Status, w io.Writer) error {
	if len(r.Legs) == 0 {
		return nil
	}
	t := (&document.Table{}).Given("under way", false).Given("seed", true).Given("by", false)
	for _, l := range r.Legs {
		if l.Dead {
			l.Owner += ", which has died"
		}
		t.Add(tables.Sequence(l.Sequence), l.Seed, l.Owner)
	}
	return afterBlank(w, t)
}

func printWorkers(r *simulate.Status, w io.Writer) error {
	if r.Batch == "" {
		_, err := fmt.Fprintln(w, "\nno workers were started from here")
		return err
	}
	t := (&document.Table{}).Given("worker", true).Given("state", false).Given("host", false).Given("detail", false).Given("log", false)
	for _, s := range r.Workers {
		detail := s.Detail
		if s.Exit != 0 {
			detail = strings.TrimPrefix(fmt.Sprintf("%s, exit code %d", detail, s.Exit), ", ")
		}
		t.Add(s.Worker, s.State, cmp.Or(s.Host, "-"), cmp.Or(detail, "-"), s.Log)
	}
	about := "batch " + r.Batch + " of " + r.Engine
	if r.Cancelled {
		about += ", which was cancelled"
	}
	if _, err := fmt.Fprintf(w, "\n%s\n", about); err != nil || len(r.Workers) == 0 {
		return err
	}
	return t.Print(w)
}

// afterBlank prints a table below an empty line.
func afterBlank(w io.Writer, t *document.Table) error {
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return t.Print(w)
}
