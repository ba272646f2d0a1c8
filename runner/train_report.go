package main

import (
	"errors"
	"fmt"
	"io"

	"graft/config"
	"graft/results"
	"graft/results/document"
	"graft/results/report"
	"graft/results/runs"
	"graft/trainer"
)

// diary writes into the run folder, and tells the log and the board.
type diary struct {
	*trainer.Folder
	teller *teller
	board  *board
	curves *curves // nil where TensorBoard is not wanted
	rows   []trainer.Row
	notes  []trainer.Note
}

// Epoch adds a row and tells of it.
func (d *diary) Epoch(r trainer.Row) error {
	d.rows = append(d.rows, r)
	d.board.epoch(r)
	d.teller.epoch(r)
	return errors.Join(d.Folder.Epoch(r), d.curves.epoch(r))
}

// Note adds an event and tells of it.
func (d *diary) Note(n trainer.Note) error {
	d.notes = append(d.notes, n)
	d.board.note(n)
	d.teller.note(n)
	return errors.Join(d.Folder.Note(n), d.curves.note(n))
}

// show begins to write for TensorBoard what comes after these rows, if that is wanted.
func (d *diary) show(run *results.Run, job *trainer.Job, rows []trainer.Row, c *config.Job) (err error) {
	if !c.Run.Tensorboard {
		return nil
	}
	next := int64(0)
	if len(rows) > 0 || job.Steps > 0 {
		next = job.Steps + 1
	}
	if d.curves, err = openCurves(run, next, c.Resolved()); err == nil && len(rows) > 0 {
		d.curves.last = rows[len(rows)-1]
	}
	return err
}

// watch tells where the job stands.
func (d *diary) watch(p trainer.Progress) {
	d.board.watch(p)
	d.teller.watch(p)
}

// trainReport is what `graft train --json` prints.
type trainReport struct {
	Folder  string            `json:"folder"`          // of the run
	Given   *runs.GivenReport `json:"given,omitempty"` // on first weights that were read
	Outcome *runs.JobOutcome  `json:"outcome"`         // how the job ended
	Events  []trainer.Note    `json:"events"`          // of this process; the folder has all
	Epochs  []trainer.Row     `json:"epochs"`          // of this process; the folder has all
}

func (r *performance) print(w io.Writer, o *runs.JobOutcome) error {
	if r.json {
		return document.PrintJSON(w, trainReport{r.folder, r.given, o, r.book.notes, r.book.rows})
	}
	if r.given != nil {
		if _, err := fmt.Fprintf(w, "%s\n\n", report.GivenText(r.given)); err != nil {
			return err
		}
	}
	events := document.NewTable(">TIME", "EVENT", "WHAT", ">PARAMETERS", ">ACCURACY BEFORE", ">AFTER", ">TOOK")
	for _, n := range r.book.notes {
		if n.Event == "end" || n.Event == "start" {
			continue
		}
		what := n.Action + n.Why
		if n.Event == "up" || n.Event == "down" {
			what = document.Counted(n.Devices, "device")
		} else if n.Processes > 0 {
			what = fmt.Sprintf("%d of %d devices", n.Processes, n.Devices)
		}
		events.Add(document.ClockText(n.Time), n.Event, what, fmt.Sprint(n.Parameters), document.AccuracyText(n.Accuracy), r.after(n), document.TookText(n.Took))
	}
	if len(events.Rows) > 1 {
		if err := events.Print(w); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%s accuracy on the test images, %s on the validation images\n%d epochs, %d steps, %d decisions, %d parameters in the end\n"+
		"budget %s, of which %s were used: %s for deciding, %s for operating\n%sdigest %.12s\n",
		document.AccuracyText(o.Test.Accuracy), document.AccuracyText(o.Validation.Accuracy), o.Epochs, o.Steps, o.Decisions, o.Parameters,
		document.ClockText(o.Budget), document.ClockText(o.Used), document.TookText(o.Deciding), document.TookText(o.Operating), r.where(), o.Digest)
	return err
}

// where says where the results are, if they stay there.
func (r *performance) where() string {
	if r.passing {
		return ""
	}
	return fmt.Sprintf("results in %s, ", r.folder)
}

// after is the accuracy at the next evaluation.
func (r *performance) after(n trainer.Note) string {
	for _, row := range r.book.rows {
		if row.Time > n.Time {
			return document.AccuracyText(row.Validation.Accuracy)
		}
	}
	return "-"
}
