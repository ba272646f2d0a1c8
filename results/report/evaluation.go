package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"graft/results/document"
	"graft/results/runs"
	"graft/simulation/evaluation"
	"graft/stat"
)

// PrintLeftOut writes the report for people.
func PrintLeftOut(r runs.LeaveReport, w io.Writer) error {
	p := &document.Printer{W: w}
	p.Line("%s\n", leftOutLead(r))
	p.Table(groupTable(r))
	p.Line("\nover %s, where chance leaves %.2f points to be regretted", document.Plural(len(r.Tables), "table"), r.Floor)
	printStandings(p, r.Standings, r.Against)
	p.Line("")
	for _, line := range leftOutSentences(r) {
		p.Line("%s", line)
	}
	p.Line("\n%s", leaveRemark)
	printTooFew(p, len(r.Groups), r.LeaveOut+"s")
	return p.Err
}

// leaveRemark says what was seen of a table.
const leaveRemark = "Regret is in points of accuracy below the best of the table. Of each table the best fixed sequence and the policies have seen the others only."

// leftOutLead says what was left out, and who learned.
func leftOutLead(r runs.LeaveReport) string {
	what := map[string]string{"scenario": "one scenario", "network": "the tables of one network"}[r.LeaveOut]
	learn := fmt.Sprintf("%d policies learn", r.Seeds)
	if r.Seeds == 1 {
		learn = "1 policy learns"
	}
	return fmt.Sprintf("%s left out at a time; %s from the others, for %s scenarios, in up to %d steps", what, learn, r.For, r.Steps)
}

// leftOutSentences say of each policy what its difference tells.
func leftOutSentences(r runs.LeaveReport) (lines []string) {
	for _, s := range r.Standings {
		if s.Role != evaluation.RoleBaseline && s.Difference != nil {
			lines = append(lines, leftOutSentence(r, s))
		}
	}
	return lines
}

// groupTable has a line for each group.
func groupTable(r runs.LeaveReport) *document.Table {
	var names []string
	for _, s := range r.Standings {
		if s.Role != evaluation.RoleBaseline || slices.Contains(runs.ShownRivals, s.Policy) {
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
				cell = document.Points(regret)
			}
			cells = append(cells, cell)
		}
		noise, floor := r.Chance(g.Group)
		t.Add(append(cells, fmt.Sprintf("%.2f", noise), fmt.Sprintf("%.2f", floor))...)
	}
	return t
}

// leftOutSentence says what the difference to the best fixed sequence tells.
func leftOutSentence(r runs.LeaveReport, s evaluation.Standing) string {
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

// PrintEvaluation writes the report for people.
func PrintEvaluation(r *runs.EvaluationReport, w io.Writer) error {
	p := &document.Printer{W: w}
	for _, policy := range r.Policies {
		p.Line("policy  %s", policyText(policy))
	}
	for _, t := range r.Tables {
		p.Line("\n%s", tableTitle(t))
		if len(r.Tables) == 1 {
			printSteps(p, t.Steps)
		}
		p.Table(verdictTable(t.TableScores, r.Standings))
		p.Line("%s", chanceText(t.Chance))
	}
	if len(r.Tables) > 1 || slices.ContainsFunc(r.Standings, func(s evaluation.Standing) bool { return s.Seeds > 1 }) {
		p.Line("\nover %s, where chance leaves %.2f points to be regretted", document.Plural(len(r.Tables), "table"), r.Floor)
		printStandings(p, r.Standings, r.Against)
	}
	printRemarks(p, r.Standings, len(r.Tables))
	return p.Err
}

// policyText says what a policy is.
func policyText(p runs.EvaluatedPolicy) string {
	text := document.Printable(p.Name)
	switch {
	case p.Prefix != nil && *p.Prefix:
		return text + ", of the original's, which reads token 0 before the layers"
	case p.Prefix != nil:
		return text + ", of the original's"
	}
	text += ", structural, " + document.Plural(p.Members, "member")
	if len(p.Learned) > 0 {
		text += ", judges " + strings.Join(p.Learned, " and ")
	}
	var notes []string
	for key, note := range p.Notes {
		notes = append(notes, key+": "+note)
	}
	if slices.Sort(notes); len(notes) > 0 {
		text += "\n        " + shortened(document.Printable(strings.Join(notes, "; ")))
	}
	return text
}

// longestNotes is how many characters of notes are printed.
const longestNotes = 200

func shortened(text string) string {
	if runes := []rune(text); len(runes) > longestNotes {
		return string(runes[:longestNotes-1]) + "…"
	}
	return text
}

func tableTitle(t runs.EvaluatedTable) string {
	on := ""
	if t.Dataset != "" {
		on = " on " + document.Printable(t.Dataset)
	}
	return fmt.Sprintf("table   %s: %s%s, %d sequences of %s from %s s of %s s on", document.Printable(t.Scenario), document.Printable(t.Network), on, t.Sequences,
		document.Plural(t.Decisions, "decision"), document.Short(t.Start), document.Short(t.Budget))
}

// printSteps prints the decisions of each policy.
func printSteps(p *document.Printer, all []runs.EvaluatedSteps) {
	for _, one := range all {
		if len(all) > 1 {
			p.Line("\n%s", document.Printable(one.Chooser))
		}
		t := document.NewTable(">DECISION", ">TIME LEFT", "ACTION", "PROBABILITIES")
		for k, s := range one.Steps {
			var shares []string
			for at, share := range s.Probabilities {
				shares = append(shares, fmt.Sprintf("%s %.1f%%", s.Actions[at], 100*share))
			}
			t.Add(strconv.Itoa(k+1), fmt.Sprintf("%.1f s", s.Left), document.Printable(s.Action), document.Printable(strings.Join(shares, ", ")))
		}
		p.Table(t)
	}
	p.Line("")
}

// verdictTable has a line for each who chose in a table.
func verdictTable(trial evaluation.TableScores, standings []evaluation.Standing) *document.Table {
	t := document.NewTable("CHOOSER", ">ACCURACY", ">REGRET", ">RANK", ">TIES", "HAS SEEN", "SEQUENCE")
	for _, v := range trial.Scores {
		seen := "-"
		for _, s := range standings {
			if s.Policy == v.Policy && s.Seen != "" {
				seen = s.Seen
			}
		}
		sequence := document.Printable(strings.Join(v.Sequence, ", "))
		if !v.Certain {
			sequence = "several"
		}
		t.Add(document.Printable(v.Policy), fmt.Sprintf("%.2f%%", 100*v.Accuracy), document.Points(v.Regret), rankText(v.Rank), fmt.Sprintf("%d-%d", v.From, v.To), seen, sequence)
	}
	return t
}

// rankText is a rank; the mean of several has a digit behind the point.
func rankText(rank float64) string {
	if rounded := math.Round(rank); math.Abs(rank-rounded) < 1e-9 {
		return strconv.Itoa(int(rounded))
	}
	return fmt.Sprintf("%.1f", rank)
}

// chanceText says how much of a table is chance.
func chanceText(c evaluation.Chance) string {
	from := ""
	switch c.Source {
	case evaluation.NoiseUnknown:
		return "noise of a sequence: not known, as no two runs differ in chance alone; no difference here can be told from it"
	case evaluation.NoiseOfSeeds:
		from = "by runs that differ in their seed alone"
	case evaluation.NoiseOfOrders:
		from = "by sequences of the same actions in another order, so too much if anything"
	}
	return fmt.Sprintf("noise of a sequence: %.2f points, %s; whoever knew the truth would still regret %.2f", c.Noise, from, c.Floor)
}

// printStandings prints how all fared over the tables, in the order of the entrants.
func printStandings(p *document.Printer, all []evaluation.Standing, against string) {
	p.Table(standingTable(all))
	for _, line := range standingRemarks(all, against) {
		p.Line("%s", line)
	}
}

// standingTable has a line for each who could choose in all tables.
func standingTable(all []evaluation.Standing) *document.Table {
	over := "OVER GROUPS"
	grouped := slices.ContainsFunc(all, func(s evaluation.Standing) bool { return s.OverGroups != nil })
	columns := []string{"CHOOSER", ">REGRET", ">OVER TABLES", ">" + over, ">OVER SEEDS", ">TOP FIVE", ">LOWER HALF", ">WORST", ">DIFFERENCE", "WORST IN"}
	if !grouped {
		columns = slices.DeleteFunc(columns, func(c string) bool { return c == ">"+over })
	}
	t := document.NewTable(columns...)
	whole, _ := runs.InAllTables(all)
	for _, s := range whole {
		cells := []string{document.Printable(s.Policy), document.Points(s.Regret), intervalText(s.OverTables)}
		if grouped {
			cells = append(cells, intervalText(s.OverGroups))
		}
		worst := "-"
		if s.Worst > 0 {
			worst = document.Printable(s.WorstOne)
		}
		t.Add(append(cells, intervalText(s.OverSeeds), fmt.Sprintf("%.0f%%", 100*s.TopFive), fmt.Sprintf("%d of %d", s.LowHalf, s.Tables*s.Seeds),
			document.Points(s.Worst), differenceText(s.Difference), worst)...)
	}
	return t
}

// standingRemarks say who is not in the table, and what a difference is.
func standingRemarks(all []evaluation.Standing, against string) (lines []string) {
	if _, partial := runs.InAllTables(all); len(partial) > 0 {
		lines = append(lines, "not in all tables, so not above: "+document.Printable(strings.Join(partial, ", ")))
	}
	if !slices.ContainsFunc(all, func(s evaluation.Standing) bool { return s.Difference != nil }) {
		return append(lines, fmt.Sprintf("there is no DIFFERENCE, as %s is not in all tables", document.Printable(against)))
	}
	return append(lines, fmt.Sprintf("DIFFERENCE is what one regrets more than %s; ~ marks those that chance may have made: rows are in no order of merit", document.Printable(against)))
}

func intervalText(i *stat.Interval) string {
	if i == nil {
		return "-"
	}
	return fmt.Sprintf("[%s, %s]", document.Points(i.Low), document.Points(i.High))
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

// fewest is how many tables or groups a bootstrap over them needs to say enough.
const fewest = 5

// printRemarks say how far the figures can be trusted.
func printRemarks(p *document.Printer, all []evaluation.Standing, tables int) {
	p.Line("")
	for _, line := range trustRemarks(all, tables) {
		p.Line("%s", line)
	}
}

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
	if count < 2 || count >= fewest {
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

// PrintVerdicts writes a row for each table and chooser.
func PrintVerdicts(w io.Writer, c *evaluation.Comparison) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"scenario", "network", "group", "chooser", "role", "has_seen", "seeds", "sequence", "certain", "accuracy", "regret [points]", // the first error is kept
		"smoothed_regret [points]", "gain [points]", "rank", "rank_from", "rank_to", "rank_of", "noise [points]", "noise_source", "floor [points]"})
	for _, t := range c.Tables {
		for _, v := range t.Scores {
			s := c.Standing(v.Policy)
			_ = out.Write([]string{t.Scenario, t.Network, t.Group, v.Policy, string(s.Role), s.Seen, strconv.Itoa(s.Seeds), strings.Join(v.Sequence, " "),
				strconv.FormatBool(v.Certain), document.Exact(v.Accuracy), document.Exact(v.Regret), document.Exact(v.Smoothed), document.Exact(v.Gain), document.Exact(v.Rank), strconv.Itoa(v.From),
				strconv.Itoa(v.To), strconv.Itoa(v.Of), document.Exact(t.Noise), t.Source, document.Exact(t.Floor)})
		}
	}
	out.Flush()
	return out.Error()
}

// EvaluationDetail is how policies fared.
type EvaluationDetail struct {
	Outcome *runs.EvaluationOutcome `json:"outcome"` // null where the evaluation has not ended
}

func readEvaluationDetail(r *runs.Run, _ bool) (Detail, error) {
	d := &EvaluationDetail{}
	if !r.Ended {
		return d, nil
	}
	var err error
	d.Outcome, err = runs.ReadEvaluation(r)
	return d, err
}

func (e *EvaluationDetail) write(d *document.Document) {
	switch {
	case e.Outcome == nil:
		d.Say("It has come to no outcome: it is under way, or was killed; begin it again, in another folder or with --force.")
	case e.Outcome.LeftOut != nil:
		writeLeftOut(e.Outcome.LeftOut, d)
	case e.Outcome.Compared != nil:
		writeEvaluation(e.Outcome.Compared, d)
	}
}

// writeEvaluation adds the report of policies that were held against tables.
func writeEvaluation(r *runs.EvaluationReport, d *document.Document) {
	d.Head("policies")
	var lines []string
	for _, p := range r.Policies {
		lines = append(lines, policyText(p))
	}
	d.Say(lines...)
	writeStandings(d, document.Plural(len(r.Tables), "table"), r.Floor, r.Standings, r.Against)
	for _, t := range r.Tables {
		d.Head("%s", strings.Join(strings.Fields(tableTitle(t)), " "))
		d.Show(verdictTable(t.TableScores, r.Standings))
		d.Say(chanceText(t.Chance))
	}
	d.Say(trustRemarks(r.Standings, len(r.Tables))...)
}

// writeLeftOut adds the report of policies that learned from other tables.
func writeLeftOut(r *runs.LeaveReport, d *document.Document) {
	d.Head("judged by what was left out")
	d.Say(leftOutLead(*r))
	d.Show(groupTable(*r))
	writeStandings(d, document.Plural(len(r.Tables), "table")+" left out", r.Floor, r.Standings, r.Against)
	d.Say(leftOutSentences(*r)...)
	d.Say(leaveRemark, tooFew(len(r.Groups), r.LeaveOut+"s"))
}

// writeStandings adds how all fared over the tables.
func writeStandings(d *document.Document, tables string, floor float64, all []evaluation.Standing, against string) {
	d.Head("over %s, where chance leaves %.2f points to be regretted", tables, floor)
	d.Show(standingTable(all))
	d.Say(standingRemarks(all, against)...)
}
