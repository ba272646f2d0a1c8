package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"graft/config"
	"graft/results"
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

func rounded(v float64) float64 { return float64(int(v*1e4+0.5)) / 1e4 }

// trainReport is what `graft train --json` prints.
type trainReport struct {
	Folder  string         `json:"folder"`          // of the run
	Given   *givenReport   `json:"given,omitempty"` // on first weights that were read
	Outcome *jobOutcome    `json:"outcome"`         // how the job ended
	Events  []trainer.Note `json:"events"`          // of this process; the folder has all
	Epochs  []trainer.Row  `json:"epochs"`          // of this process; the folder has all
}

// jobOutcome is how a job ended, as outcome.json has it.
type jobOutcome struct {
	*trainer.Outcome
	Saves  int           `json:"saves"`     // checkpoints that were written, by the process that ended the job
	Saving time.Duration `json:"saving_ns"` // that they took in it, on the machine's clock: of the budget only where that is the job's
}

// givenReport is what a job began with.
type givenReport struct {
	Weights   string        `json:"weights"`   // their file
	Epochs    int           `json:"epochs"`    // that the job counts as trained before it
	Start     time.Duration `json:"start_ns"`  // of the job, in the budget
	Accuracy  float64       `json:"accuracy"`  // on the validation images, before the first step
	Published *float64      `json:"published"` // on the test images; null where it is not known
}

func (g *givenReport) String() string {
	text := fmt.Sprintf("began at %s with weights of %d epochs: %s accuracy on the validation images", clockText(g.Start), g.Epochs, accuracyText(g.Accuracy))
	if g.Published != nil {
		text += fmt.Sprintf(", %s published on the test images", accuracyText(*g.Published))
	}
	return text
}

func (r *performance) print(w io.Writer, o *jobOutcome) error {
	if r.json {
		return printJSON(w, trainReport{r.folder, r.given, o, r.book.notes, r.book.rows})
	}
	if r.given != nil {
		if _, err := fmt.Fprintf(w, "%s\n\n", r.given); err != nil {
			return err
		}
	}
	events := newTable(">TIME", "EVENT", "WHAT", ">PARAMETERS", ">ACCURACY BEFORE", ">AFTER", ">TOOK")
	for _, n := range r.book.notes {
		if n.Event == "end" || n.Event == "start" {
			continue
		}
		what := n.Action + n.Why
		if n.Event == "up" || n.Event == "down" {
			what = counted(n.Devices, "device")
		} else if n.Processes > 0 {
			what = fmt.Sprintf("%d of %d devices", n.Processes, n.Devices)
		}
		events.add(clockText(n.Time), n.Event, what, fmt.Sprint(n.Parameters), accuracyText(n.Accuracy), r.after(n), tookText(n.Took))
	}
	if len(events.rows) > 1 {
		if err := events.print(w); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%s accuracy on the test images, %s on the validation images\n%d epochs, %d steps, %d decisions, %d parameters in the end\n"+
		"budget %s, of which %s were used: %s for deciding, %s for operating\n%sdigest %.12s\n",
		accuracyText(o.Test.Accuracy), accuracyText(o.Validation.Accuracy), o.Epochs, o.Steps, o.Decisions, o.Parameters,
		clockText(o.Budget), clockText(o.Used), tookText(o.Deciding), tookText(o.Operating), r.where(), o.Digest)
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
			return accuracyText(row.Validation.Accuracy)
		}
	}
	return "-"
}

func accuracyText(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

func clockText(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func tookText(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return d.Round(time.Millisecond / 10).String()
}
