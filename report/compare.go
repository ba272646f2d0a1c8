package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"graft/internal/parallel"
	"graft/internal/stat"
	"graft/report/document"
	"graft/report/runs"
)

// comparison compares runs of one kind side by side, without a ranking. Columns are in the order of the arguments.
type comparison struct {
	Kind    string             `json:"kind"`     // kind of the runs
	Columns []comparedColumn   `json:"columns"`  // columns of runs that differ only in their seed
	Differs []comparedSetting  `json:"differs"`  // configuration keys that differ between columns
	Rows    []comparedQuantity `json:"outcomes"` // one row per quantity

	kind *runs.Kind
}

// comparedColumn holds runs that differ only in their seed.
type comparedColumn struct {
	Name   string   `json:"name"`   // heading of the column
	Runs   []string `json:"runs"`   // folders of the runs
	Seeds  []int64  `json:"seeds"`  // seeds of the runs
	Ended  bool     `json:"ended"`  // whether all runs have ended
	Copies []string `json:"copies"` // folders with copies of these runs; copies do not count as runs
	// machines on which runs on the wall clock started; absent on the virtual clock, and if they are unknown
	Machines []string `json:"machines,omitempty"`

	settings map[string]string
	runs     []*runs.Run
}

// comparedSetting holds the values of a configuration key.
type comparedSetting struct {
	Key    string    `json:"key"`    // configuration key
	Values []*string `json:"values"` // value in each column; null if the column does not set the key
}

// comparedQuantity holds a quantity in each column.
type comparedQuantity struct {
	Quantity string           `json:"quantity"` // name of the quantity
	Unit     string           `json:"unit"`     // unit; share means a fraction between 0 and 1, empty means a count
	Better   string           `json:"better"`   // better direction: more or less; empty if neither is better
	Cells    []*comparedValue `json:"cells"`    // value in each column; null if the column lacks the quantity

	of     stat.Range // range of the values
	level  float64    // level of the interval
	paired bool       // equal seeds draw the same in all columns, so that values are paired by seed
}

// comparedValue holds a quantity in one column.
type comparedValue struct {
	summary
	// Chance is the p-value for a difference from the first column: of a paired t-test for cluster simulations with
	// equal seeds (of a sign-flip test if all differences are equal), otherwise of a permutation test. It is null in
	// the first column, for quantities without a preferred direction, and if simulations of a cluster are fewer than
	// three or equal for all seeds.
	Chance *float64 `json:"chance"`
	// Inside reports whether the difference from the first column is not significant, or was not tested.
	Inside bool `json:"inside_noise"`
	// smallest and largest value of all runs if runs with equal seeds have different values; absent otherwise
	Repetitions *repetitions `json:"repetitions,omitempty"`

	values   []float64
	seeds    []int64
	repeated bool // several runs had the same seed, so that a value is their mean
	same     bool // all values equal the first column's
	// a column has too few simulations of a cluster to tell a difference from chance, or chance has no effect
	untested bool
}

// repetitions holds the range of a quantity over all runs, including runs with equal seeds.
type repetitions struct {
	Runs     int     `json:"runs"`     // number of values, one per run
	Smallest float64 `json:"smallest"` // smallest value
	Largest  float64 `json:"largest"`  // largest value
}

// Sentences that explain intervals over seeds, and their absence.
var (
	seedIntervals = "In brackets: 95% interval of the mean over seeds, by Student's t-distribution"
	cutIntervals  = "Intervals are cut at the smallest and largest possible values, such as 0% and 100%."
	fewSeeds      = fmt.Sprintf("Too few seeds for intervals: at least %d are needed.", stat.FewestSeeds)
)

// summary holds mean and interval of the values of a quantity.
type summary struct {
	Mean float64 `json:"value"` // mean of the values
	// lower end of the 95% interval of the mean: over jobs or workloads in a cluster simulation, over seeds in other
	// runs; null for fewer than three values
	Low  *float64 `json:"low"`
	High *float64 `json:"high"` // upper end of the same interval; null if low is null
	N    int      `json:"n"`    // number of values
}

// summarize returns mean and interval of values. The level of the interval defaults to 95% for zero.
func summarize(values []float64, of stat.Range, level float64) summary {
	s := stat.NewOverSeeds(values, 1-cmp.Or(level, 1-significance), of)
	return summary{Mean: s.Mean, Low: s.Low, High: s.High, N: s.N}
}

// compareRuns makes one comparison per kind of run.
func compareRuns(found []*runs.Run) []*comparison {
	var list []*comparison
	for _, kind := range runs.Kinds() {
		c := &comparison{Kind: kind.Name, kind: kind, Differs: []comparedSetting{}, Rows: []comparedQuantity{}}
		c.addRuns(slices.DeleteFunc(slices.Clone(found), func(r *runs.Run) bool { return r.Kind != kind }))
		if len(c.Columns) == 0 {
			continue
		}
		c.nameColumns()
		c.findDifferences()
		c.compareQuantities()
		list = append(list, c)
	}
	return list
}

// machineSetting is the name of the setting with the machines of a column on the wall clock.
const machineSetting = "(machine)"

// addRuns sorts runs into columns.
func (c *comparison) addRuns(list []*runs.Run) {
	for _, of := range runs.SeedGroups(list) {
		col := comparedColumn{Ended: of.Runs[0].Ended, Runs: []string{}, Seeds: []int64{},
			Copies: append([]string{}, of.Copies...), Machines: of.Machines(), settings: of.Settings}
		if len(col.Machines) > 0 {
			col.settings[machineSetting] = document.SomeOf(col.Machines, maxMachines)
		}
		for _, r := range of.Runs {
			col.add(r)
		}
		c.Columns = append(c.Columns, col)
	}
}

// maxMachines is the maximum number of machines that a report names.
const maxMachines = 3

func (c *comparedColumn) add(r *runs.Run) {
	c.runs, c.Runs = append(c.runs, r), append(c.Runs, r.Path)
	for _, q := range r.Quantities {
		for _, seed := range q.Seeds {
			if !slices.Contains(c.Seeds, seed) {
				c.Seeds = append(c.Seeds, seed)
			}
		}
	}
}

// nameColumns names each column by the common part of its runs' folder names or, if two columns would have the same
// name, by the path of the first run.
func (c *comparison) nameColumns() {
	for k := range c.Columns {
		c.Columns[k].Name = runs.CommonName(c.Columns[k].Runs)
	}
	for _, col := range c.sameNamed() {
		if !col.Ended {
			col.Name += ", " + StateWord(false)
		}
	}
	for _, col := range c.sameNamed() {
		col.Name = col.Runs[0]
		if more := len(col.Runs) - 1; more > 0 {
			col.Name += fmt.Sprintf(" and %d more", more)
		}
	}
}

// sameNamed lists the columns that share their name with another column.
func (c *comparison) sameNamed() []*comparedColumn {
	count := map[string]int{}
	for _, col := range c.Columns {
		count[col.Name]++
	}
	var list []*comparedColumn
	for k := range c.Columns {
		if count[c.Columns[k].Name] > 1 {
			list = append(list, &c.Columns[k])
		}
	}
	return list
}

// findDifferences lists the configuration keys that differ between columns.
func (c *comparison) findDifferences() {
	keys := map[string]bool{}
	for _, col := range c.Columns {
		for key := range col.settings {
			keys[key] = true
		}
	}
	for key := range keys {
		d := comparedSetting{Key: key}
		for _, col := range c.Columns {
			if text, given := col.settings[key]; given {
				d.Values = append(d.Values, &text)
			} else {
				d.Values = append(d.Values, nil)
			}
		}
		if slices.ContainsFunc(d.Values, func(v *string) bool { return !sameText(v, d.Values[0]) }) &&
			(key != runs.FilesSetting || c.distinguishes(key)) {
			c.Differs = append(c.Differs, d)
		}
	}
	slices.SortFunc(c.Differs, func(a, b comparedSetting) int { return strings.Compare(a.Key, b.Key) })
}

// distinguishes reports whether columns differ only in a setting. The digest of files says nothing more if columns name
// other files.
func (c *comparison) distinguishes(key string) bool {
	values := map[string]string{}
	for _, col := range c.Columns {
		others := maps.Clone(col.settings)
		delete(others, key)
		delete(others, machineSetting)
		print := col.runs[0].Fingerprint(others)
		if was, seen := values[print]; seen && was != col.settings[key] {
			return true
		}
		values[print] = col.settings[key]
	}
	return false
}

func sameText(a, b *string) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

// compareQuantities makes a row per quantity, in the order of the runs.
func (c *comparison) compareQuantities() {
	place := map[string]int{}
	for k := range c.Columns {
		for _, r := range c.Columns[k].runs {
			for _, q := range r.Quantities {
				if q.Alone {
					continue
				}
				at, known := place[q.Name]
				if !known {
					at = len(c.Rows)
					place[q.Name] = at
					c.Rows = append(c.Rows, comparedQuantity{Quantity: q.Name, Unit: q.Unit, Better: q.Better.Word(),
						Cells: make([]*comparedValue, len(c.Columns)), of: q.Range(), level: q.Level,
						paired: c.kind.IsStudy() || c.kind == runs.CellKind})
				}
				c.Rows[at].add(k, q)
			}
		}
	}
	parallel.Do(len(c.Rows), 0, func(k int) { c.Rows[k].test() })
}

func (q *comparedQuantity) add(column int, of runs.Quantity) {
	if q.Cells[column] == nil {
		q.Cells[column] = &comparedValue{}
	}
	c := q.Cells[column]
	c.values, c.seeds = append(c.values, of.Values...), append(c.seeds, of.Seeds...)
}

// significance is the level below which a difference is significant. Several columns compared with the first share it
// (Bonferroni 1936); otherwise one in twenty would seem different by chance.
const significance = 0.05

// test summarizes the cells of a row and tests each against the first.
func (q *comparedQuantity) test() {
	for _, cell := range q.Cells {
		if cell != nil {
			cell.mergeSeeds()
			cell.summary = summarize(cell.values, q.of, q.level)
		}
	}
	first := q.Cells[0]
	if q.Better == "" || first == nil {
		return
	}
	for _, cell := range q.Cells[1:] {
		if cell != nil {
			cell.same = constant(append(slices.Clone(first.values), cell.values...)) ||
				q.paired && slices.EqualFunc(first.values, cell.bySeedsOf(first), stat.NearlyEqual)
			chance := q.chance(first, cell)
			if cell.same {
				chance = 1
			}
			few := min(len(first.values), len(cell.values)) < stat.FewestSeeds
			drawn := !constant(first.values) || !constant(cell.values)
			if cell.untested = q.paired && !cell.same && (few || !drawn); cell.untested {
				cell.Inside = true
				continue
			}
			cell.Chance, cell.Inside = &chance, chance > significance/float64(len(q.Cells)-1)
		}
	}
}

// chance returns the p-value of a difference between two columns: of [stat.PairedP] if at least three values are paired
// by seed, otherwise of a permutation test.
func (q *comparedQuantity) chance(a, b *comparedValue) float64 {
	n, others := len(a.values), b.bySeedsOf(a)
	if !q.paired || n < stat.FewestSeeds || len(a.seeds) != n || len(b.seeds) != n || others == nil {
		return stat.Permutation(a.values, b.values, 1)
	}
	differences := make([]float64, n)
	for k, v := range a.values {
		differences[k] = stat.Difference(others[k], v)
	}
	return stat.PairedP(differences)
}

// mergeSeeds replaces the values of runs with the same seed, such as repetitions on the wall clock, by their mean: they
// say nothing about other seeds. Values without seeds stay.
func (v *comparedValue) mergeSeeds() {
	if len(v.seeds) != len(v.values) {
		return
	}
	all := v.values
	v.seeds, v.values = stat.MeansBySeed(v.seeds, all)
	v.repeated = len(v.values) < len(all)
	if v.repeated && !constant(all) {
		v.Repetitions = &repetitions{Runs: len(all), Smallest: slices.Min(all), Largest: slices.Max(all)}
	}
}

// bySeedsOf returns the values in the order of another column's seeds; nil if the columns have different seeds. Values
// without seeds keep their order.
func (v *comparedValue) bySeedsOf(other *comparedValue) (values []float64) {
	if len(v.seeds) != len(v.values) {
		return v.values
	}
	if len(v.seeds) != len(other.seeds) {
		return nil
	}
	for _, seed := range other.seeds {
		k := slices.Index(v.seeds, seed)
		if k < 0 {
			return nil
		}
		values = append(values, v.values[k])
	}
	return values
}

func constant(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return v != values[0] })
}

// cuts reports whether intervals of the quantity were clipped at a limit of its values.
func (q *comparedQuantity) cuts() bool {
	return slices.ContainsFunc(q.Cells,
		func(one *comparedValue) bool { return one != nil && q.of.Cuts(one.Low, one.High) })
}

// text describes the range; empty for nil.
func (r *repetitions) text(unit string) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf(" (%s to %s)", document.ValueText(r.Smallest, unit), document.ValueText(r.Largest, unit))
}

// cell returns the mean, with its interval if the values differ.
func (s summary) cell(unit string) document.Cell {
	c := document.Value(s.Mean, unit)
	if s.Low != nil && *s.Low < *s.High {
		c.Low, c.High = s.Low, s.High
	}
	return c
}
