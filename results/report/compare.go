package report

import (
	"fmt"
	"slices"
	"strings"

	"graft/results/document"
	"graft/results/runs"
	"graft/stat"
)

// comparison is runs of one kind side by side. It ranks nothing: columns are in the
// order in which the runs were given.
type comparison struct {
	Kind    string        `json:"kind"`     // of the runs
	Columns []sideColumn  `json:"columns"`  // of runs that differ in nothing but their seed
	Differs []sideSetting `json:"differs"`  // the keys of the configuration that differ between columns
	Rows    []sideRow     `json:"outcomes"` // quantities, a row each

	kind *runs.Kind
}

// sideColumn is runs that differ in nothing but their seed.
type sideColumn struct {
	Name   string   `json:"name"`   // what the column is called
	Runs   []string `json:"runs"`   // their folders
	Seeds  []int64  `json:"seeds"`  // of its runs
	Ended  bool     `json:"ended"`  // all of its runs have
	Copies []string `json:"copies"` // folders that hold the same run again, to the bit, and do not count

	settings map[string]string
	runs     []*runs.Run
}

// sideSetting is a key of the configuration.
type sideSetting struct {
	Key    string    `json:"key"`    // of the configuration
	Values []*string `json:"values"` // in each column; null where it has no such key
}

// sideRow is a quantity in each column.
type sideRow struct {
	Quantity string      `json:"quantity"` // its name
	Unit     string      `json:"unit"`     // share is between 0 and 1; empty is a count
	Better   string      `json:"better"`   // more or less; empty where neither is
	Cells    []*sideCell `json:"cells"`    // null where a column has no such quantity
}

// sideCell is a quantity of a column.
type sideCell struct {
	summary
	// Chance is how likely a difference from the first column as large as this one
	// comes about by chance; null in the first column, and where neither is better.
	Chance *float64 `json:"chance"`
	// Inside says that the difference from the first column tells nothing.
	Inside bool `json:"inside_noise"`

	values []float64
	same   bool // all values are those of the first column: there is no difference at all
}

// summary is the values of a quantity.
type summary struct {
	Mean float64  `json:"value"` // over the values
	Low  *float64 `json:"low"`   // of the 95% interval of the mean; null below two values
	High *float64 `json:"high"`  // of that interval; null below two values
	N    int      `json:"n"`     // values
}

func summarize(values []float64) summary {
	s := summary{Mean: *runs.Mean(values), N: len(values)}
	if len(values) > 1 {
		i := stat.MeanInterval(values, 1)
		s.Low, s.High = &i.Low, &i.High
	}
	return s
}

// compareRuns puts runs side by side, kind by kind.
func compareRuns(found []*runs.Run) []*comparison {
	var list []*comparison
	for _, kind := range runs.Kinds() {
		c := &comparison{Kind: kind.Name, kind: kind, Differs: []sideSetting{}, Rows: []sideRow{}}
		c.gather(slices.DeleteFunc(slices.Clone(found), func(r *runs.Run) bool { return r.Kind != kind }))
		if len(c.Columns) == 0 {
			continue
		}
		c.name()
		c.differ()
		c.compare()
		list = append(list, c)
	}
	return list
}

// gather puts runs into columns.
func (c *comparison) gather(list []*runs.Run) {
	place, outcomes := map[string]int{}, map[string]bool{}
	for _, r := range list {
		settings := r.Compared()
		print := r.Fingerprint(settings)
		k, known := place[print]
		if !known {
			k = len(c.Columns)
			place[print] = k
			c.Columns = append(c.Columns, sideColumn{Ended: r.Ended, Seeds: []int64{}, Copies: []string{}, settings: settings})
		}
		col := &c.Columns[k]
		same := fmt.Sprint(k, r.Manifest.Seed, r.Outcome)
		if r.Outcome != "" && outcomes[same] {
			col.Copies = append(col.Copies, r.Path)
			continue
		}
		outcomes[same] = true
		col.add(r)
	}
}

func (c *sideColumn) add(r *runs.Run) {
	c.runs, c.Runs = append(c.runs, r), append(c.Runs, r.Path)
	for _, q := range r.Quantities {
		for _, seed := range q.Seeds {
			if !slices.Contains(c.Seeds, seed) {
				c.Seeds = append(c.Seeds, seed)
			}
		}
	}
}

// name calls each column after the folders of its runs: by what their names have in
// common or, where two would be called alike, by the path of the first.
func (c *comparison) name() {
	for k := range c.Columns {
		c.Columns[k].Name = runs.CommonName(c.Columns[k].Runs)
	}
	for _, col := range c.alike() {
		if !col.Ended {
			col.Name += ", " + StateWord(false)
		}
	}
	for _, col := range c.alike() {
		col.Name = col.Runs[0]
		if more := len(col.Runs) - 1; more > 0 {
			col.Name += fmt.Sprintf(" and %d more", more)
		}
	}
}

// alike are the columns that are called as another is.
func (c *comparison) alike() []*sideColumn {
	count := map[string]int{}
	for _, col := range c.Columns {
		count[col.Name]++
	}
	var list []*sideColumn
	for k := range c.Columns {
		if count[c.Columns[k].Name] > 1 {
			list = append(list, &c.Columns[k])
		}
	}
	return list
}

// differ finds the keys that differ between columns.
func (c *comparison) differ() {
	keys := map[string]bool{}
	for _, col := range c.Columns {
		for key := range col.settings {
			keys[key] = true
		}
	}
	for key := range keys {
		d := sideSetting{Key: key}
		for _, col := range c.Columns {
			if text, given := col.settings[key]; given {
				d.Values = append(d.Values, &text)
			} else {
				d.Values = append(d.Values, nil)
			}
		}
		if slices.ContainsFunc(d.Values, func(v *string) bool { return !sameText(v, d.Values[0]) }) {
			c.Differs = append(c.Differs, d)
		}
	}
	slices.SortFunc(c.Differs, func(a, b sideSetting) int { return strings.Compare(a.Key, b.Key) })
}

func sameText(a, b *string) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

// compare makes a row of each quantity, in the order in which the runs have them.
func (c *comparison) compare() {
	place := map[string]int{}
	for k := range c.Columns {
		for _, r := range c.Columns[k].runs {
			for _, q := range r.Quantities {
				row, known := place[q.Name]
				if !known {
					row = len(c.Rows)
					place[q.Name] = row
					c.Rows = append(c.Rows, sideRow{Quantity: q.Name, Unit: q.Unit, Better: q.Aim.Word(), Cells: make([]*sideCell, len(c.Columns))})
				}
				c.Rows[row].take(k, q.Values)
			}
		}
	}
	runs.Parallel(len(c.Rows), func(k int) { c.Rows[k].judge() })
}

func (q *sideRow) take(column int, values []float64) {
	if q.Cells[column] == nil {
		q.Cells[column] = &sideCell{}
	}
	q.Cells[column].values = append(q.Cells[column].values, values...)
}

// notable is how rare a difference must be that is told apart from chance. Where several
// columns are held against the first it is shared out among them (Bonferroni 1936), or
// among twenty one would seem different by chance.
const notable = 0.05

// judge sums up a row's cells, and holds those after the first against it.
func (q *sideRow) judge() {
	for _, cell := range q.Cells {
		if cell != nil {
			cell.summary = summarize(cell.values)
		}
	}
	first := q.Cells[0]
	if q.Better == "" || first == nil {
		return
	}
	for _, cell := range q.Cells[1:] {
		if cell != nil {
			chance := stat.Permutation(first.values, cell.values, 1)
			cell.Chance, cell.Inside = &chance, chance > notable/float64(len(q.Cells)-1)
			cell.same = constant(append(slices.Clone(first.values), cell.values...))
		}
	}
}

func constant(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return v != values[0] })
}

// needed is how many seeds each of two columns needs at least for any difference to be
// told apart.
func needed(others int) int {
	for n := 2; ; n++ {
		ways := 1.0
		for k := range n {
			ways = ways * float64(2*n-k) / float64(k+1)
		}
		if 2/ways <= notable/float64(max(others, 1)) {
			return n
		}
	}
}

// shown is a summary for people: the mean and its interval, if there is any spread.
func (s summary) shown(unit string) string {
	text := document.ShownValue(s.Mean, unit)
	if s.Low != nil && *s.Low < *s.High {
		text += fmt.Sprintf(" [%s, %s]", document.ShownValue(*s.Low, unit), document.ShownValue(*s.High, unit))
	}
	return text
}
