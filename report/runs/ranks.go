package runs

import (
	"cmp"
	"math"
	"slices"

	"graft/internal/stat"
	"graft/simulation/tables"
)

// TableReport holds the action sequences of a table, ranked by accuracy; `graft table show --json` prints it.
type TableReport struct {
	tables.Scenario
	Sequences int      `json:"sequences"` // number of sequences in the table
	Of        *float64 `json:"of"`        // number of sequences of the scenario; null if actions depend on the network
	Seeds     []int64  `json:"seeds"`     // seeds of the sequences
	Profiles  []string `json:"profiles"`  // names of the device profiles that charged time
	Mean      *float64 `json:"mean"`      // mean accuracy over the sequences; null if there are none
	// standard deviation of accuracy over the sequences; null for fewer than two sequences
	Spread *float64 `json:"spread"`
	// pooled standard deviation over seeds; null if each sequence has one seed
	SeedSpread *float64 `json:"seed_spread"`
	Best       *RankRow `json:"best"`  // sequence with the highest accuracy; null if there are no sequences
	Worst      *RankRow `json:"worst"` // sequence with the lowest accuracy; null if there are no sequences
	// sequence that does not change the network; null if the table lacks it
	Never *RankRow  `json:"never"`
	Rows  []RankRow `json:"rows,omitempty"` // all sequences, best first; empty without --all
}

// RankRow is a sequence with its rank by accuracy.
type RankRow struct {
	Rank     int       `json:"rank"`     // rank from 1
	Sequence []string  `json:"sequence"` // actions, in order
	Accuracy float64   `json:"accuracy"` // mean accuracy over the seeds
	Spread   *float64  `json:"spread"`   // standard deviation over the seeds; null for fewer than two seeds
	Seeds    int       `json:"seeds"`    // number of seeds
	Left     []float64 `json:"left_s"`   // remaining budget at each decision in seconds
}

// NewTableReport ranks the sequences of a table.
func NewTableReport(t *tables.Table) *TableReport {
	r := &TableReport{Scenario: t.Scenario, Sequences: len(t.Records), Seeds: []int64{}, Profiles: []string{},
		Rows: []RankRow{}}
	r.Origin = nil // too long to display
	if n := t.Scenario.Sequences(); n > 0 {
		r.Of = &n
	}
	var means, variances []float64
	for k := range t.Records {
		record := &t.Records[k]
		row := RankRow{Sequence: record.Sequence, Accuracy: record.Mean(),
			Spread: FiniteOrNil(stat.Deviation(record.Accuracy)), Seeds: len(record.Seeds), Left: record.Left}
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
	r.Mean, r.Spread = FiniteOrNil(stat.Mean(means)), FiniteOrNil(stat.Deviation(means))
	r.SeedSpread = FiniteOrNil(math.Sqrt(stat.Mean(variances)))
	r.rank()
	return r
}

// rank sorts the rows by accuracy, stably.
func (r *TableReport) rank() {
	slices.SortStableFunc(r.Rows, func(a, b RankRow) int { return cmp.Compare(b.Accuracy, a.Accuracy) })
	for k := range r.Rows {
		row := &r.Rows[k]
		row.Rank = k + 1
		if !slices.ContainsFunc(row.Sequence, func(a string) bool { return a != "none" }) {
			r.Never = row
		}
	}
	if n := len(r.Rows); n > 0 {
		r.Best, r.Worst = &r.Rows[0], &r.Rows[n-1]
	}
}

// Near returns the number of other sequences whose accuracy is at most one standard deviation over seeds below the best
// accuracy.
func (r *TableReport) Near() (count int) {
	for _, row := range r.Rows[1:] {
		if r.Best.Accuracy-row.Accuracy <= *r.SeedSpread {
			count++
		}
	}
	return count
}
