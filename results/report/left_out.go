package report

import (
	"fmt"
	"graft/results/document"
	"graft/results/runs"
	"graft/simulation/evaluation"
	"io"
	"math"
	"slices"
	"strings"
)

// PrintLeftOut writes the report for people.
func PrintLeftOut(r runs.LeaveOutReport, w io.Writer) error {
	p := &document.Printer{W: w}
	p.Line("%s\n", leftOutLead(r))
	p.Table(groupTable(r))
	p.Line("\nover %s; expected regret of an oracle: %.2f points", document.Plural(len(r.Tables), "table"), r.Floor)
	printStandings(p, r.Standings, r.Against)
	p.Line("")
	for _, line := range leftOutSentences(r) {
		p.Line("%s", line)
	}
	p.Line("\n%s", leaveRemark)
	printTooFew(p, len(r.Groups), r.LeaveOut+"s")
	return p.Err
}

// leaveRemark explains regret and what each chooser has seen.
const leaveRemark = "Regret is in points of accuracy below the best of the table. Of each table the best fixed sequence and the policies have seen the others only."

// leftOutLead describes what is left out and how many policies learn.
func leftOutLead(r runs.LeaveOutReport) string {
	what := map[string]string{"scenario": "one scenario", "network": "the tables of one network"}[r.LeaveOut]
	learn := fmt.Sprintf("%d policies learn", r.Seeds)
	if r.Seeds == 1 {
		learn = "1 policy learns"
	}
	return fmt.Sprintf("%s left out at a time; %s from the others, for %s scenarios, in up to %d steps", what, learn, r.For, r.Steps)
}

// leftOutSentences has a sentence for each policy with a difference.
func leftOutSentences(r runs.LeaveOutReport) (lines []string) {
	for _, s := range r.Standings {
		if s.Role != evaluation.RoleBaseline && s.Difference != nil {
			lines = append(lines, leftOutSentence(r, s))
		}
	}
	return lines
}

// leftOutSentence describes the difference of a policy from the best fixed sequence and its
// significance.
func leftOutSentence(r runs.LeaveOutReport, s evaluation.Standing) string {
	d := s.Difference
	more := "more"
	if d.Mean < 0 {
		more = "less"
	}
	text := fmt.Sprintf("%s: %.2f points %s regret than the best fixed sequence of the other tables, 95%% interval over tables %s: ", document.Printable(s.Policy),
		math.Abs(d.Mean), more, intervalText(d.OverTables))
	switch {
	case d.OverTables.Low <= 0 && 0 <= d.OverTables.High:
		return text + "zero lies inside, so these tables do not tell the two apart"
	case d.Inside:
		return text + fmt.Sprintf("zero lies outside, but the noise of the tables, as it was read, alone makes a standard deviation of %.2f: they are not told apart", d.Noise)
	}
	return text + fmt.Sprintf("zero lies outside, and the noise of the tables alone makes a standard deviation of no more than %.2f", d.Noise)
}

// groupTable has a line for each group.
func groupTable(r runs.LeaveOutReport) *document.Table {
	var names []string
	for _, s := range r.Standings {
		if s.Role != evaluation.RoleBaseline || slices.Contains(runs.ShownBaselines, s.Policy) {
			names = append(names, s.Policy)
		}
	}
	columns := []string{"LEFT OUT"}
	for _, name := range append(names, "noise", "floor") {
		columns = append(columns, ">"+strings.ToUpper(name))
	}
	t := document.NewTable(columns...)
	for _, g := range r.Groups {
		cells := []string{document.Printable(g.Group)}
		for _, name := range names {
			cell := "-"
			if regret, ok := r.Mean(name, g.Group); ok {
				cell = document.PointsText(regret)
			}
			cells = append(cells, cell)
		}
		noise, floor := r.MeanNoise(g.Group)
		t.Add(append(cells, fmt.Sprintf("%.2f", noise), fmt.Sprintf("%.2f", floor))...)
	}
	return t
}

// writeLeftOut adds the report of policies that learned from other tables.
func writeLeftOut(r *runs.LeaveOutReport, d *document.Document) {
	d.Head("judged by what was left out")
	d.Say(leftOutLead(*r))
	d.Show(groupTable(*r))
	writeStandings(d, document.Plural(len(r.Tables), "table")+" left out", r.Floor, r.Standings, r.Against)
	d.Say(leftOutSentences(*r)...)
	d.Say(leaveRemark, tooFew(len(r.Groups), r.LeaveOut+"s"))
}
