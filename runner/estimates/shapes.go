package estimates

import (
	"strings"

	"graft/cluster/estimate"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/runner/app"
)

// Shaped is a model of estimates and some of its shapes.
type Shaped struct {
	Path   string // of the model's file
	Model  *estimate.Model
	Shapes []estimate.Shape // in the model's order
}

// Shapes reads a model and the shape of a term, such as "hour" or "vc x hour"; an empty term is
// all of them.
func Shapes(fsys files.FS, path, term string) (*Shaped, error) {
	m, err := estimate.Load(fsys, path)
	if err != nil {
		return nil, app.ReadFault(err)
	}
	shapes, err := shapesOf(m, term)
	return &Shaped{path, m, shapes}, err
}

// shapesOf are the shapes of a model, or that of one term.
func shapesOf(m *estimate.Model, name string) ([]estimate.Shape, error) {
	var shapes []estimate.Shape
	var names []string
	for k, t := range m.Terms() {
		names = append(names, t.Name)
		if name != "" && plainTerm(name) != plainTerm(t.Name) {
			continue
		}
		s, err := m.Shape(k)
		if err != nil {
			return nil, err
		}
		shapes = append(shapes, s)
	}
	if len(shapes) == 0 {
		return nil, failure.Usagef("option term %s: there is none of this name; there are %s", name,
			strings.Join(names, ", "))
	}
	return shapes, nil
}

// plainTerm is a term's name as it is typed.
func plainTerm(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, " × ", " "), " x ", " ")
}

// ShapesReport is the JSON output of `graft cluster shapes --json`.
type ShapesReport struct {
	Path   string       `json:"path"`   // of the model
	Rows   int          `json:"rows"`   // that it was learned from
	Base   float64      `json:"base"`   // to which terms are added
	Target string       `json:"target"` // plain; with log and median all values are added to log(1 + target)
	Terms  []ShapedTerm `json:"terms"`  // in the model's order
}

// ShapedTerm is a term with its shape.
type ShapedTerm struct {
	Term
	Axes  []Axis `json:"axes"`  // one, or two of a map
	Cells []Cell `json:"cells"` // by bin of the first axis and, of a map, within it by bin of the second
}

// Axis is a feature of a shape.
type Axis struct {
	Feature string `json:"feature"` // its name
	Text    bool   `json:"text"`    // whether its values are texts
	Bins    []Bin  `json:"bins"`    // in order, that of missing values first
}

// Bin is a part of a feature's values.
type Bin struct {
	Missing bool     `json:"missing,omitempty"` // holds the rows without a value
	Low     *float64 `json:"low,omitempty"`     // of numbers: it holds those from here on
	High    *float64 `json:"high,omitempty"`    // up to here, and in the last bin this one too
	Levels  []string `json:"levels,omitempty"`  // of texts: those that it holds
}

// Cell holds the value that a term adds.
type Cell struct {
	Value     float64 `json:"value"`     // in the target's unit, or added to log(1 + target)
	Deviation float64 `json:"deviation"` // of the value, over the bags
	Rows      float64 `json:"rows"`      // that it was learned from
}

// Report is the model and its shapes as values.
func (s *Shaped) Report() *ShapesReport {
	r := &ShapesReport{Path: s.Path, Rows: s.Model.Rows(), Base: s.Model.Base(), Target: s.Model.Target()}
	for _, shape := range s.Shapes {
		term := ShapedTerm{Term: Term{shape.Term.Name, shape.Term.Features, shape.Term.Importance}}
		for _, a := range shape.Axes {
			axis := Axis{Feature: a.Feature, Text: a.Text}
			for k := range a.Bins {
				b := &a.Bins[k]
				bin := Bin{Missing: b.Missing, Levels: b.Levels}
				if !b.Missing && !a.Text {
					bin.Low, bin.High = &b.Low, &b.High
				}
				axis.Bins = append(axis.Bins, bin)
			}
			term.Axes = append(term.Axes, axis)
		}
		for _, c := range shape.Cells {
			term.Cells = append(term.Cells, Cell{c.Value, c.Deviation, c.Weight})
		}
		r.Terms = append(r.Terms, term)
	}
	return r
}
