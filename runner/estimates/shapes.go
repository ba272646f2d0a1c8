package estimates

import (
	"strings"

	"graft/cluster/estimate"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/runner/app"
)

// Shaped is an additive model of durations or submissions with the shape functions of some terms.
type Shaped struct {
	Path   string // path of the model's file
	Model  *estimate.Model
	Shapes []estimate.Shape // shapes in the order of the model's terms
}

// Shapes reads an additive model and the shape function of a term, such as "hour" or "vc x hour". An empty term means
// all terms.
func Shapes(fsys files.FS, path, term string) (*Shaped, error) {
	m, err := estimate.Load(fsys, path)
	if err != nil {
		return nil, app.ReadFault(err)
	}
	shapes, err := shapesOf(m, term)
	return &Shaped{path, m, shapes}, err
}

// shapesOf returns the shapes of a model, or the shape of one term.
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
		return nil, failure.Usagef("option \"term\" is %q, which is unknown; expected one of: %s", name,
			strings.Join(names, ", "))
	}
	return shapes, nil
}

// plainTerm returns a term's name as typed.
func plainTerm(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, " × ", " "), " x ", " ")
}

// ShapesReport is the JSON output of `graft cluster shapes --json`.
type ShapesReport struct {
	Path string  `json:"path"` // path of the model
	Rows int     `json:"rows"` // number of training rows
	Base float64 `json:"base"` // constant to which the terms are added
	// kind of target: plain, log or median; a log or median model predicts log(1 + target)
	Target string       `json:"target"`
	Terms  []ShapedTerm `json:"terms"` // terms in the order of the model
}

// ShapedTerm is a term of a model with its shape: the contribution as a function of the features.
type ShapedTerm struct {
	Term
	Axes  []Axis `json:"axes"`  // one axis, or two for a map
	Cells []Cell `json:"cells"` // cells by the bin of the first axis and, for a map, by the bin of the second axis
}

// Axis is a feature that a shape depends on.
type Axis struct {
	Feature string `json:"feature"` // name of the feature
	Text    bool   `json:"text"`    // values of the feature are texts
	Bins    []Bin  `json:"bins"`    // bins in ascending order; the bin of missing values comes first
}

// Bin is a range or a set of values of a feature.
type Bin struct {
	Missing bool     `json:"missing,omitempty"` // bin of the rows without a value
	Low     *float64 `json:"low,omitempty"`     // lower end of a numeric bin, inclusive
	High    *float64 `json:"high,omitempty"`    // upper end of a numeric bin, exclusive except in the last bin
	Levels  []string `json:"levels,omitempty"`  // texts in the bin
}

// Cell holds the contribution of a term in one bin, or in a pair of bins.
type Cell struct {
	Value     float64 `json:"value"`     // contribution in the target's unit, or added to log(1 + target)
	Deviation float64 `json:"deviation"` // standard deviation of the value over the bags
	Rows      float64 `json:"rows"`      // number of training rows in the cell
}

// Report converts the model and its shapes to the JSON output.
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
