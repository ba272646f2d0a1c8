package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"graft/internal/stat"
	"graft/internal/words"
	"graft/report/contrast"
	"graft/report/document"
	"graft/report/runs"
)

// Contrasts is a report of registered differences between arms over several sweeps.
type Contrasts struct {
	*contrast.Report

	format string // format of the measure's values
	all    bool
}

// NewContrasts computes the contrasts of a file over sweeps. Unless all is true, long lists of notes are shortened.
func NewContrasts(f *contrast.File, list []*runs.Run, all bool) (*Contrasts, error) {
	r, err := contrast.New(f, list)
	if err != nil {
		return nil, err
	}
	c := &Contrasts{Report: r, all: all}
	for _, m := range runs.ContrastMeasures() {
		if wordsOf(m.Name) == r.Metric {
			c.format = m.Format
		}
	}
	return c, nil
}

// Write writes the report in a format.
func (c *Contrasts) Write(w io.Writer, form Form) error {
	switch form {
	case JSON:
		return document.PrintJSON(w, c.Report)
	case CSV:
		return c.rows().CSV(w)
	case Markdown:
		return c.document().Markdown(w)
	case Latex:
		return c.document().Latex(w)
	}
	return c.document().Print(w)
}

func (c *Contrasts) document() *document.Document {
	d := &document.Document{}
	d.Head("contrasts of %s", c.Metric)
	d.Show(c.folderTable())
	d.Show(c.summaryTable())
	d.Say(c.verdict())
	d.Say(c.remarks()...)
	c.writeWithFailed(d)
	for k, one := range c.Contrasts {
		c.writeContrast(d, k, one)
	}
	if len(c.Listing) > 0 {
		c.writeListing(d)
	}
	if len(c.Notes) > 0 {
		d.Head("trials without a value")
		d.Say(c.shortened(c.Notes)...)
	}
	return d
}

// maxNotes is the maximum number of notes in a list.
const maxNotes = 20

// shortened returns printable lines, at most maxNotes of them unless the report shows all.
func (c *Contrasts) shortened(notes []string) (lines []string) {
	for k, text := range notes {
		if k == maxNotes && !c.all {
			return append(lines, fmt.Sprintf("… %d more; --all shows every line", len(notes)-k))
		}
		lines = append(lines, document.Printable(text))
	}
	return lines
}

// folderTable has a line per sweep.
func (c *Contrasts) folderTable() *document.Table {
	t := document.NewTable("sweep", "state").Numbers("", "%.0f", "trials", "with outcome", "failed").Texts("folder")
	for _, f := range c.Folders {
		t.Add(f.Name, StateWord(f.Ended), f.Trials, f.Done, f.Failed, f.Path)
	}
	return t
}

// differenceFormat returns the format of differences.
func (c *Contrasts) differenceFormat() string {
	switch c.DifferenceUnit {
	case document.UnitPoints:
		return "%+.2f"
	case document.UnitNats:
		return "%+.4f"
	}
	return "%+.4g"
}

// detectableFormat returns the format of detectable differences, which have no sign.
func (c *Contrasts) detectableFormat() string {
	return strings.Replace(c.differenceFormat(), "+", "", 1)
}

// estimateCell formats a difference with its interval.
func (c *Contrasts) estimateCell(e *contrast.Estimate) document.Cell {
	if e == nil {
		return document.Missing()
	}
	cell := document.Value(e.Mean, c.DifferenceUnit).As(c.differenceFormat())
	cell.Low, cell.High = e.Low, e.High
	return cell
}

// meanCell formats a mean of the measure.
func (c *Contrasts) meanCell(v float64) document.Cell { return document.Value(v, c.Unit).As(c.format) }

// pCell formats a p-value.
func pCell(p *float64) document.Cell {
	switch {
	case p == nil:
		return document.Missing()
	case *p < smallestShownP:
		return document.Cell{Number: p, Format: "%.1e"}
	}
	return document.Value(*p, "").As("%.4f")
}

// smallestShownP is the smallest p-value that four decimals show.
const smallestShownP = 0.0001

// contrastName returns a contrast as a difference of its arms.
func contrastName(c *contrast.Contrast) string { return c.Arm + " − " + c.Against }

// summaryTable has a line per contrast.
func (c *Contrasts) summaryTable() *document.Table {
	t := document.NewTable("contrast").Numbers("", "%.0f", "settings").
		Numbers(c.DifferenceUnit, c.differenceFormat(), "difference").Numbers("", "", "p", "p (holm)").
		Numbers("", "%.0f", "higher in", "lower in").Numbers(c.DifferenceUnit, c.detectableFormat(), "detectable")
	for _, one := range c.Contrasts {
		detectable := document.Missing()
		if one.Detectable != nil {
			detectable = document.Value(*one.Detectable, c.DifferenceUnit).As(c.detectableFormat())
		}
		t.Add(contrastName(one), len(one.Settings), c.estimateCell(one.Over), pCell(one.P), pCell(one.Holm), one.Higher,
			one.Lower, detectable)
	}
	return t
}

// writeWithFailed adds the contrasts with values in place of failed trials, if there are any.
func (c *Contrasts) writeWithFailed(d *document.Document) {
	t := document.NewTable("contrast").Numbers("", "%.0f", "failed", "settings").
		Numbers(c.DifferenceUnit, c.differenceFormat(), "difference").Numbers("", "", "p", "p (holm)")
	for _, one := range c.Contrasts {
		if w := one.WithFailed; w != nil {
			t.Add(contrastName(one), w.Trials, w.N, c.estimateCell(&w.Estimate), pCell(w.P), pCell(w.Holm))
		}
	}
	if len(t.Rows) == 0 {
		return
	}
	d.Head("with failed trials")
	d.Say("The same differences, with the value of the contrasts file in place of each failed trial.")
	d.Show(t)
}

// contrastLevel is the significance level of contrasts.
const contrastLevel = 0.05

// verdict names the significant contrasts, in a sentence.
func (c *Contrasts) verdict() string {
	var parts []string
	for _, one := range c.Contrasts {
		if one.Holm == nil || *one.Holm >= contrastLevel {
			continue
		}
		word := "higher"
		if one.Over.Mean < 0 {
			word = "lower"
		}
		switch {
		case c.Better == "":
		case (c.Better == "more") == (one.Over.Mean > 0):
			word += " (better)"
		default:
			word += " (worse)"
		}
		parts = append(parts, fmt.Sprintf("%s is %s than %s", document.Printable(one.Arm), word,
			document.Printable(one.Against)))
	}
	switch {
	case len(c.Contrasts) == 0:
		return ""
	case len(parts) == 0:
		return "No contrast is significant over settings, after Holm's correction."
	}
	return "Significant over settings, after Holm's correction: " + strings.Join(parts, "; ") + "."
}

// remarks explain the columns of the summary.
func (c *Contrasts) remarks() (lines []string) {
	if len(c.Contrasts) == 0 {
		return nil
	}
	unit := document.UnitText(c.DifferenceUnit)
	if unit = strings.TrimSpace(unit); unit != "" {
		unit = ", in " + unit
	}
	lines = append(lines, fmt.Sprintf("A setting is a sweep with one combination of its swept values; %s.",
		words.ThereAre(c.Settings, "setting")),
		fmt.Sprintf("DIFFERENCE is the mean over settings of the differences paired by seed%s. In brackets: 95%% "+
			"interval over settings, by Student's t-distribution. Each setting counts once. Fewer than %d values, and "+
			"equal values, have no interval.", unit, stat.FewestSeeds),
		fmt.Sprintf("P is the p-value of a sign-flip test over settings (Fisher 1935), and P (HOLM) is corrected "+
			"for %s.",
			words.Plural(len(c.Contrasts), "contrast")),
		"HIGHER IN and LOWER IN count the settings with a significant difference: a paired t-test over seeds "+
			"(for equal differences: a sign-flip test), corrected for the settings of the contrast by Holm, at 5%.",
		"DETECTABLE is the smallest true difference that the interval over settings excludes from zero with 80% "+
			"probability, if the differences keep their spread (Cohen 1988).")
	if c.Undecidable() {
		lines = append(lines, "There are too few settings for a significant contrast: even if all settings agree, the "+
			"corrected p-value of the sign-flip test is at least 0.05.")
	}
	return lines
}

// writeContrast adds the settings and groups of a contrast.
func (c *Contrasts) writeContrast(d *document.Document, k int, one *contrast.Contrast) {
	name := fmt.Sprintf("%d. %s", k+1, contrastName(one))
	if one.Question != "" {
		name += ": " + one.Question
	}
	d.Head("%s", document.Printable(name))
	d.Show(c.settingTable(one))
	d.Show(c.groupTable(one))
	var lines []string
	for _, m := range one.Missing {
		lines = append(lines, fmt.Sprintf("left out: %s: %s", settingName(m.Setting), m.Why))
	}
	d.Say(c.shortened(append(lines, one.Notes...))...)
}

func settingName(s contrast.Setting) string {
	return strings.Join(append([]string{s.Folder}, s.Swept...), ", ")
}

// settingTable has a line per setting.
func (c *Contrasts) settingTable(one *contrast.Contrast) *document.Table {
	t := document.NewTable("setting").Numbers("", "%.0f", "seeds").Given(one.Arm, true).Given(one.Against, true).
		Numbers(c.DifferenceUnit, c.differenceFormat(), "difference").Numbers("", "", "p", "p (holm)")
	for _, s := range one.Settings {
		t.Add(settingName(s.Setting), s.N, c.meanCell(s.ArmMean), c.meanCell(s.AgainstMean),
			c.estimateCell(&s.Estimate), pCell(s.P), pCell(s.Holm))
	}
	return t
}

// groupTable has a line per sweep and per swept value.
func (c *Contrasts) groupTable(one *contrast.Contrast) *document.Table {
	t := document.NewTable("by", "group").Numbers("", "%.0f", "settings", "above zero").
		Numbers(c.DifferenceUnit, c.differenceFormat(), "difference")
	for _, g := range one.Groups {
		t.Add(g.By, g.Name, g.N, g.Positive, c.estimateCell(&g.Estimate))
	}
	return t
}

// writeListing adds a table of all arms per setting.
func (c *Contrasts) writeListing(d *document.Document) {
	d.Head("all arms")
	d.Say(fmt.Sprintf("Arms by their mean %s in each setting. In brackets: 95%% interval over seeds, by Student's "+
		"t-distribution, within the possible values. Differences from %s are paired by seed; their intervals are not "+
		"corrected for several arms.",
		c.Metric, document.Printable(c.Baseline)))
	for _, l := range c.Listing {
		d.Head("setting %s", document.Printable(settingName(l.Setting)))
		t := document.NewTable("arm").Numbers("", "%.0f", "seeds").Numbers(c.Unit, c.format, c.Metric).
			Numbers(c.DifferenceUnit, c.differenceFormat(), "difference")
		for _, a := range l.Arms {
			if a.Over == nil {
				t.Add(a.Arm, 0, document.Missing(), document.Missing())
				continue
			}
			cell := c.meanCell(a.Over.Mean)
			cell.Low, cell.High = a.Over.Low, a.Over.High
			t.Add(a.Arm, a.Over.N, cell, c.estimateCell(a.Difference))
		}
		d.Show(t)
		known := func(a contrast.ListedArm) bool { return a.Arm == c.Baseline && a.Over != nil }
		if !slices.ContainsFunc(l.Arms, known) {
			d.Say(fmt.Sprintf("%s has no value in this setting.", document.Printable(c.Baseline)))
		}
	}
}

// rows has a row per contrast over all settings, per group and per setting.
func (c *Contrasts) rows() *document.Table {
	t := document.NewTable("contrast", "arm", "against", "scope", "name", "unit").
		Numbers("", "", "n", "difference", "low", "high", "p", "p_holm")
	for k, one := range c.Contrasts {
		add := func(scope, name string, e *contrast.Estimate, p, holm *float64) {
			if e == nil {
				e = &contrast.Estimate{}
			}
			mean := &e.Mean
			if e.N == 0 {
				mean = nil
			}
			t.Add(fmt.Sprint(k+1), one.Arm, one.Against, scope, name, c.DifferenceUnit, e.N, mean, e.Low, e.High,
				p, holm)
		}
		add("all", "", one.Over, one.P, one.Holm)
		if w := one.WithFailed; w != nil {
			add("all, with failed trials", "", &w.Estimate, w.P, w.Holm)
		}
		for _, g := range one.Groups {
			add(g.By, g.Name, &g.Estimate, nil, nil)
		}
		for _, s := range one.Settings {
			add("setting", settingName(s.Setting), &s.Estimate, s.P, s.Holm)
		}
		for _, m := range one.Missing {
			add("missing setting", settingName(m.Setting)+": "+m.Why, nil, nil, nil)
		}
	}
	return t
}
