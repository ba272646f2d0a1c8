package estimate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"graft/internal/files"
	"graft/internal/stat"
)

const (
	// fileFormat is the version of the meaning of a model file.
	fileFormat = 1
	// fileLimit is the maximum size of a model file in bytes.
	fileLimit = 1 << 28
)

type modelFile struct {
	Format   int           `json:"format"`
	Target   string        `json:"target"`
	Rows     int           `json:"rows"`
	Base     float64       `json:"base"`
	Smear    float64       `json:"smear"`
	Features []featureFile `json:"features"`
	Terms    []termFile    `json:"terms"`
}

type featureFile struct {
	Name   string    `json:"name"`
	Text   bool      `json:"text,omitempty"`
	Low    float32   `json:"low,omitempty"`
	High   float32   `json:"high,omitempty"`
	Edges  []float32 `json:"edges,omitempty"`
	Levels []string  `json:"levels,omitempty"`
	Own    int       `json:"own,omitempty"`
}

type termFile struct {
	Features   []int      `json:"features"`
	Groups     [][]uint16 `json:"groups,omitempty"`
	Values     []float64  `json:"values"`
	Deviations []float64  `json:"deviations"`
	Weights    []float64  `json:"weights"`
}

// Write writes a model as JSON. [Parse] restores exactly the same model.
func (m *Model) Write(w io.Writer) error {
	file := modelFile{Format: fileFormat, Target: m.target, Rows: m.rows, Base: m.base, Smear: m.smear}
	for _, f := range m.features {
		file.Features = append(file.Features, featureFile{f.name, f.text, f.low, f.high, f.edges, f.levels, f.own})
	}
	for _, t := range m.terms {
		saved := termFile{Values: t.values, Deviations: t.deviations, Weights: t.weights}
		for _, a := range t.axes {
			saved.Features = append(saved.Features, a.feature)
			if a.groups != nil {
				saved.Groups = append(saved.Groups, a.groups)
			}
		}
		file.Terms = append(file.Terms, saved)
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(file); err != nil {
		return fmt.Errorf("write a model: %w", err)
	}
	return nil
}

// Save atomically writes a model to a file, and replaces an existing file.
func (m *Model) Save(fsys files.FS, path string) error {
	return files.WriteAtomic(fsys, path, m.Write)
}

// Load reads a model that Save wrote.
func Load(fsys files.FS, path string) (*Model, error) {
	data, err := files.ReadAll(fsys, path, fileLimit)
	if err != nil {
		return nil, err
	}
	m, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return m, nil
}

// Parse restores a model from the output of Write. It returns an error if the model is inconsistent.
func Parse(data []byte) (*Model, error) {
	var head struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("the file is not an estimate model: %w", err)
	}
	if head.Format != fileFormat {
		return nil, fmt.Errorf("the file has unsupported format %d; expected %d; retrain the model", head.Format,
			fileFormat)
	}
	var file modelFile
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		return nil, fmt.Errorf("the file is not an estimate model of format %d: %w", fileFormat, err)
	}
	m := file.model()
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("the model is corrupt: %w; copy it again or retrain it", err)
	}
	for k := range m.features {
		if f := &m.features[k]; f.text {
			f.setIndex()
		}
	}
	return m, nil
}

// model returns the model of a file, unchecked.
func (file *modelFile) model() *Model {
	m := &Model{target: file.Target, rows: file.Rows, base: file.Base, smear: file.Smear}
	for _, f := range file.Features {
		m.features = append(m.features, feature{name: f.Name, text: f.Text, low: f.Low, high: f.High, edges: f.Edges,
			levels: f.Levels, own: f.Own})
	}
	for _, saved := range file.Terms {
		t := term{values: saved.Values, deviations: saved.Deviations, weights: saved.Weights}
		for k, of := range saved.Features {
			a := axis{feature: of}
			if k < len(saved.Groups) {
				a.groups = saved.Groups[k]
			}
			t.axes = append(t.axes, a)
		}
		if len(saved.Groups) > len(saved.Features) {
			t.axes = nil // check rejects it
		}
		m.terms = append(m.terms, t)
	}
	return m
}

// check finds inconsistencies of a model, and sets the sizes of axes.
func (m *Model) check() error {
	switch {
	case !slices.Contains([]string{TargetPlain, TargetLog, TargetMedian}, m.target):
		return fmt.Errorf("unknown target %q; expected %s, %s or %s", m.target, TargetPlain, TargetLog, TargetMedian)
	case m.rows < 2:
		return fmt.Errorf("the number of training rows is %d; expected at least 2", m.rows)
	case !stat.Finite(m.base) || !stat.Finite(m.smear) || m.smear <= 0 || m.target != TargetLog && m.smear != 1:
		return fmt.Errorf("base is %v and smear is %v; expected finite numbers and smear > 0; smear must be 1 unless "+
			"target is %s", m.base, m.smear, TargetLog)
	case len(m.features) == 0 || len(m.terms) < len(m.features):
		return fmt.Errorf("the model has %d features and %d terms; expected at least one feature, and a term per "+
			"feature",
			len(m.features), len(m.terms))
	}
	names := map[string]bool{}
	for k := range m.features {
		f := &m.features[k]
		if err := f.check(); err != nil || names[f.name] {
			return errors.Join(fmt.Errorf("feature %d (%q) is invalid, or its name is a duplicate", k, f.name), err)
		}
		names[f.name] = true
	}
	for k := range m.terms {
		if err := m.checkTerm(k); err != nil {
			return fmt.Errorf("term %d: %w", k, err)
		}
	}
	return nil
}

func (f *feature) check() error {
	switch {
	case f.name == "":
		return errors.New("the feature has no name")
	case f.text:
		return f.checkTexts()
	case f.levels != nil || f.own != 0:
		return errors.New("the numeric feature has text values")
	case len(f.edges) >= mostBins:
		return fmt.Errorf("the feature has %d bin edges; expected at most %d", len(f.edges), mostBins-1)
	case !stat.Finite(float64(f.low)) || !stat.Finite(float64(f.high)) || f.low > f.high:
		return fmt.Errorf("the range of the feature is %v to %v; expected finite, ascending numbers", f.low, f.high)
	}
	before := f.low
	for _, edge := range f.edges {
		if !(edge > before && edge <= f.high) {
			return fmt.Errorf("a bin edge is %v; expected more than %v and at most %v", edge, before, f.high)
		}
		before = edge
	}
	return nil
}

func (f *feature) checkTexts() error {
	seen := map[string]bool{"": true}
	for _, level := range f.levels {
		if seen[level] {
			return fmt.Errorf("text %q is empty or a duplicate", level)
		}
		seen[level] = true
	}
	switch {
	case len(f.levels) == 0 || len(f.levels) > mostLevels || f.edges != nil || f.low != 0 || f.high != 0:
		return fmt.Errorf("the text feature has %d values; expected 1 to %d strings and no numbers",
			len(f.levels), mostLevels)
	case f.own < 1 || f.own > len(f.levels) || f.own > mostBins || f.own == mostBins && f.own < len(f.levels):
		return fmt.Errorf("the feature has %d bins for %d strings; expected at least one bin, and at most one bin "+
			"per string",
			f.own,
			len(f.levels))
	}
	return nil
}

// checkTerm checks a term. Terms of one feature come first, in the order of features.
func (m *Model) checkTerm(of int) error {
	t := &m.terms[of]
	if of < len(m.features) {
		if len(t.axes) != 1 || t.axes[0].feature != of || t.axes[0].groups != nil {
			return fmt.Errorf("the term must use feature %d alone, and must not group the feature's bins", of)
		}
	} else if len(t.axes) != 2 || t.axes[0].feature >= t.axes[1].feature {
		return errors.New("the term must use two features, in ascending order")
	}
	size := 1
	for k := range t.axes {
		if err := m.checkAxis(&t.axes[k], len(t.axes) > 1); err != nil {
			return err
		}
		size *= t.axes[k].size
	}
	if len(t.values) != size || len(t.deviations) != size || len(t.weights) != size {
		return fmt.Errorf("the term has %d values, %d deviations and %d weights; expected %d of each", len(t.values),
			len(t.deviations), len(t.weights), size)
	}
	rows := 0.0
	for k, v := range t.values {
		if !stat.Finite(v) || !stat.Finite(t.deviations[k]) || t.deviations[k] < 0 || !(t.weights[k] >= 0) {
			return fmt.Errorf("cell %d has value %v, deviation %v and weight %v; expected a finite value, and a "+
				"finite deviation and weight of at least 0", k, v, t.deviations[k], t.weights[k])
		}
		rows += t.weights[k]
	}
	if rows != float64(m.rows) {
		return fmt.Errorf("the weights of the term sum to %v; expected %d, the number of training rows", rows, m.rows)
	}
	return nil
}

func (m *Model) checkAxis(a *axis, grouped bool) error {
	if a.feature < 0 || a.feature >= len(m.features) {
		return fmt.Errorf("unknown feature %d; expected 0 to %d", a.feature, len(m.features)-1)
	}
	a.size = m.features[a.feature].bins()
	if !grouped {
		return nil
	}
	if len(a.groups) != a.size || a.groups[missingBin] != 0 {
		return fmt.Errorf("the list of groups of feature %d has %[3]d entries; expected one entry for each of the "+
			"%[2]d bins, with group 0 for the bin of missing values", a.feature, a.size, len(a.groups))
	}
	used := map[uint16]bool{}
	for _, group := range a.groups[1:] {
		used[group] = true
	}
	if a.size = len(used) + 1; used[0] || len(used) > mostPairBins || int(slices.Max(a.groups)) != len(used) {
		return fmt.Errorf("feature %d has invalid group numbers; expected consecutive numbers from 1, at most %d",
			a.feature, mostPairBins)
	}
	return nil
}
