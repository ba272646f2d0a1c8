package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"graft/results/document"
	"graft/results/runs"
	"graft/simulation/grid"
	"graft/simulation/tables"
)

// SimulationDetail holds table, failures and progress of a simulation.
type SimulationDetail struct {
	Table    *runs.TableReport `json:"table"`    // null before the first collection
	Failures []grid.Failure    `json:"failures"` // every attempt that failed
	State    *grid.Progress    `json:"state"`    // progress; null where the cache is missing
	// Saved is the share of the steps that sequences of a common beginning saved; null
	// where that is not known.
	Saved *float64 `json:"steps_saved_share"`
	Note  string   `json:"note"` // why State is not known; empty where it is

	all bool
}

func readSimulationDetail(r *runs.Run, all bool) (Detail, error) {
	f := &runs.Folder{Path: r.Path, Files: r.Files}
	d := &SimulationDetail{Failures: []grid.Failure{}, all: all}
	table, err := r.CollectedTable()
	if err != nil {
		return nil, err
	}
	if table != nil {
		d.Table = runs.NewTableReport(table)
	}
	failed, err := runs.Failures(f)
	if err != nil {
		return nil, err
	}
	d.Failures = append(d.Failures, failed...)
	d.look(r)
	return d, nil
}

// look reads the progress from the simulation's cache.
func (s *SimulationDetail) look(r *runs.Run) {
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
	if s.Table != nil {
		writeRanks(d, s.Table, s.all)
	}
	if st := s.State; st != nil {
		text := fmt.Sprintf("%d of %d runs ended, of %d legs: %d steps of training", st.Ended, st.Sequences, st.Segments, st.Steps)
		if s.Saved != nil {
			text += fmt.Sprintf("; each run alone would have taken %d: %.1f%% are saved", st.Alone, 100**s.Saved)
		}
		d.Say(text)
	}
	d.Say(s.Note)
	if len(s.Failures) == 0 {
		return
	}
	d.Head("%s", document.Plural(len(s.Failures), "failed attempt"))
	t := document.NewTable("SEQUENCE", ">SEED", ">ATTEMPT", "WHY")
	for k, f := range s.Failures {
		if k == maxFailures && !s.all {
			t.Add(fmt.Sprintf("… %d more", len(s.Failures)-k), "", "", "")
			break
		}
		t.Add(tables.Sequence(f.Sequence), fmt.Sprint(f.Seed), fmt.Sprint(f.Attempt), f.Why)
	}
	d.Show(t)
}

// maxFailures is the number of failed attempts shown without --all.
const maxFailures = 10

// writeRanks adds the ranks of a table.
func writeRanks(d *document.Document, r *runs.TableReport, all bool) {
	d.Head("sequences")
	d.Say(rankTitle(r))
	if len(r.Rows) > 0 {
		d.Show(rankTable(r, all))
		d.Say(rankSummary(r))
	}
}

// TableDetail holds the sequences of a table by rank.
type TableDetail struct {
	Table *runs.TableReport `json:"table"`

	all bool
}

func readTableDetail(r *runs.Run, all bool) (Detail, error) {
	table, err := r.ReadTable(r.Path)
	if err != nil {
		return nil, err
	}
	return &TableDetail{runs.NewTableReport(table), all}, nil
}

func (t *TableDetail) write(d *document.Document) { writeRanks(d, t.Table, t.all) }

// hasRanks is implemented by details with a table, whose rows JSON contains only with --all.
type hasRanks interface{ ranks() *runs.TableReport }

func (s *SimulationDetail) ranks() *runs.TableReport { return s.Table }

func (t *TableDetail) ranks() *runs.TableReport { return t.Table }

func (o *OriginalDetail) ranks() *runs.TableReport { return o.Table }

// shownRanks is the number of best and of worst sequences printed without --all.
const shownRanks = 5

// PrintTable writes the report for people.
func PrintTable(r *runs.TableReport, w io.Writer, all bool) error {
	if _, err := io.WriteString(w, rankTitle(r)+"\n"); err != nil {
		return err
	}
	if len(r.Rows) == 0 {
		return nil
	}
	if err := rankTable(r, all).Print(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, rankSummary(r))
	return err
}

// rankTable has a line for each sequence, or for the best and the worst.
func rankTable(r *runs.TableReport, all bool) *document.Table {
	t := document.NewTable(">RANK", "SEQUENCE", ">ACCURACY", ">SPREAD", ">LEFT", "")
	last := 0
	for k := range r.Rows {
		row := &r.Rows[k]
		if !all && row.Rank > shownRanks && row.Rank <= len(r.Rows)-shownRanks && row != r.NoAction {
			continue
		}
		if row.Rank > last+1 {
			t.Add("…", "", "", "", "", "")
		}
		last = row.Rank
		t.Add(rankCells(r, row)...)
	}
	return t
}

func rankCells(r *runs.TableReport, row *runs.RankRow) []string {
	remark := ""
	if row == r.NoAction {
		remark = "no adaptation"
	}
	left := make([]string, len(row.Left))
	for k, s := range row.Left {
		left[k] = fmt.Sprintf("%.1f", s)
	}
	return []string{strconv.Itoa(row.Rank), document.Printable(strings.Join(row.Sequence, ", ")), document.ShareText(&row.Accuracy), document.ShareText(row.Spread), strings.Join(left, "  ") + " s", remark}
}

// rankTitle describes the scenario of a table.
func rankTitle(r *runs.TableReport) string {
	actions := strings.Join(r.Actions, ", ")
	if len(r.Actions) == 0 {
		actions = "what fits the network"
	}
	of := ""
	if r.Of != nil {
		of = " of " + tables.Quantity(*r.Of)
	}
	lines := fmt.Sprintf("%s: %s on %s, from %s s of %s s on\n%s, each of %s\n%d%s sequences, %s",
		r.Name, r.Network, r.Dataset, document.ShortText(r.Start), document.ShortText(r.Budget), document.Plural(r.Decisions, "decision"), actions, r.Sequences, of, document.SeedsText(r.Seeds))
	for _, profile := range r.Profiles {
		lines += ", time as " + profile + " counts it"
	}
	return document.PrintableLines(lines)
}

// rankSummary describes mean, spread and noise of a table.
func rankSummary(r *runs.TableReport) string {
	text := fmt.Sprintf("mean %s over the sequences", document.ShareText(r.Mean))
	if r.Spread != nil {
		text += ", with a standard deviation of " + document.ShareText(r.Spread)
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
	return text + fmt.Sprintf("\nseeds of one sequence differ by a standard deviation of %s: %s within that of the best\n", document.ShareText(r.SeedSpread), others)
}

// PrintRankCSV writes a row for each sequence.
func PrintRankCSV(r *runs.TableReport, w io.Writer) error {
	out := csv.NewWriter(w)
	head := []string{"rank"}
	head = append(head, document.Numbered("action_%d", 1, r.Decisions)...)
	head = append(head, "accuracy", "spread", "seeds")
	_ = out.Write(append(head, document.Numbered("left_%d [s]", 1, r.Decisions)...)) // the first error is kept
	for _, row := range r.Rows {
		spread := ""
		if row.Spread != nil {
			spread = document.Exact(*row.Spread)
		}
		line := append([]string{strconv.Itoa(row.Rank)}, row.Sequence...)
		line = append(line, document.Exact(row.Accuracy), spread, strconv.Itoa(row.Seeds))
		_ = out.Write(append(line, document.ExactAll(row.Left)...))
	}
	out.Flush()
	return out.Error()
}
