package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"graft/simulation/tables"
)

// tableReport is what `graft table show --json` prints.
type tableReport struct {
	tables.Scenario
	Sequences  int       `json:"sequences"`      // that the table has
	Of         *float64  `json:"of"`             // that there are; null where actions depend on the network
	Seeds      []int64   `json:"seeds"`          // of any sequence
	Profiles   []string  `json:"profiles"`       // of the devices whose time was counted
	Mean       *float64  `json:"mean"`           // accuracy over the sequences; null where there are none
	Spread     *float64  `json:"spread"`         // standard deviation over the sequences; null below two
	SeedSpread *float64  `json:"seed_spread"`    // standard deviation over seeds, pooled; null where each sequence has one
	Best       *rankRow  `json:"best"`           // null where there are no sequences
	Worst      *rankRow  `json:"worst"`          // the sequence of the lowest accuracy; null where there is none
	NoAction   *rankRow  `json:"no_action"`      // the sequence that leaves the network alone; null where it is not there
	Rows       []rankRow `json:"rows,omitempty"` // all sequences, best first; with --all only
}

// rankRow is a sequence in the order of what they led to.
type rankRow struct {
	Rank     int       `json:"rank"`     // from 1
	Sequence []string  `json:"sequence"` // its actions, the first one first
	Accuracy float64   `json:"accuracy"` // the mean over the seeds
	Spread   *float64  `json:"spread"`   // standard deviation over the seeds; null below two
	Seeds    int       `json:"seeds"`    // how many
	Left     []float64 `json:"left_s"`   // seconds of the budget at each decision
}

func reportTable(t *tables.Table) *tableReport {
	r := &tableReport{Scenario: t.Scenario, Sequences: len(t.Records), Seeds: []int64{}, Profiles: []string{}, Rows: []rankRow{}}
	r.Origin = nil // too long to look at
	if n := t.Scenario.Sequences(); n > 0 {
		r.Of = &n
	}
	var means, variances []float64
	for k := range t.Records {
		record := &t.Records[k]
		row := rankRow{Sequence: record.Sequence, Accuracy: record.Mean(), Spread: deviation(record.Accuracy), Seeds: len(record.Seeds), Left: record.Left}
		r.Rows = append(r.Rows, row)
		means = append(means, row.Accuracy)
		if row.Spread != nil {
			variances = append(variances, float64(*row.Spread**row.Spread))
		}
		r.Seeds = append(r.Seeds, record.Seeds...)
		if record.Profile != "" {
			r.Profiles = append(r.Profiles, record.Profile)
		}
	}
	slices.Sort(r.Seeds)
	slices.Sort(r.Profiles)
	r.Seeds, r.Profiles = slices.Compact(r.Seeds), slices.Compact(r.Profiles)
	r.Mean, r.Spread = mean(means), deviation(means)
	if m := mean(variances); m != nil {
		pooled := math.Sqrt(*m)
		r.SeedSpread = &pooled
	}
	r.rank()
	return r
}

// rank orders the rows by accuracy; where that is equal they stay as they are.
func (r *tableReport) rank() {
	slices.SortStableFunc(r.Rows, func(a, b rankRow) int { return cmp.Compare(b.Accuracy, a.Accuracy) })
	for k := range r.Rows {
		row := &r.Rows[k]
		row.Rank = k + 1
		if !slices.ContainsFunc(row.Sequence, func(a string) bool { return a != "none" }) {
			r.NoAction = row
		}
	}
	if n := len(r.Rows); n > 0 {
		r.Best, r.Worst = &r.Rows[0], &r.Rows[n-1]
	}
}

// mean is nil where there is nothing to take it of.
func mean(values []float64) *float64 {
	if len(values) == 0 {
		return nil
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	sum /= float64(len(values))
	return &sum
}

// deviation is the standard deviation of a sample; nil below two values.
func deviation(values []float64) *float64 {
	if len(values) < 2 {
		return nil
	}
	m, sum := *mean(values), 0.0
	for _, v := range values {
		sum += float64((v - m) * (v - m)) // rounded alike on every processor
	}
	d := math.Sqrt(sum / float64(len(values)-1))
	return &d
}

// shownEnds is how many of the best and of the worst sequences are printed.
const shownEnds = 5

// print writes the report for people.
func (r *tableReport) print(w io.Writer, all bool) error {
	if _, err := io.WriteString(w, r.title()+"\n"); err != nil {
		return err
	}
	if len(r.Rows) == 0 {
		return nil
	}
	if err := r.ranks(all).print(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, r.summary())
	return err
}

// ranks has a line for each sequence, or for the best and the worst.
func (r *tableReport) ranks(all bool) *table {
	t := newTable(">RANK", "SEQUENCE", ">ACCURACY", ">SPREAD", ">LEFT", "")
	last := 0
	for k := range r.Rows {
		row := &r.Rows[k]
		if !all && row.Rank > shownEnds && row.Rank <= len(r.Rows)-shownEnds && row != r.NoAction {
			continue
		}
		if row.Rank > last+1 {
			t.add("…", "", "", "", "", "")
		}
		last = row.Rank
		t.add(r.cells(row)...)
	}
	return t
}

func (r *tableReport) cells(row *rankRow) []string {
	remark := ""
	if row == r.NoAction {
		remark = "no adaptation"
	}
	left := make([]string, len(row.Left))
	for k, s := range row.Left {
		left[k] = fmt.Sprintf("%.1f", s)
	}
	return []string{strconv.Itoa(row.Rank), printable(strings.Join(row.Sequence, ", ")), share(&row.Accuracy), share(row.Spread), strings.Join(left, "  ") + " s", remark}
}

// share is a number between 0 and 1 for people; nil is a dash.
func share(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f%%", 100**v)
}

// title says what the table is of.
func (r *tableReport) title() string {
	actions := strings.Join(r.Actions, ", ")
	if len(r.Actions) == 0 {
		actions = "what fits the network"
	}
	of := ""
	if r.Of != nil {
		of = " of " + tables.Quantity(*r.Of)
	}
	lines := fmt.Sprintf("%s: %s on %s, from %s s of %s s on\n%s, each of %s\n%d%s sequences, %s",
		r.Name, r.Network, r.Dataset, short(r.Start), short(r.Budget), plural(r.Decisions, "decision"), actions, r.Sequences, of, seedsText(r.Seeds))
	for _, profile := range r.Profiles {
		lines += ", time as " + profile + " counts it"
	}
	return printableLines(lines)
}

func seedsText(seeds []int64) string {
	var texts []string
	for _, s := range seeds {
		texts = append(texts, strconv.FormatInt(s, 10))
	}
	switch {
	case len(seeds) == 0:
		return "no seeds"
	case len(seeds) == 1:
		return "one seed, " + texts[0]
	}
	return "seeds " + someOf(texts, 8)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func short(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// summary says what follows from the ranks, and what does not.
func (r *tableReport) summary() string {
	text := fmt.Sprintf("mean %s over the sequences", share(r.Mean))
	if r.Spread != nil {
		text += ", with a standard deviation of " + share(r.Spread)
	}
	if r.NoAction != nil {
		text += fmt.Sprintf("\nagainst no adaptation the best has %+.2f points, the worst %+.2f", 100*(r.Best.Accuracy-r.NoAction.Accuracy), 100*(r.Worst.Accuracy-r.NoAction.Accuracy))
	}
	if r.SeedSpread == nil {
		return text + "\neach sequence has one seed: how far a rank is chance cannot be told\n"
	}
	near := 0
	for k := range r.Rows[1:] {
		if r.Best.Accuracy-r.Rows[k+1].Accuracy <= *r.SeedSpread {
			near++
		}
	}
	others := map[int]string{0: "no other sequence is", 1: "1 other sequence is"}[near]
	if others == "" {
		others = fmt.Sprintf("%d other sequences are", near)
	}
	return text + fmt.Sprintf("\nseeds of one sequence differ by a standard deviation of %s: %s within that of the best\n", share(r.SeedSpread), others)
}

// printCSV writes a row for each sequence.
func (r *tableReport) printCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	head := []string{"rank"}
	head = append(head, numbered("action_%d", 1, r.Decisions)...)
	head = append(head, "accuracy", "spread", "seeds")
	_ = out.Write(append(head, numbered("left_%d [s]", 1, r.Decisions)...)) // the first error is kept
	for _, row := range r.Rows {
		spread := ""
		if row.Spread != nil {
			spread = exact(*row.Spread)
		}
		line := append([]string{strconv.Itoa(row.Rank)}, row.Sequence...)
		line = append(line, exact(row.Accuracy), spread, strconv.Itoa(row.Seeds))
		_ = out.Write(append(line, exactly(row.Left)...))
	}
	out.Flush()
	return out.Error()
}

// numbered are the names of columns of one kind.
func numbered(format string, from, to int) []string {
	var names []string
	for n := from; n <= to; n++ {
		names = append(names, fmt.Sprintf(format, n))
	}
	return names
}

// exact is the shortest text that reads back as the same number.
func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func exactly(values []float64) []string {
	texts := make([]string, len(values))
	for k, v := range values {
		texts[k] = exact(v)
	}
	return texts
}
