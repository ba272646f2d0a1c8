package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"graft/internal/stat"
	"graft/internal/words"
	"graft/report/document"
	"graft/report/runs"
)

// PrintSweep writes the outcome of a sweep or comparison as text.
func PrintSweep(o *runs.SweepOutcome, folder string, w io.Writer) error {
	d := &document.Document{}
	writeSweep(o, d)
	d.Break()
	d.Say("results in " + folder)
	return d.PrintCompact(w)
}

// sweepDetail holds the cases of a sweep.
type sweepDetail struct {
	*runs.SweepOutcome
	// Reaches compares the cost at which each case reaches the final validation loss of a reference case; omitted
	// unless requested.
	Reaches []runs.Reach `json:"reaches,omitempty"`
	reached string       // name of the reference case or arm
}

func readSweepDetail(r *runs.Run, _ bool) (Detail, error) {
	o, err := runs.OutcomeOf[runs.SweepOutcome](r)
	if o == nil || err != nil {
		return nil, err
	}
	return &sweepDetail{SweepOutcome: o}, nil
}

func (s *sweepDetail) write(d *document.Document) {
	d.Head("%s", map[bool]string{true: "arms", false: "cases"}[s.Comparison != nil])
	writeSweep(s.SweepOutcome, d)
	if len(s.Reaches) > 0 {
		d.Head("cost to reach the final validation loss of %s", document.Printable(s.reached))
		d.Show(reachTable(s.Reaches))
		d.Say(fmt.Sprintf("The target is the final validation loss of the trial of %s with the same seed and swept "+
			"values. The table has the cost until the loss is first as low as the target, interpolated between "+
			"epochs, as a share of the cost at which the trial of %[1]s first has this loss.",
			document.Printable(s.reached)),
			"Trials that never reach the target count with their whole cost.", seedIntervals+".")
		if first := leastFirst(s.Reaches); first < lateFirst {
			d.Say(fmt.Sprintf("The loss of %s first has its final value after %.0f%% of the trial, because it rises "+
				"again or is noisy, so the shares say little.", document.Printable(s.reached), 100*first))
		}
	}
	d.Head("trials")
	d.Show(trialTable(s.SweepOutcome))
}

// lateFirst is the share of a trial's device time after which the reference should first have its final loss.
const lateFirst = 0.8

// leastFirst returns the least share of the trials of a reference after which it first has its final loss.
func leastFirst(list []runs.Reach) float64 {
	least := 1.0
	for _, r := range list {
		if r.First != nil {
			least = min(least, *r.First)
		}
	}
	return least
}

// writeSweep adds a line per case, the meaning of its differences, and how arms were made.
func writeSweep(o *runs.SweepOutcome, d *document.Document) {
	d.Show(caseTable(o))
	d.Break()
	d.Say(sweepRemarks(o)...)
	if len(o.Failed) > 0 {
		d.Break()
		for _, f := range o.Failed {
			d.Say(fmt.Sprintf("failed and excluded: %s, seed %d: %s", f.Case, f.Seed, f.Why))
		}
	}
}

// caseTable has a line per case.
func caseTable(o *runs.SweepOutcome) *document.Table {
	name, from := "case", ""
	if o.Comparison != nil {
		name = "arm"
	}
	for _, c := range o.Cases {
		if c.Difference != nil {
			from = c.Difference.From
		}
	}
	t := document.NewTable(name).Numbers("", "%.0f", "n")
	for _, m := range shownMeasures(o) {
		t.Numbers(m.Unit, m.Format, wordsOf(m.Name))
		if m.Name == o.Compared && from != "" {
			t.Numbers(document.UnitPoints, "%+.2f", "difference")
		}
	}
	for _, c := range o.Cases {
		cells := []any{c.Name, len(c.Trials)}
		for _, m := range shownMeasures(o) {
			cells = append(cells, measureCell(c, m))
			if m.Name == o.Compared && from != "" {
				cells = append(cells, caseDifferenceCell(c.Difference))
			}
		}
		t.Add(cells...)
	}
	return t
}

// shownMeasures lists the measures that any case has.
func shownMeasures(o *runs.SweepOutcome) (list []runs.TrialMeasure) {
	for _, m := range runs.TrialMeasures() {
		for _, c := range o.Cases {
			if c.Summary(m.Name) != nil {
				list = append(list, m)
				break
			}
		}
	}
	return list
}

// measureCell formats the mean of a measure with its interval, unless the ends look alike.
func measureCell(c *runs.CaseOutcome, m runs.TrialMeasure) document.Cell {
	s := c.Summary(m.Name)
	if s == nil {
		return document.Missing()
	}
	cell := document.Value(s.Mean, m.Unit).As(m.Format)
	if s.Low != nil && document.Value(*s.Low, m.Unit).As(m.Format).String() != document.Value(*s.High, m.Unit).
		As(m.Format).String() {
		cell.Low, cell.High = s.Low, s.High
	}
	return cell
}

// hasCut reports whether the table shows an interval of a case that was clipped at a limit of the measure.
func hasCut(c *runs.CaseOutcome, measures []runs.TrialMeasure) bool {
	return slices.ContainsFunc(measures, func(m runs.TrialMeasure) bool {
		s := c.Summary(m.Name)
		return s != nil && runs.RangeOf(m.Unit).Cuts(s.Low, s.High)
	})
}

// caseDifferenceCell formats a paired difference in points with its interval.
func caseDifferenceCell(d *runs.CaseDifference) document.Cell {
	if d == nil {
		return document.Missing()
	}
	cell := document.Value(100*d.Mean, document.UnitPoints).As("%+.2f")
	if d.Low != nil && pointsText(*d.Low) != pointsText(*d.High) {
		low, high := 100**d.Low, 100**d.High
		cell.Low, cell.High = &low, &high
	}
	return cell
}

// sweepRemarks explain intervals, name cases that differ, and describe how arms were made.
func sweepRemarks(o *runs.SweepOutcome) (lines []string) {
	if enough := slices.ContainsFunc(o.Cases,
		func(c *runs.CaseOutcome) bool { return len(c.Trials) >= stat.FewestSeeds }); enough {
		lines = append(lines, seedIntervals+", for each case separately.")
		if slices.ContainsFunc(o.Cases, func(c *runs.CaseOutcome) bool { return hasCut(c, shownMeasures(o)) }) {
			lines = append(lines, cutIntervals)
		}
	} else {
		lines = append(lines, fewSeeds)
	}
	if text := differencesText(o); text != "" {
		lines = append(lines, text)
	}
	if text := equalText(o); text != "" {
		lines = append(lines, text)
	}
	if text := evenText(o); text != "" {
		lines = append(lines, text)
	}
	if text := verdictText(o); text != "" {
		lines = append(lines, text)
	}
	if text := detectableText(o); text != "" {
		lines = append(lines, text)
	}
	return append(lines, armRemarks(o)...)
}

// differencesText describes the pairing of differences, and the correction of the intervals that the table shows.
func differencesText(o *runs.SweepOutcome) string {
	n, shown, level := 0, 0, 0.0
	from := ""
	for _, c := range o.Cases {
		if c.Difference == nil || c.Difference.Low == nil {
			continue
		}
		n, level, from = n+1, c.Difference.Level, document.Printable(c.Difference.From)
		if caseDifferenceCell(c.Difference).Low != nil {
			shown++
		}
	}
	if n == 0 {
		return ""
	}
	subject := "Differences from " + from + " are"
	if n == 1 {
		subject = "The difference from " + from + " is"
	}
	text := fmt.Sprintf("%s paired by seed, in points of %s", subject, wordsOf(o.Compared))
	switch {
	case shown == 0:
		return text + "."
	case n == 1:
		return fmt.Sprintf("%s, with its %.4g%% interval by Student's t-distribution.", text, 100*level)
	case shown == 1:
		return fmt.Sprintf("%s. The interval is a %.4g%% interval by Student's t-distribution, corrected for several "+
			"differences by Bonferroni (Dunn 1961).", text, 100*level)
	}
	return fmt.Sprintf("%s. Their intervals hold jointly with 95%% confidence: each of the %d is a %.4g%% interval, "+
		"by Bonferroni (Dunn 1961).", text, shown, 100*level)
}

// evenText names the cases whose differences are equal for all seeds, but not zero; empty if there are none.
func evenText(o *runs.SweepOutcome) string {
	var names []string
	for _, c := range o.Cases {
		values := o.Differences(c)
		zero := !slices.ContainsFunc(values, func(v float64) bool { return v != 0 })
		if len(values) >= stat.FewestSeeds && !zero && stat.EqualDifferences(values) {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("Differences of %s are equal for all seeds, so the sign-flip test (Fisher 1935) tests them.",
		listed(names))
}

// verdictText names the cases that are significantly better or worse, in a sentence.
func verdictText(o *runs.SweepOutcome) string {
	var better, worse, unclear []string
	from := ""
	for _, c := range o.Cases {
		if c.Difference == nil || c.Difference.Low == nil {
			continue
		}
		from = c.Difference.From
		switch d := c.Difference; {
		case !d.Clear:
			unclear = append(unclear, c.Name)
		case d.Mean > 0:
			better = append(better, c.Name)
		default:
			worse = append(worse, c.Name)
		}
	}
	var parts []string
	add := func(names []string, one, many string) {
		if len(names) > 0 {
			parts = append(parts, listed(names)+" "+map[bool]string{true: one, false: many}[len(names) == 1])
		}
	}
	add(better, "is better", "are better")
	add(worse, "is worse", "are worse")
	add(unclear, "does not differ significantly", "do not differ significantly")
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("Compared with %s: %s.", document.Printable(from), strings.Join(parts, "; "))
}

// listed joins names with commas and an "and".
func listed(names []string) string {
	for k := range names {
		names[k] = document.Printable(names[k])
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// armRemarks describe how the arms of a comparison were made.
func armRemarks(o *runs.SweepOutcome) (lines []string) {
	for _, c := range o.Cases {
		same := map[string]int{}
		for _, t := range c.Trials {
			if t.Same != "" {
				same[t.Same]++
			}
		}
		for of, n := range same {
			lines = append(lines, fmt.Sprintf("%s: in %d of %s the job ended with its initial network; "+
				"these reuse the trials of %s.", document.Printable(c.Name), n,
				words.Plural(len(c.Trials), "trial"), document.Printable(of)))
		}
	}
	lines = append(lines, sharedRemarks(o)...)
	c := o.Comparison
	if c == nil {
		return lines
	}
	for _, d := range c.Dropped {
		lines = append(lines, fmt.Sprintf("%s did not run: %s.", document.Printable(d.Arm), document.Printable(d.Why)))
	}
	if c.Tried == 0 {
		return lines
	}
	if failed := c.Failed(); failed > 0 {
		lines = append(lines, fmt.Sprintf("%s failed for a selection seed, and could not be selected for best fixed.",
			words.Plural(failed, "sequence")))
	}
	if c.Best == nil {
		return append(lines, "best fixed: no sequence was selected.")
	}
	of := fmt.Sprintf("all %s", words.Plural(c.Sequences, "sequence"))
	if c.Tried < c.Sequences {
		of = fmt.Sprintf("%d of %s, evenly spread", c.Tried, words.Plural(c.Sequences, "sequence"))
	}
	lines = append(lines, fmt.Sprintf("best fixed takes %s, which has the highest mean validation accuracy, %.2f%%, "+
		"on selection seeds (%s), of %s. No arm reports these seeds.", document.Printable(strings.Join(c.Best, ", ")),
		100*c.Candidates[0].Validation, seedNumbers(c.SelectionSeeds), of))
	if c.Tied > 1 {
		lines = append(lines, fmt.Sprintf("%d sequences tie for best fixed, and the first was taken: "+
			"use more selection seeds or validation examples to separate them.", c.Tied))
	}
	return lines
}

// sharedRemarks describe the state that the seeds of cases share.
func sharedRemarks(o *runs.SweepOutcome) (lines []string) {
	var texts []string
	names := map[string][]string{}
	for _, c := range o.Cases {
		if c.Shared == "" {
			continue
		}
		if names[c.Shared] == nil {
			texts = append(texts, c.Shared)
		}
		names[c.Shared] = append(names[c.Shared], document.Printable(c.Name))
	}
	for _, text := range texts {
		lines = append(lines, fmt.Sprintf("%s: %s.", strings.Join(names[text], ", "), document.Printable(text)))
	}
	return lines
}

// seedNumbers lists seeds.
func seedNumbers(seeds []int64) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(seeds), " ", ", "), "[]")
}

// trialTable has a line per trial.
func trialTable(o *runs.SweepOutcome) *document.Table {
	measures := shownMeasures(o)
	t := document.NewTable("case").Numbers("", "%.0f", "seed")
	for _, m := range measures {
		t.Numbers(m.Unit, m.Format, wordsOf(m.Name))
	}
	t.Texts("actions", "run")
	for _, c := range o.Cases {
		for _, one := range c.Trials {
			cells := []any{c.Name, one.Seed}
			for _, m := range measures {
				cell := document.Missing()
				if v, has := one.Values[m.Name]; has {
					cell = document.Value(v, m.Unit).As(m.Format)
				}
				cells = append(cells, cell)
			}
			t.Add(append(cells, strings.Join(one.Actions, ", "), one.Folder)...)
		}
	}
	return t
}

// OverSeeds formats a mean with its interval as a cell.
func OverSeeds(s stat.OverSeeds, unit, format string) document.Cell {
	cell := document.Value(s.Mean, unit).As(format)
	cell.Low, cell.High = s.Low, s.High
	return cell
}

// reachTable has a line per case.
func reachTable(list []runs.Reach) *document.Table {
	t := document.NewTable("case").Texts("reached by").
		Numbers(document.UnitShare, "%.1f%%", "device time", "operations").Numbers("nats", "%+.4f", "final loss")
	for _, r := range list {
		t.Add(r.Case, fmt.Sprintf("%d of %d", r.Reached, r.Trials), ifKnown(r.Time, document.UnitShare, "%.1f%%"),
			ifKnown(r.FLOP, document.UnitShare, "%.1f%%"), ifKnown(r.Loss, "nats", "%+.4f"))
	}
	return t
}

// ifKnown formats a mean that may be unknown.
func ifKnown(s *stat.OverSeeds, unit, format string) document.Cell {
	if s == nil {
		return document.Missing()
	}
	return OverSeeds(*s, unit, format)
}
