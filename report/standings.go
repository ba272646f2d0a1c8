package report

import (
	"fmt"
	"slices"
	"strings"

	"graft/internal/stat"
	"graft/internal/words"
	"graft/report/document"
	"graft/report/runs"
	"graft/simulation/evaluation"
)

// standingTable has a line for each chooser that could choose in all tables.
func standingTable(all []evaluation.Standing) *document.Table {
	grouped := slices.ContainsFunc(all, func(s evaluation.Standing) bool { return s.OverGroups != nil })
	t := document.NewTable("policy").Numbers("", "", "regret", "over tables")
	if grouped {
		t.Numbers("", "", "over groups")
	}
	t.Numbers("", "", "over seeds").Numbers(document.UnitShare, "%.0f%%", "top five").
		Numbers("", "", "lower half", "worst", "difference").Texts("worst in")
	whole, _ := runs.SplitStandings(all)
	for _, s := range whole {
		cells := []any{s.Policy, points(s.Regret), intervalCell(s.OverTables)}
		if grouped {
			cells = append(cells, intervalCell(s.OverGroups))
		}
		worst := "-"
		if s.Worst > 0 {
			worst = s.WorstOne
		}
		t.Add(append(cells, intervalCell(s.OverSeeds), s.TopFive,
			document.Value(float64(s.LowHalf), "").Then(" of %d", s.Tables*s.Seeds),
			points(s.Worst), differenceCell(s.Difference), worst)...)
	}
	return t
}

// standingRemarks names the choosers missing from the table and explains its marks.
func standingRemarks(all []evaluation.Standing, against string) (lines []string) {
	whole, partial := runs.SplitStandings(all)
	if len(partial) > 0 {
		lines = append(lines,
			"omitted above, because they are not in all tables: "+document.Printable(strings.Join(partial, ", ")))
	}
	if slices.ContainsFunc(whole, func(s evaluation.Standing) bool {
		return s.OverSeeds != nil && stat.Percents.Cuts(&s.OverSeeds.Low, &s.OverSeeds.High)
	}) {
		lines = append(lines, cutIntervals)
	}
	if !slices.ContainsFunc(all, func(s evaluation.Standing) bool { return s.Difference != nil }) {
		return append(lines, fmt.Sprintf("DIFFERENCE is missing, because %s is not in all tables",
			document.Printable(against)))
	}
	lines = append(lines, fmt.Sprintf("DIFFERENCE is the regret minus the regret of %s, with its interval over "+
		"tables; ~ marks differences that are not significant: the interval contains zero, a test over the "+
		"tables does not find the difference, or the noise of the tables alone gives such a difference in more than "+
		"1 of 20 cases. Rows are not ranked", document.Printable(against)))
	lines = append(append(lines, noiseDecides(all)...), testDecides(all)...)
	return append(lines, decisionRemark(all)...)
}

// missingRemarks give the reasons why baselines could not choose in some tables. A remark joins the baselines that have
// the same reason in the same tables.
func missingRemarks(all ...evaluation.TableScores) (lines []string) {
	type group struct {
		why   string
		names []string
		in    []int // indices of tables
	}
	var groups []*group
	for k, t := range all {
		for _, m := range t.Missing {
			at := slices.IndexFunc(groups, func(g *group) bool { return g.why == m.Why && g.names[0] == m.Policy })
			if at < 0 {
				at, groups = len(groups), append(groups, &group{why: m.Why, names: []string{m.Policy}})
			}
			groups[at].in = append(groups[at].in, k)
		}
	}
	var merged []*group
	for _, g := range groups {
		same := slices.IndexFunc(merged, func(o *group) bool { return o.why == g.why && slices.Equal(o.in, g.in) })
		if same < 0 {
			merged = append(merged, g)
			continue
		}
		merged[same].names = append(merged[same].names, g.names...)
	}
	for _, g := range merged {
		where := all[g.in[0]].Scenario
		if more := len(g.in) - 1; more > 0 {
			where += " and " + words.Plural(more, "other table")
		}
		lines = append(lines, document.Printable(fmt.Sprintf("%s: no result for %s, because %s", where,
			strings.Join(g.names, ", "), g.why)))
	}
	return lines
}

// outsideRemarks name the policies that decide outside of the range of their training tables.
func outsideRemarks(all ...evaluation.TableScores) (lines []string) {
	sums, counts := map[string]*evaluation.OutsideDecisions{}, map[string]int{} // by policy
	var names []string
	for _, t := range all {
		for _, o := range t.Outside {
			sum := sums[o.Policy]
			if sum == nil {
				sum = &evaluation.OutsideDecisions{}
				sums[o.Policy], names = sum, append(names, o.Policy)
			}
			sum.Decisions, sum.Of, sum.Inputs = sum.Decisions+o.Decisions, sum.Of+o.Of, append(sum.Inputs, o.Inputs...)
			counts[o.Policy]++
		}
	}
	for _, name := range names {
		sum, where := sums[name], ""
		if len(all) > 1 {
			where = fmt.Sprintf(" in %d of %d tables", counts[name], len(all))
		}
		slices.Sort(sum.Inputs)
		lines = append(lines, fmt.Sprintf("%s: the policy was not trained on such values of %s, in %d of %s%s; in a "+
			"job, adapt.fallback decides there", document.Printable(name),
			strings.Join(slices.Compact(sum.Inputs), ", "), sum.Decisions, words.Plural(sum.Of, "decision"), where))
	}
	return lines
}

// noiseDecides names the differences that have a mark although their interval excludes zero.
func noiseDecides(all []evaluation.Standing) []string {
	var parts []string
	whole, _ := runs.SplitStandings(all)
	for _, s := range whole {
		d := s.Difference
		if d == nil || !d.Inside || d.OverTables == nil || d.OverTables.Low <= 0 && 0 <= d.OverTables.High ||
			d.OnlyUntested() {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s (%.2f points)", document.Printable(s.Policy), d.NoiseLimit()))
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{"These differences have the mark although their interval excludes zero, because noise alone " +
		"exceeds the number in brackets in 1 of 20 cases: " + strings.Join(parts, ", ")}
}

// testDecides names the differences that have a mark only because of the test over tables.
func testDecides(all []evaluation.Standing) []string {
	var parts []string
	whole, _ := runs.SplitStandings(all)
	for _, s := range whole {
		if d := s.Difference; d != nil && d.OnlyUntested() {
			parts = append(parts, fmt.Sprintf("%s (%s)", document.Printable(s.Policy), testText(d)))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{"These differences have the mark although their interval excludes zero, because the test in " +
		"brackets does not find them: " + strings.Join(parts, ", ")}
}

// decisionRemark counts the decisions of policies that are as good as the best up to noise. Random, the only baseline
// that counts them, is the last.
func decisionRemark(all []evaluation.Standing) []string {
	var parts []string
	for _, s := range all {
		if s.Decisions != nil {
			parts = append(parts, fmt.Sprintf("%.0f%% of %s", 100*s.Decisions.Share(), document.Printable(s.Policy)))
		}
	}
	if len(parts) < 2 { // nothing was learned
		return nil
	}
	return []string{"share of all decisions in the tables, reached or not, in which the choice is the best, or " +
		"worse by no more than the noise of a difference: " + strings.Join(parts, "; ")}
}

func intervalCell(i *stat.Interval) document.Cell {
	if i == nil {
		return document.Missing()
	}
	return document.Between(&i.Low, &i.High, document.UnitPoints)
}

func differenceCell(d *evaluation.Difference) document.Cell {
	if d == nil {
		return document.Missing()
	}
	c := points(d.Mean).As("%+.2f")
	if d.OverTables != nil {
		c.Low, c.High = &d.OverTables.Low, &d.OverTables.High
	}
	if d.Inside {
		c.Before = "~ "
	}
	return c
}

// minResamples is the minimum number of tables or groups for a bootstrap interval; below it the interval is too narrow.
const minResamples = 5

// noiseRemark explains the noise and the noise floor, which are not the spread of single runs that tables report.
const noiseRemark = "The noise of a sequence is the standard deviation of its accuracy by chance, for the mean over " +
	"its seeds if it has several. The noise floor is the expected regret of an oracle. Both are in points of accuracy."

func trustRemarks(all []evaluation.Standing, tables int) []string {
	lines := []string{"Regret is in points of accuracy below the table's best; " +
		"TIES is the range of ranks that noise could exchange. " + noiseRemark}
	if slices.ContainsFunc(all, func(s evaluation.Standing) bool { return s.Seen == evaluation.SeenThese }) {
		lines = append(lines, "The best fixed sequence was selected on all these tables, "+
			"and policies may have learned from them, so this does not test either;")
	} else {
		lines = append(lines, "This does not test policies that learned from these tables;")
	}
	lines = append(lines, "use 'graft evaluate --leave-out' for a test.")
	if few := tooFew(tables, "tables"); few != "" {
		lines = append(lines, few)
	}
	return lines
}

// tooFew warns of intervals over too few samples; empty if there are enough.
func tooFew(count int, what string) string {
	if count < 2 || count >= minResamples {
		return ""
	}
	return fmt.Sprintf("Intervals over only %d %s are too narrow.", count, what)
}

// writeStandings adds the results of all choosers over the tables, which are named with the suffix.
func writeStandings(d *document.Document, c *evaluation.Comparison, suffix string) {
	d.Head("over %s%s; noise floor: %.2f points", words.Plural(len(c.Tables), "table"), suffix, c.Floor)
	d.Show(standingTable(c.Standings))
	d.Say(append(standingRemarks(c.Standings, c.Against), tieRemarks(c)...)...)
}

// tieRemarks name the baselines that average several choices, because these are equally good on the tables that select
// them.
func tieRemarks(c *evaluation.Comparison) (lines []string) {
	const shown = 3
	for _, s := range c.Standings {
		var at []string
		for _, t := range c.Tables {
			if n := t.Ties[s.Policy]; n > 1 {
				at = append(at, fmt.Sprintf("%d in %s", n, document.Printable(t.Scenario)))
			}
		}
		if more := len(at) - shown; more > 0 {
			at = append(at[:shown], fmt.Sprintf("and more in %s", words.Plural(more, "further table")))
		}
		if len(at) > 0 {
			lines = append(lines, fmt.Sprintf("%s: several choices tie as the best on the tables that selected "+
				"them (%s); the row is their mean.", document.Printable(s.Policy), strings.Join(at, ", ")))
		}
	}
	return lines
}
