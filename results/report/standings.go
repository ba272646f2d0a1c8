package report

import (
	"fmt"
	"graft/results/document"
	"graft/results/runs"
	"graft/simulation/evaluation"
	"graft/stat"
	"slices"
	"strings"
)

// printStandings prints the results of all choosers over the tables, in the order of the entrants.
func printStandings(p *document.Printer, all []evaluation.Standing, against string) {
	p.Table(standingTable(all))
	for _, line := range standingRemarks(all, against) {
		p.Line("%s", line)
	}
}

// standingTable has a line for each chooser that could choose in all tables.
func standingTable(all []evaluation.Standing) *document.Table {
	over := "OVER GROUPS"
	grouped := slices.ContainsFunc(all, func(s evaluation.Standing) bool { return s.OverGroups != nil })
	columns := []string{"CHOOSER", ">REGRET", ">OVER TABLES", ">" + over, ">OVER SEEDS", ">TOP FIVE", ">LOWER HALF", ">WORST", ">DIFFERENCE", "WORST IN"}
	if !grouped {
		columns = slices.DeleteFunc(columns, func(c string) bool { return c == ">"+over })
	}
	t := document.NewTable(columns...)
	whole, _ := runs.SplitStandings(all)
	for _, s := range whole {
		cells := []string{document.Printable(s.Policy), document.PointsText(s.Regret), intervalText(s.OverTables)}
		if grouped {
			cells = append(cells, intervalText(s.OverGroups))
		}
		worst := "-"
		if s.Worst > 0 {
			worst = document.Printable(s.WorstOne)
		}
		t.Add(append(cells, intervalText(s.OverSeeds), fmt.Sprintf("%.0f%%", 100*s.TopFive), fmt.Sprintf("%d of %d", s.LowHalf, s.Tables*s.Seeds),
			document.PointsText(s.Worst), differenceText(s.Difference), worst)...)
	}
	return t
}

// standingRemarks names the choosers left out of the table and explains its marks.
func standingRemarks(all []evaluation.Standing, against string) (lines []string) {
	if _, partial := runs.SplitStandings(all); len(partial) > 0 {
		lines = append(lines, "not in all tables, so not above: "+document.Printable(strings.Join(partial, ", ")))
	}
	if !slices.ContainsFunc(all, func(s evaluation.Standing) bool { return s.Difference != nil }) {
		return append(lines, fmt.Sprintf("there is no DIFFERENCE, as %s is not in all tables", document.Printable(against)))
	}
	return append(lines, fmt.Sprintf("DIFFERENCE is the regret above that of %s; ~ marks differences that are not significant. Rows are not ranked", document.Printable(against)))
}

func intervalText(i *stat.Interval) string {
	if i == nil {
		return "-"
	}
	return fmt.Sprintf("[%s, %s]", document.PointsText(i.Low), document.PointsText(i.High))
}

func differenceText(d *evaluation.Difference) string {
	if d == nil {
		return "-"
	}
	text := fmt.Sprintf("%+.2f", d.Mean)
	if d.Inside {
		text = "~ " + text
	}
	if d.OverTables != nil {
		text += " " + intervalText(d.OverTables)
	}
	return text
}

// minResamples is the number of tables or groups below which a bootstrap interval is too narrow.
const minResamples = 5

func trustRemarks(all []evaluation.Standing, tables int) []string {
	lines := []string{"Regret is in points of accuracy below the best of the table, TIES are the ranks that noise could exchange."}
	if slices.ContainsFunc(all, func(s evaluation.Standing) bool { return s.Seen == evaluation.SeenThese }) {
		lines = append(lines, "The best fixed sequence has seen all these tables, as has a policy that learned from them: for neither is this a test;")
	} else {
		lines = append(lines, "A policy that learned from these tables has seen them, which makes this no test of it;")
	}
	lines = append(lines, "'graft evaluate --leave-out' makes one.")
	if few := tooFew(tables, "tables"); few != "" {
		lines = append(lines, few)
	}
	return lines
}

// tooFew warns of intervals over too few; it is empty where there are enough.
func tooFew(count int, what string) string {
	if count < 2 || count >= minResamples {
		return ""
	}
	return fmt.Sprintf("Intervals over %d %s are too narrow: there are too few of them.", count, what)
}

// printTooFew warns of intervals over too few.
func printTooFew(p *document.Printer, count int, what string) {
	if text := tooFew(count, what); text != "" {
		p.Line("%s", text)
	}
}

// printRemarks prints the remarks on how far the numbers can be trusted.
func printRemarks(p *document.Printer, all []evaluation.Standing, tables int) {
	p.Line("")
	for _, line := range trustRemarks(all, tables) {
		p.Line("%s", line)
	}
}

// writeStandings adds the results of all choosers over the tables.
func writeStandings(d *document.Document, tables string, floor float64, all []evaluation.Standing, against string) {
	d.Head("over %s; expected regret of an oracle: %.2f points", tables, floor)
	d.Show(standingTable(all))
	d.Say(standingRemarks(all, against)...)
}
