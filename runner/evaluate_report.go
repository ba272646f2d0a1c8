package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"graft/simulation"
	"graft/simulation/evaluation"
	"graft/stat"
)

// evaluationReport is what `graft evaluate --json` prints.
type evaluationReport struct {
	Policies  []evaluatedPolicy     `json:"policies"`     // that were given
	Against   string                `json:"against"`      // the first policy, to whom differences are
	Floor     float64               `json:"floor_points"` // mean over the tables
	Tables    []evaluatedTable      `json:"tables"`       // that were given
	Standings []evaluation.Standing `json:"standings"`    // over all tables
}

// evaluatedPolicy is a policy that was given.
type evaluatedPolicy struct {
	Policy  string            `json:"policy"`            // as it was given, as is the vocabulary
	Name    string            `json:"name"`              // in all that follows
	Kind    policyKind        `json:"kind"`              // structural or original
	Vocab   string            `json:"vocab,omitempty"`   // of the original's only, as is the next
	Prefix  *bool             `json:"prefix,omitempty"`  // token 0 is read before the layers
	Members int               `json:"members,omitempty"` // that vote; of structural ones only, as are the next
	Learned []string          `json:"learned,omitempty"` // kinds of actions that it has learned to judge
	Notes   map[string]string `json:"notes,omitempty"`   // that learning left
}

// evaluatedTable is a table that was given, and how all fared there.
type evaluatedTable struct {
	Table     string   `json:"table"`     // as it was given
	Dataset   string   `json:"dataset"`   // that the sequences trained on
	Budget    float64  `json:"budget_s"`  // of the scenario, in seconds
	Start     float64  `json:"start_s"`   // when in the budget sequences begin, in seconds
	Decisions int      `json:"decisions"` // in a sequence
	Actions   []string `json:"actions"`   // empty where they depend on the network
	evaluation.TableScores
	Steps []evaluatedSteps `json:"steps"` // one entry for each policy
}

// evaluatedSteps are a policy's decisions.
type evaluatedSteps struct {
	Chooser string            `json:"chooser"` // its name
	Steps   []evaluation.Step `json:"steps"`   // what it did, decision by decision
}

func reportEvaluation(o evaluateOptions, contenders []*contender, trees []*simulation.Tree, c *evaluation.Comparison) (*evaluationReport, error) {
	r := &evaluationReport{Against: c.Against, Floor: c.Floor, Standings: c.Standings}
	for _, one := range contenders {
		r.Policies = append(r.Policies, one.report(o))
	}
	for k, t := range trees {
		table := evaluatedTable{Table: o.tables[k], Dataset: t.Dataset, Budget: t.Budget, Start: t.Start, Decisions: t.Decisions,
			Actions: append([]string{}, t.Actions...), TableScores: c.Tables[k]}
		for _, one := range contenders {
			first := one.entrants[0]
			steps, err := evaluation.Steps(t, first.Policies[0])
			if err != nil {
				return nil, err
			}
			table.Steps = append(table.Steps, evaluatedSteps{first.Name, steps})
		}
		r.Tables = append(r.Tables, table)
	}
	return r, nil
}

func (c *contender) report(o evaluateOptions) evaluatedPolicy {
	r := evaluatedPolicy{Policy: c.path, Name: c.name, Kind: c.kind}
	if c.legacy != nil {
		prefixed := c.legacy.Prefixed()
		r.Vocab, r.Prefix = o.vocab, &prefixed
		return r
	}
	r.Members, r.Notes = len(c.structural.Members), c.structural.Notes
	for _, kind := range c.structural.Learned {
		r.Learned = append(r.Learned, string(kind))
	}
	return r
}

// print writes the report for people.
func (r *evaluationReport) print(w io.Writer) error {
	p := &printer{w: w}
	for _, policy := range r.Policies {
		p.line("policy  %s", policy.text())
	}
	for _, t := range r.Tables {
		p.line("\n%s", t.title())
		if len(r.Tables) == 1 {
			p.steps(t.Steps)
		}
		p.table(verdictTable(t.TableScores, r.Standings))
		p.line("%s", chanceText(t.Chance))
	}
	if len(r.Tables) > 1 || slices.ContainsFunc(r.Standings, func(s evaluation.Standing) bool { return s.Seeds > 1 }) {
		p.line("\nover %s, where chance leaves %.2f points to be regretted", plural(len(r.Tables), "table"), r.Floor)
		p.standings(r.Standings, r.Against)
	}
	p.remarks(r.Standings, len(r.Tables))
	return p.err
}

// text says what a policy is.
func (p evaluatedPolicy) text() string {
	text := printable(p.Name)
	switch {
	case p.Prefix != nil && *p.Prefix:
		return text + ", of the original's, which reads token 0 before the layers"
	case p.Prefix != nil:
		return text + ", of the original's"
	}
	text += ", structural, " + plural(p.Members, "member")
	if len(p.Learned) > 0 {
		text += ", judges " + strings.Join(p.Learned, " and ")
	}
	var notes []string
	for key, note := range p.Notes {
		notes = append(notes, key+": "+note)
	}
	if slices.Sort(notes); len(notes) > 0 {
		text += "\n        " + shortened(printable(strings.Join(notes, "; ")))
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

func (t evaluatedTable) title() string {
	on := ""
	if t.Dataset != "" {
		on = " on " + printable(t.Dataset)
	}
	return fmt.Sprintf("table   %s: %s%s, %d sequences of %s from %s s of %s s on", printable(t.Scenario), printable(t.Network), on, t.Sequences,
		plural(t.Decisions, "decision"), short(t.Start), short(t.Budget))
}

// printer writes lines and tables, and keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func (p *printer) table(t *table) {
	if p.err == nil {
		p.err = t.print(p.w)
	}
}

// steps prints the decisions of each policy.
func (p *printer) steps(all []evaluatedSteps) {
	for _, one := range all {
		if len(all) > 1 {
			p.line("\n%s", printable(one.Chooser))
		}
		t := newTable(">DECISION", ">TIME LEFT", "ACTION", "PROBABILITIES")
		for k, s := range one.Steps {
			var shares []string
			for at, share := range s.Probabilities {
				shares = append(shares, fmt.Sprintf("%s %.1f%%", s.Actions[at], 100*share))
			}
			t.add(strconv.Itoa(k+1), fmt.Sprintf("%.1f s", s.Left), printable(s.Action), printable(strings.Join(shares, ", ")))
		}
		p.table(t)
	}
	p.line("")
}

// verdictTable has a line for each who chose in a table.
func verdictTable(trial evaluation.TableScores, standings []evaluation.Standing) *table {
	t := newTable("CHOOSER", ">ACCURACY", ">REGRET", ">RANK", ">TIES", "HAS SEEN", "SEQUENCE")
	for _, v := range trial.Scores {
		seen := "-"
		for _, s := range standings {
			if s.Policy == v.Policy && s.Seen != "" {
				seen = s.Seen
			}
		}
		sequence := printable(strings.Join(v.Sequence, ", "))
		if !v.Certain {
			sequence = "several"
		}
		t.add(printable(v.Policy), fmt.Sprintf("%.2f%%", 100*v.Accuracy), points(v.Regret), rankText(v.Rank), fmt.Sprintf("%d-%d", v.From, v.To), seen, sequence)
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

// standings prints how all fared over the tables, in the order of the entrants.
func (p *printer) standings(all []evaluation.Standing, against string) {
	p.table(standingTable(all))
	for _, line := range standingRemarks(all, against) {
		p.line("%s", line)
	}
}

// inAllTables tells those who could choose in all tables from the others.
func inAllTables(all []evaluation.Standing) (whole []evaluation.Standing, partial []string) {
	most := 0
	for _, s := range all {
		most = max(most, s.Tables)
	}
	for _, s := range all {
		if s.Tables < most {
			partial = append(partial, s.Policy)
			continue
		}
		whole = append(whole, s)
	}
	return whole, partial
}

// standingTable has a line for each who could choose in all tables.
func standingTable(all []evaluation.Standing) *table {
	over := "OVER GROUPS"
	grouped := slices.ContainsFunc(all, func(s evaluation.Standing) bool { return s.OverGroups != nil })
	columns := []string{"CHOOSER", ">REGRET", ">OVER TABLES", ">" + over, ">OVER SEEDS", ">TOP FIVE", ">LOWER HALF", ">WORST", ">DIFFERENCE", "WORST IN"}
	if !grouped {
		columns = slices.DeleteFunc(columns, func(c string) bool { return c == ">"+over })
	}
	t := newTable(columns...)
	whole, _ := inAllTables(all)
	for _, s := range whole {
		cells := []string{printable(s.Policy), points(s.Regret), intervalText(s.OverTables)}
		if grouped {
			cells = append(cells, intervalText(s.OverGroups))
		}
		worst := "-"
		if s.Worst > 0 {
			worst = printable(s.WorstOne)
		}
		t.add(append(cells, intervalText(s.OverSeeds), fmt.Sprintf("%.0f%%", 100*s.TopFive), fmt.Sprintf("%d of %d", s.LowHalf, s.Tables*s.Seeds),
			points(s.Worst), differenceText(s.Difference), worst)...)
	}
	return t
}

// standingRemarks say who is not in the table, and what a difference is.
func standingRemarks(all []evaluation.Standing, against string) (lines []string) {
	if _, partial := inAllTables(all); len(partial) > 0 {
		lines = append(lines, "not in all tables, so not above: "+printable(strings.Join(partial, ", ")))
	}
	if !slices.ContainsFunc(all, func(s evaluation.Standing) bool { return s.Difference != nil }) {
		return append(lines, fmt.Sprintf("there is no DIFFERENCE, as %s is not in all tables", printable(against)))
	}
	return append(lines, fmt.Sprintf("DIFFERENCE is what one regrets more than %s; ~ marks those that chance may have made: rows are in no order of merit", printable(against)))
}

func intervalText(i *stat.Interval) string {
	if i == nil {
		return "-"
	}
	return fmt.Sprintf("[%s, %s]", points(i.Low), points(i.High))
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

// remarks say how far the figures can be trusted.
func (p *printer) remarks(all []evaluation.Standing, tables int) {
	p.line("")
	for _, line := range trustRemarks(all, tables) {
		p.line("%s", line)
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

// tooFew warns of intervals over too few.
func (p *printer) tooFew(count int, what string) {
	if text := tooFew(count, what); text != "" {
		p.line("%s", text)
	}
}

// printVerdicts writes a row for each table and chooser.
func printVerdicts(w io.Writer, c *evaluation.Comparison) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"scenario", "network", "group", "chooser", "role", "has_seen", "seeds", "sequence", "certain", "accuracy", "regret [points]", // the first error is kept
		"smoothed_regret [points]", "gain [points]", "rank", "rank_from", "rank_to", "rank_of", "noise [points]", "noise_source", "floor [points]"})
	for _, t := range c.Tables {
		for _, v := range t.Scores {
			s := c.Standing(v.Policy)
			_ = out.Write([]string{t.Scenario, t.Network, t.Group, v.Policy, string(s.Role), s.Seen, strconv.Itoa(s.Seeds), strings.Join(v.Sequence, " "),
				strconv.FormatBool(v.Certain), exact(v.Accuracy), exact(v.Regret), exact(v.Smoothed), exact(v.Gain), exact(v.Rank), strconv.Itoa(v.From),
				strconv.Itoa(v.To), strconv.Itoa(v.Of), exact(t.Noise), t.Source, exact(t.Floor)})
		}
	}
	out.Flush()
	return out.Error()
}

// points are hundredths of accuracy with two digits. What is less than nothing by
// rounding alone is nothing.
func points(v float64) string { return fmt.Sprintf("%.2f", math.Round(100*v)/100+0) }
