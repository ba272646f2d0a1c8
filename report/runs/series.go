package runs

import (
	"errors"
	"graft/internal/failure"
	"graft/results"
	"io/fs"
	"path/filepath"
)

// Series is a table of measurements over time.
type Series struct {
	Name    string // name of the table, such as epochs
	Columns []Column
}

// Column is a column of numbers, or of strings if Values is nil.
type Column struct {
	Name   string
	Unit   string    // unit of the numbers; empty means none
	Values []float64 // numbers; NaN means a missing value
	Texts  []string
}

// Column returns a column by name, or nil if there is none.
func (s *Series) Column(name string) *Column {
	for k := range s.Columns {
		if s.Columns[k].Name == name {
			return &s.Columns[k]
		}
	}
	return nil
}

// SeriesOf creates a series from a table.
func SeriesOf(name string, t *results.Table) (Series, error) {
	s := Series{Name: name}
	for _, c := range t.Columns {
		column := Column{Name: c.Name, Unit: c.Unit}
		var err error
		switch c.Kind {
		case results.String:
			column.Texts, err = t.Strings(c.Name)
		case results.Bool:
			continue
		default:
			column.Values, err = t.Floats(c.Name)
		}
		if err != nil {
			return s, err
		}
		s.Columns = append(s.Columns, column)
	}
	return s, nil
}

// streamSeries reads tables of a run folder and skips missing ones.
func streamSeries(r *Run, names ...string) ([]Series, error) {
	var list []Series
	for _, name := range names {
		t, err := results.ReadStream(r.Files, filepath.Join(r.Path, name+".csv"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		s, err := SeriesOf(name, t)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// Series reads the time series of the run. It returns nil if the kind of run has none, or before the run has written
// any.
func (r *Run) Series() ([]Series, error) {
	if r.Kind.series == nil || r.Begun {
		return nil, nil
	}
	list, err := r.Kind.series(r)
	return list, failure.AsDamage(err)
}
