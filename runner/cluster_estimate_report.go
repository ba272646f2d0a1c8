package main

import (
	"fmt"
	"io"

	"graft/cluster/estimate"
	"graft/results/document"
	"graft/results/runs"
)

// estimatesReport is what `graft cluster estimate --json` prints.
type estimatesReport struct {
	Trace   string           `json:"trace"`             // file of the jobs
	Format  string           `json:"format"`            // of the trace
	Out     string           `json:"out"`               // file of the estimates
	Jobs    int              `json:"jobs"`              // of the trace; each has an estimate
	Learned int              `json:"learned"`           // of them that a model estimated
	Similar int              `json:"similar"`           // that are expected to run as long as similar jobs did, as no model was there yet
	Blind   int              `json:"blind"`             // that are expected to run for an hour, as no job had ended
	History int              `json:"history_jobs"`      // of other traces, that were learned from
	Later   int              `json:"history_left_out"`  // of other traces, that came with the trace or after it
	Scores  *learnedScores   `json:"scores"`            // of the jobs that a model estimated, in seconds; null where there are none
	Usual   *learnedScores   `json:"scores_of_similar"` // of the same jobs, had they been expected to run as long as similar ones
	Windows []estimateWindow `json:"windows"`           // in order of time
	Target  string           `json:"target"`            // what was learned: plain, log or median
	Terms   []learnedTerm    `json:"terms"`             // of the last model, the most important first; empty where there is none
	Model   string           `json:"model,omitempty"`   // file of the last model
	Shapes  []string         `json:"shapes,omitempty"`  // files of shape functions
}

// estimateWindow is the time between two models.
type estimateWindow struct {
	From    string         `json:"from"`         // date at which the model was learned
	Learned int            `json:"learned_from"` // jobs that had ended by then
	Jobs    int            `json:"jobs"`         // that were submitted until the next model
	Scores  *learnedScores `json:"scores"`       // of these jobs; null where there was no model
}

// report says what came of it. It has all estimates, also those of the history.
func (o *clusterEstimateOptions) report(job *durationJob, d *estimate.Durations) *estimatesReport {
	r := &estimatesReport{Trace: o.trace, Format: job.format, Out: o.out, Jobs: len(job.jobs) - job.history, History: job.history, Later: job.later,
		Scores: learnedScoresOf(d.Scores), Usual: learnedScoresOf(d.Usual), Windows: []estimateWindow{}, Target: o.target, Terms: learnedTermsOf(d.Model)}
	for _, e := range d.Estimates[job.history:] {
		switch {
		case e.Learned:
			r.Learned++
		case e.Blind:
			r.Blind++
		default:
			r.Similar++
		}
	}
	for _, w := range d.Windows {
		r.Windows = append(r.Windows, estimateWindow{job.date(w.From), len(w.Train), len(w.Test), learnedScoresOf(w.Scores)})
	}
	return r
}

// print writes the report for people.
func (r *estimatesReport) print(w io.Writer) error {
	d := &document.Document{}
	d.Say(fmt.Sprintf("%s: %s, %s", r.Trace, r.Format, document.Plural(r.Jobs, "job")), r.historyText(),
		fmt.Sprintf("%d estimated by a model, %d by similar jobs that had ended, %d as an hour since none had", r.Learned, r.Similar, r.Blind))
	if r.Scores != nil {
		d.Say("of those by a model: "+r.Scores.text("s"), "had similar jobs estimated them: "+r.Usual.text("s"), "intervals of 95% draw runs of jobs")
		d.Show(r.windows())
		d.Show(termTable(r.Terms, unitOf("s", r.Target)))
	}
	d.Say("wrote " + r.Out)
	if r.Model != "" {
		d.Say("wrote " + r.Model)
	}
	if len(r.Shapes) > 0 {
		d.Say(fmt.Sprintf("wrote %s of shapes", document.Plural(len(r.Shapes), "file")))
	}
	return d.Print(w)
}

func (r *estimatesReport) historyText() string {
	if r.History == 0 && r.Later == 0 {
		return ""
	}
	text := fmt.Sprintf("%s of a history are learned from as well", document.Plural(r.History, "job"))
	if r.Later > 0 {
		text += fmt.Sprintf("; %d left out, which came with the trace or after it", r.Later)
	}
	return text
}

// windows has a line for each window with jobs.
func (r *estimatesReport) windows() *document.Table {
	t := document.NewTable("FROM", ">LEARNED FROM", ">JOBS", ">MAE [s]", ">95%", ">R²", ">95%")
	for _, w := range r.Windows {
		if w.Jobs == 0 {
			continue
		}
		cells := []string{w.From, fmt.Sprint(w.Learned), fmt.Sprint(w.Jobs), "-", "-", "-", "-"}
		if s := w.Scores; s != nil {
			cells = append(cells[:3], fourDigits(runs.Value(s.MAE.Value)), s.MAE.interval(), fourDigits(runs.Value(s.R2.Value)), s.R2.interval())
		}
		t.Add(cells...)
	}
	return t
}
