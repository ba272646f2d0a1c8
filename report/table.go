package report

import (
	"fmt"
	"io"
	"strings"

	"graft/internal/words"
	"graft/report/document"
	"graft/report/runs"
	"graft/simulation/grid"
	"graft/simulation/tables"
)

// SimulationDetail holds the table, the failures and the progress of a simulation.
type SimulationDetail struct {
	rankedDetail
	Failures []grid.Failure `json:"failures"` // failed attempts
	State    *grid.Progress `json:"state"`    // progress of the simulation; null if the cache is missing
	// Saved is the fraction of training steps that the simulation saved by training sequences together until their
	// actions first differ; null if unknown.
	Saved *float64 `json:"steps_saved_share"`
	Note  string   `json:"note"` // reason why State is unknown; empty if it is known
}

func readSimulationDetail(r *runs.Run, all bool) (Detail, error) {
	d := &SimulationDetail{Failures: []grid.Failure{}, rankedDetail: rankedDetail{all: all}}
	table, err := r.CollectedTable()
	if err != nil {
		return nil, err
	}
	if table != nil {
		d.Table = runs.NewTableReport(table)
	}
	failed, err := r.Failures()
	if err != nil {
		return nil, err
	}
	d.Failures = append(d.Failures, failed...)
	d.readState(r)
	return d, nil
}

// readState reads the progress from the simulation's cache.
func (s *SimulationDetail) readState(r *runs.Run) {
	state, err := runs.SimulationState(r)
	if err != nil {
		s.Note = err.Error()
		return
	}
	s.State = state
	if state.Alone > 0 {
		saved := 1 - float64(state.Steps)/float64(state.Alone)
		s.Saved = &saved
	}
}

func (s *SimulationDetail) write(d *document.Document) {
	s.rankedDetail.write(d)
	if st := s.State; st != nil {
		text := fmt.Sprintf("%d of %s ended, of %s: %s of training", st.Ended, words.Plural(st.Sequences, "run"),
			words.Plural(st.Segments, "leg"), words.Plural(st.Steps, "step"))
		if s.Saved != nil {
			text += fmt.Sprintf("; separate runs would take %d: %.1f%% saved", st.Alone, 100**s.Saved)
		}
		d.Say(text)
	}
	d.Say(s.Note)
	if len(s.Failures) == 0 {
		return
	}
	d.Head("%s", words.Plural(len(s.Failures), "failed attempt"))
	t := document.NewTable("sequence").Numbers("", "", "seed", "attempt").Texts("why")
	for k, f := range s.Failures {
		if k == maxFailures && !s.all {
			t.Add(fmt.Sprintf("… %d more", len(s.Failures)-k))
			break
		}
		t.Add(tables.Sequence(f.Sequence), f.Seed, f.Attempt, f.Why)
	}
	d.Show(t)
}

// maxFailures is the number of failed attempts shown without --all.
const maxFailures = 10

// writeRanks adds the ranks of a table.
func writeRanks(d *document.Document, r *runs.TableReport, all bool) {
	d.Say(rankTitle(r))
	if len(r.Rows) > 0 {
		d.Show(rankTable(r, all))
		d.Say(rankSummary(r))
	}
}

// TableDetail holds the sequences of a table, ranked by accuracy.
type TableDetail struct{ rankedDetail }

// rankedDetail is the part of details with a table. JSON contains its rows only with --all.
type rankedDetail struct {
	Table *runs.TableReport `json:"table"` // null if there is none

	all bool
}

func (r *rankedDetail) ranks() *runs.TableReport { return r.Table }

func (r *rankedDetail) write(d *document.Document) {
	if r.Table != nil {
		d.Head("sequences")
		writeRanks(d, r.Table, r.all)
	}
}

func readTableDetail(r *runs.Run, all bool) (Detail, error) {
	table, err := r.Table()
	if err != nil {
		return nil, err
	}
	return &TableDetail{rankedDetail{runs.NewTableReport(table), all}}, nil
}

// hasRanks is implemented by details with a table.
type hasRanks interface{ ranks() *runs.TableReport }

// shownRanks is the number of best and of worst sequences printed without --all.
const shownRanks = 5

// PrintTable writes the ranks of a table's sequences as text: all sequences if all is true, and otherwise the best and
// the worst.
func PrintTable(r *runs.TableReport, w io.Writer, all bool) error {
	d := &document.Document{}
	writeRanks(d, r, all)
	return d.PrintCompact(w)
}

// rankTable has a line per sequence, or only the best and the worst.
func rankTable(r *runs.TableReport, all bool) *document.Table {
	t := (&document.Table{}).Numbers("", "", "rank").Texts("sequence").Numbers("", "", "accuracy").
		Numbers(document.UnitPoints, "", "spread").Numbers("", "", "time left at each decision").
		Texts("")
	last := 0
	for k := range r.Rows {
		row := &r.Rows[k]
		if !all && row.Rank > shownRanks && row.Rank <= len(r.Rows)-shownRanks && row != r.Never {
			continue
		}
		if row.Rank > last+1 {
			t.Add("…")
		}
		last = row.Rank
		remark := ""
		if row == r.Never {
			remark = "never"
		}
		t.Add(row.Rank, strings.Join(row.Sequence, ", "), shareCell(row.Accuracy), spreadCell(row.Spread),
			leftCell(row.Left), remark)
	}
	return t
}

// shareCell formats a share with its unit, for a column whose head does not show it.
func shareCell(share float64) document.Cell {
	return document.Value(share, document.UnitShare).As("%.2f%%")
}

// spreadCell formats a standard deviation of shares in points.
func spreadCell(share *float64) document.Cell {
	if share == nil {
		return document.Missing()
	}
	return document.Value(100**share, document.UnitPoints)
}

// leftCell formats the time left at each decision.
func leftCell(seconds []float64) document.Cell {
	if len(seconds) == 0 {
		return document.Missing()
	}
	c := document.Value(seconds[0], document.UnitSeconds).As("%.1f")
	for _, s := range seconds[1:] {
		c.After += fmt.Sprintf(", %.1f", s)
	}
	c.After += " s"
	return c
}

// rankTitle describes the scenario of a table.
func rankTitle(r *runs.TableReport) string {
	actions := strings.Join(r.Actions, ", ")
	if len(r.Actions) == 0 {
		actions = "actions that fit the network"
	}
	of := ""
	if r.Of != nil {
		of = " of " + tables.Quantity(*r.Of)
	}
	lines := fmt.Sprintf("%s: %s on %s, start at %s s of %s s\n%s, each one of %s\n%d%s sequences, %s",
		r.Name, r.Network, r.Dataset, document.ShortText(r.Start), document.ShortText(r.Budget),
		words.Plural(r.Decisions, "decision"), actions, r.Sequences, of, document.SeedsText(r.Seeds))
	for _, profile := range r.Profiles {
		lines += ", time by profile " + profile
	}
	return document.PrintableLines(lines)
}

// rankSummary describes mean, spread and noise of a table.
func rankSummary(r *runs.TableReport) string {
	text := fmt.Sprintf("mean %s over the sequences", document.ShareText(r.Mean))
	if r.Spread != nil {
		text += fmt.Sprintf(", with a standard deviation of %.2f points", 100**r.Spread)
	}
	if r.Never != nil {
		text += fmt.Sprintf("\ndifference from never: best %+.2f points, worst %+.2f points",
			100*(r.Best.Accuracy-r.Never.Accuracy), 100*(r.Worst.Accuracy-r.Never.Accuracy))
	}
	if r.SeedSpread == nil {
		return text + "\neach sequence has only one seed, so the noise of the ranks is unknown\n"
	}
	near := r.Near()
	others := map[int]string{0: "no other sequence is", 1: "1 other sequence is"}[near]
	if others == "" {
		others = fmt.Sprintf("%d other sequences are", near)
	}
	return text + fmt.Sprintf("\nspread of single runs: the seeds of a sequence differ by a standard deviation of "+
		"%.2f points; %s within this distance of the best; the noise in 'graft evaluate' is smaller, because it "+
		"applies to means over seeds, paired by seed\n", 100**r.SeedSpread, others)
}

// PrintRankCSV writes the ranks of a table's sequences as CSV.
func PrintRankCSV(r *runs.TableReport, w io.Writer) error {
	t := (&document.Table{}).Numbers("", "", "rank").Texts(document.Numbered("action_%d", 1, r.Decisions)...).
		Numbers("", "", "accuracy", "spread", "seeds").
		Numbers(document.UnitSeconds, "", document.Numbered("left_%d", 1, r.Decisions)...)
	for _, row := range r.Rows {
		line := append([]any{row.Rank}, document.Anys(row.Sequence)...)
		line = append(line, row.Accuracy, row.Spread, row.Seeds)
		t.Add(append(line, document.Anys(row.Left)...)...)
	}
	return t.CSV(w)
}
