package estimates

import (
	"fmt"
	"io"

	"graft/cluster/estimate"
	"graft/internal/words"
	"graft/report/document"
	"graft/report/runs"
)

// PrintDurations prints estimates of durations as text.
func PrintDurations(w io.Writer, r *DurationReport) error {
	d := &document.Document{}
	d.Say(fmt.Sprintf("%s: %s, %s", r.Trace, r.Format, words.Plural(r.Jobs, "job")), historyText(r),
		fmt.Sprintf("%s by a model, %d by the mean of similar jobs, %d by the default of an hour",
			words.Plural(r.Learned, "estimate"), r.Similar, r.Blind))
	if r.Scores != nil {
		d.Say("model: "+scoresText(r.Scores, "s"), "mean of similar jobs, for the same jobs: "+scoresText(r.Usual, "s"),
			"95% intervals are by bootstrap over blocks of consecutive jobs.")
		d.Show(windowTable(r.Windows))
		d.Show(termTable(r.Terms, Unit("s", r.Target)))
	}
	d.Say("wrote " + r.Out)
	if r.Model != "" {
		d.Say("wrote " + r.Model)
	}
	if len(r.Shapes) > 0 {
		d.Say(fmt.Sprintf("wrote %s with shapes", words.Plural(len(r.Shapes), "file")))
	}
	return d.Print(w)
}

func historyText(r *DurationReport) string {
	if r.History == 0 && r.Later == 0 {
		return ""
	}
	text := fmt.Sprintf("history: %s", words.Plural(r.History, "job"))
	if r.Later > 0 {
		text += fmt.Sprintf("; ignored %d that were not submitted before the trace", r.Later)
	}
	return text
}

// windowTable has a line per window with jobs.
func windowTable(windows []Window) *document.Table {
	t := document.NewTable("from").Numbers("", "", "learned from", "jobs").Numbers(document.UnitSeconds, "", "mae").
		Numbers("", "", "95%", "r²", "95%")
	for _, w := range windows {
		if w.Jobs == 0 {
			continue
		}
		cells := []any{w.From, w.Learned, w.Jobs, "-", "-", "-", "-"}
		if s := w.Scores; s != nil {
			cells = append(cells[:3], Digits(runs.Value(s.MAE.Value)), intervalText(s.MAE),
				Digits(runs.Value(s.R2.Value)), intervalText(s.R2))
		}
		t.Add(cells...)
	}
	return t
}

// scoresText describes the scores in a sentence.
func scoresText(s *Scores, unit string) string {
	return fmt.Sprintf("mean absolute error %s %s, R² %s", s.MAE, unit, s.R2)
}

// String formats the value with its interval.
func (m Measure) String() string {
	return Digits(runs.Value(m.Value)) + " " + intervalText(m)
}

func intervalText(m Measure) string {
	if m.Low == nil {
		return "-"
	}
	return fmt.Sprintf("[%s, %s]", Digits(*m.Low), Digits(runs.Value(m.High)))
}

// termTable has a line per term.
func termTable(terms []Term, unit string) *document.Table {
	t := document.NewTable("term").Numbers(unit, "", "importance").Numbers(document.UnitShare, "%.1f%%", "share")
	sum := 0.0
	for _, term := range terms {
		sum += term.Importance
	}
	for _, term := range terms {
		t.Add(term.Name, Digits(term.Importance), term.Importance/max(sum, 1e-300))
	}
	return t
}

// PrintForecast prints a forecast of submitted jobs and GPUs as text.
func PrintForecast(w io.Writer, r *ForecastReport) error {
	d := &document.Document{}
	d.Say(fmt.Sprintf("%s: %s of ten minutes", r.Source, words.Plural(r.Steps, "step")),
		fmt.Sprintf("forecast from %s to %s: %d steps by models learned %s, %d by the last known hour", r.From, r.To,
			r.Learned, words.Plural(r.Times, "time"), r.Rows-r.Learned))
	if r.Jobs.Scores != nil {
		d.Say("jobs: "+scoresText(r.Jobs.Scores, "jobs"), "GPUs: "+scoresText(r.GPUs.Scores, "GPUs"),
			"95% intervals are by bootstrap over days.")
		d.Head("submitted jobs")
		d.Show(termTable(r.Jobs.Terms, Unit("jobs", r.Target)))
		d.Head("requested GPUs")
		d.Show(termTable(r.GPUs.Terms, Unit("GPUs", r.Target)))
	}
	d.Say("wrote " + r.Out)
	for _, path := range r.Models {
		d.Say("wrote " + path)
	}
	if len(r.Shapes) > 0 {
		d.Say(fmt.Sprintf("wrote %s with shapes", words.Plural(len(r.Shapes), "file")))
	}
	return d.Print(w)
}

// Print prints shapes as text. It prints shapes that depend on two features only if asked is true, which means that the
// user selected a single shape.
func (s *Shaped) Print(w io.Writer, asked bool) error {
	d, m := &document.Document{}, s.Model
	d.Say(fmt.Sprintf("%s: learned from %s, base %s, target %s", s.Path, words.Plural(m.Rows(), "row"),
		Digits(m.Base()), m.Target()))
	if !asked {
		d.Show(termTable(Terms(m), Unit("target's unit", m.Target())))
	}
	for _, s := range s.Shapes {
		if asked || len(s.Axes) == 1 {
			d.Head("%s", s.Term.Name)
			d.Show(shapeTable(s))
		}
	}
	return d.Print(w)
}

// shapeTable has a line per bin, or cell of a map, with rows.
func shapeTable(s estimate.Shape) *document.Table {
	t := document.NewTable()
	for _, a := range s.Axes {
		t.Texts(a.Feature)
	}
	t.Numbers("", "", "value", "deviation", "rows")
	for k, c := range s.Cells {
		if c.Weight == 0 {
			continue
		}
		t.Add(append(binsOf(s, k), Digits(c.Value), Digits(c.Deviation), Digits(c.Weight))...)
	}
	return t
}

// binsOf names the bins of a cell.
func binsOf(s estimate.Shape, cell int) []any {
	last := s.Axes[len(s.Axes)-1]
	names := []any{last.Bins[cell%len(last.Bins)]}
	if len(s.Axes) > 1 {
		names = append([]any{s.Axes[0].Bins[cell/len(last.Bins)]}, names...)
	}
	return names
}
