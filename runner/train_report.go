package main

import (
	"fmt"
	"io"
	"time"

	"go.uber.org/zap"

	"graft/trainer"
)

// diary writes into the run folder and tells the log.
type diary struct {
	*trainer.Folder
	log   *zap.Logger
	rows  []trainer.Row
	notes []trainer.Note
}

// Epoch adds a row and tells of it.
func (d *diary) Epoch(r trainer.Row) error {
	d.rows = append(d.rows, r)
	d.log.Info("epoch", zap.Int("epoch", r.Epoch), zap.Duration("time", r.Time.Round(time.Millisecond)), zap.Float64("loss", rounded(r.Loss)),
		zap.Float64("validation", rounded(r.Validation.Accuracy)), zap.Int("parameters", r.Parameters))
	return d.Folder.Epoch(r)
}

// Note adds an event and tells of it.
func (d *diary) Note(n trainer.Note) error {
	d.notes = append(d.notes, n)
	if isWarning(n) {
		d.log.Warn(n.Event+"; the job goes on without it", zap.Duration("time", n.Time.Round(time.Millisecond)), zap.String("why", n.Why),
			zap.String("printed", d.Run.Path(logsName)))
		return d.Folder.Note(n)
	}
	fields := []zap.Field{zap.Duration("time", n.Time.Round(time.Millisecond)), zap.String("action", n.Action), zap.Int("devices", n.Devices),
		zap.Int("parameters", n.Parameters)}
	if n.Processes > 0 {
		fields = append(fields, zap.Int("processes", n.Processes))
	}
	d.log.Info(n.Event, fields...)
	return d.Folder.Note(n)
}

func rounded(v float64) float64 { return float64(int(v*1e4+0.5)) / 1e4 }

// trainReport is what `graft train --json` prints.
type trainReport struct {
	Folder  string           `json:"folder"`
	Outcome *trainer.Outcome `json:"outcome"`
	Events  []trainer.Note   `json:"events"` // of this process; the folder has all
	Epochs  []trainer.Row    `json:"epochs"` // of this process; the folder has all
}

func (r *performance) print(w io.Writer, o *trainer.Outcome) error {
	if r.json {
		return printJSON(w, trainReport{r.folder, o, r.book.notes, r.book.rows})
	}
	events := newTable(">TIME", "EVENT", "WHAT", ">PARAMETERS", ">ACCURACY BEFORE", ">AFTER", ">TOOK")
	for _, n := range r.book.notes {
		if n.Event == "end" || n.Event == "start" {
			continue
		}
		what := n.Action + n.Why
		if n.Event == "up" || n.Event == "down" {
			what = fmt.Sprintf("%d devices", n.Devices)
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
