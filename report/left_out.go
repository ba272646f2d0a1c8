package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"graft/internal/words"
	"graft/report/document"
	"graft/report/runs"
	"graft/simulation/evaluation"
)

// PrintLeftOut writes a leave-one-out evaluation as text.
func PrintLeftOut(r runs.LeaveOutReport, w io.Writer) error {
	d := &document.Document{}
	writeLeftOut(&r, d, "")
	return d.PrintCompact(w)
}

// leaveRemark explains regret and the training tables of each chooser.
const leaveRemark = "Regret is in points of accuracy below the best of the table. " +
	"The best fixed sequence and the policies come from the other tables only. " + noiseRemark

// leftOutLead describes the held-out tables and the number of policies.
func leftOutLead(r runs.LeaveOutReport) string {
	what := map[string]string{"scenario": "one scenario", "network": "the tables of one network",
		"dataset": "the tables of one dataset", "budget": "the tables of one budget"}[r.LeaveOut]
	if what == "" {
		what = "all held-out tables"
	} else {
		what += " left out at a time"
	}
	learn := fmt.Sprintf("%d policies learn", r.Seeds)
	if r.Seeds == 1 {
		learn = "1 policy learns"
	}
	return fmt.Sprintf("%s; %s from the other tables, for %s scenarios, in up to %s", what, learn, r.For,
		words.Plural(r.Steps, "step"))
}

// tuneSentences list the selected settings, with counts.
func tuneSentences(r runs.LeaveOutReport) (lines []string) {
	if len(r.Tried) == 0 {
		return nil
	}
	taken := make([]int, 1+len(r.Tried))
	for _, g := range r.Groups {
		taken[g.Tuned[0]]++
	}
	text := fmt.Sprintf(
		"settings selected by cross-validation on the learning tables: as in the file %s", times(taken[0]))
	for k, tried := range r.Tried {
		text += fmt.Sprintf(", %s %s", document.Printable(tried), times(taken[k+1]))
	}
	return []string{text}
}

// times counts, in words.
func times(n int) string { return words.Plural(n, "time") }

// leftOutSentences has a sentence per policy with a difference.
func leftOutSentences(r runs.LeaveOutReport) (lines []string) {
	for _, s := range r.Standings {
		if s.Role != evaluation.RoleBaseline && s.Difference != nil {
			lines = append(lines, leftOutSentence(r, s))
		}
	}
	return lines
}

// leftOutSentence describes the difference of a policy from the best fixed sequence and its significance.
func leftOutSentence(r runs.LeaveOutReport, s evaluation.Standing) string {
	d := s.Difference
	more := "more"
	if d.Mean < 0 {
		more = "less"
	}
	if d.OverTables == nil {
		return fmt.Sprintf("%s: %.2f points %s regret than %s, in one table", document.Printable(s.Policy),
			math.Abs(d.Mean), more, rivalText(r.Against))
	}
	text := fmt.Sprintf("%s: %.2f points %s regret than %s, 95%% interval over tables %s, %s: ",
		document.Printable(s.Policy), math.Abs(d.Mean), more, rivalText(r.Against), intervalCell(d.OverTables),
		testText(d))
	switch {
	case d.OverTables.Low <= 0 && 0 <= d.OverTables.High:
		return text + "the interval contains zero, so the difference is not significant"
	case d.OnlyUntested():
		return text + "the interval excludes zero, but the test does not find the difference, so it is not " +
			"significant"
	case d.Inside:
		return text + fmt.Sprintf(
			"the interval excludes zero, but the noise of the tables alone has a standard deviation of "+
				"%.2f points: the difference is not significant", d.Noise)
	}
	return text + fmt.Sprintf(
		"the interval excludes zero, and the noise of the tables alone has a standard deviation of at "+
			"most %.2f points", d.Noise)
}

// writeContrasts adds the comparisons of policies with several baselines.
func writeContrasts(d *document.Document, c *evaluation.Comparison) {
	t := document.NewTable("policy", "baseline").Numbers("", "", "difference").
		Numbers(document.UnitShare, "%.0f%%", "relative").Numbers("", "", "p", "p (holm)")
	var tests []string
	for _, one := range c.Contrasts {
		var p *float64
		ratio := document.Missing()
		if one.Difference != nil {
			p = &one.Difference.Chance
			tests = append(tests, "a "+string(one.Difference.TestName()))
		}
		if base := c.Standing(one.Baseline); one.Difference != nil && base.Regret > 0 {
			ratio = document.Value(c.Standing(one.Policy).Regret/base.Regret, document.UnitShare).As("%.0f%%")
		}
		t.Add(one.Policy, one.Baseline, differenceCell(one.Difference), ratio, pCell(p), pCell(one.Holm))
	}
	d.Head("policies against baselines")
	d.Show(t)
	if len(tests) == 0 {
		tests = []string{"a test"}
	}
	d.Say("DIFFERENCE is the regret of the policy minus the regret of the baseline, with its interval over tables; ~ " +
		"as above. RELATIVE is the regret of the policy divided by the regret of the baseline. P is from " +
		strings.Join(runs.Unique(tests), " or ") + " over tables; P (HOLM) is corrected for the number of baselines.")
}

// testText names the test over tables with its p-value.
func testText(d *evaluation.Difference) string {
	return fmt.Sprintf("p %s by a %s", pText(d.Chance), d.TestName())
}

// pText formats a p-value.
func pText(p float64) string {
	if p < 0.001 {
		return "below 0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

// rivalText names the baseline of differences.
func rivalText(name string) string {
	if name == "best fixed" {
		return "the best fixed sequence of the other tables"
	}
	if name == "never" || name == "random" {
		return name
	}
	return "the " + name + " of the other tables"
}

// groupTable has a line per group.
func groupTable(r runs.LeaveOutReport) *document.Table {
	var names []string
	for _, s := range r.Standings {
		if s.Role != evaluation.RoleBaseline || slices.Contains(runs.ShownBaselines, s.Policy) {
			names = append(names, s.Policy)
		}
	}
	t := document.NewTable("left out").Numbers("", "", append(names, "noise", "floor")...)
	for _, g := range r.Groups {
		cells := []any{g.Group}
		for _, name := range names {
			if regret, ok := r.Mean(name, g.Group); ok {
				cells = append(cells, points(regret))
			} else {
				cells = append(cells, document.Missing())
			}
		}
		noise, floor := r.MeanNoise(g.Group)
		t.Add(append(cells, points(noise), points(floor))...)
	}
	return t
}

// leftOutHead is the heading of results on held-out tables.
const leftOutHead = "on tables left out"

// writeLeftOut adds the report of policies on held-out tables, which are named with the suffix.
func writeLeftOut(r *runs.LeaveOutReport, d *document.Document, suffix string) {
	d.Say(leftOutLead(*r))
	d.Break()
	d.Show(groupTable(*r))
	writeStandings(d, r.Comparison, suffix)
	d.Say(append(missingRemarks(r.Comparison.Tables...), outsideRemarks(r.Comparison.Tables...)...)...)
	if len(r.Contrasts) > 0 {
		writeContrasts(d, r.Comparison)
	}
	d.Break()
	d.Say(tuneSentences(*r)...)
	if len(r.Contrasts) == 0 {
		d.Say(leftOutSentences(*r)...)
	}
	d.Break()
	d.Say(leaveRemark, tooFew(len(r.Groups), r.LeaveOut+"s"))
}
