package main

import (
	"fmt"
	"io"

	"graft/results/document"
	"graft/results/runs"
	"graft/work/estimates"
)

// printDurations prints estimates of durations for people.
func printDurations(w io.Writer, r *estimates.DurationReport) error {
	d := &document.Document{}
	d.Say(fmt.Sprintf("%s: %s, %s", r.Trace, r.Format, document.Plural(r.Jobs, "job")), historyText(r),
		fmt.Sprintf("%s by a model, %d by the mean of similar jobs, %d of an hour", document.Plural(r.Learned, "estimate"), r.Similar, r.Blind))
	if r.Scores != nil {
		d.Say("model: "+scoresText(r.Scores, "s"), "mean of similar jobs, for the same jobs: "+scoresText(r.Usual, "s"), "Intervals of 95% are a bootstrap over runs of jobs.")
		d.Show(windowTable(r.Windows))
		d.Show(termTable(r.Terms, estimates.Unit("s", r.Target)))
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

func historyText(r *estimates.DurationReport) string {
	if r.History == 0 && r.Later == 0 {
		return ""
	}
	text := fmt.Sprintf("history: %s", document.Plural(r.History, "job"))
	if r.Later > 0 {
		text += fmt.Sprintf("; %d left out, submitted with the trace or later", r.Later)
	}
	return text
}

// windowTable has a line for each window with jobs.
func windowTable(windows []estimates.Window) *document.Table {
	t := document.NewTable("from").Numbers("", "", "learned from", "jobs").Numbers(document.UnitSeconds, "", "mae").Numbers("", "", "95%", "r²", "95%")
	for _, w := range windows {
		if w.Jobs == 0 {
			continue
		}
		cells := []any{w.From, w.Learned, w.Jobs, "-", "-", "-", "-"}
		if s := w.Scores; s != nil {
			cells = append(cells[:3], estimates.Digits(runs.Value(s.MAE.Value)), intervalText(s.MAE), estimates.Digits(runs.Value(s.R2.Value)), intervalText(s.R2))
		}
		t.Add(cells...)
	}
	return t
}

// scoresText is the scores in a sentence.
func scoresText(s *estimates.Scores, unit string) string {
	return fmt.Sprintf("mean absolute error %s %s, R² %s", measureText(s.MAE), unit, measureText(s.R2))
}

func measureText(m estimates.Measure) string {
	return estimates.Digits(runs.Value(m.Value)) + " " + intervalText(m)
}

func intervalText(m estimates.Measure) string {
	if m.Low == nil {
		return "-"
	}
	return fmt.Sprintf("[%s, %s]", estimates.Digits(*m.Low), estimates.Digits(runs.Value(m.High)))
}

// termTable has a line for each term.
func termTable(terms []estimates.Term, unit string) *document.Table {
	t := document.NewTable("term").Numbers(unit, "", "importance").Numbers(document.UnitShare, "%.1f%%", "share")
	sum := 0.0
	for _, term := range terms {
		sum += term.Importance
	}
	for _, term := range terms {
		t.Add(term.Name, estimates.Digits(term.Importance), term.Importance/max(sum, 1e-300))
	}
	return t
}
