package curves

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"

	"graft/internal/files"
	"graft/internal/validate"
)

// version is the version of the file format.
const version = 1

// Limits of files.
const (
	largestFile = 8 << 20
	mostCurves  = 10_000
	mostGrowths = 100
	mostTerm    = 50 // of a logarithm
)

type file struct {
	Format int      `json:"format"`
	Curves []*Curve `json:"curves"`
}

// Write writes curves as JSON.
func Write(w io.Writer, curves []*Curve) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(file{version, curves})
}

// Read reads a file of curves.
func Read(fsys files.FS, path string) ([]*Curve, error) {
	text, err := files.ReadAll(fsys, path, largestFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read curves: %w; name another file, or write one with 'graft cluster curves'", err)
	}
	if err != nil {
		return nil, fmt.Errorf("read curves: %w", err)
	}
	list, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("read curves %s: %w; write the file with 'graft cluster curves'", path, err)
	}
	return list, nil
}

func parse(text []byte) ([]*Curve, error) {
	var f file
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("text after the JSON object")
	}
	faults := missing(text)
	faults.When(f.Format != version, "format is %d; expected %d", f.Format, version)
	faults.When(len(f.Curves) == 0 || len(f.Curves) > mostCurves, "got %d curves; expected 1 to %d", len(f.Curves),
		mostCurves)
	for k, c := range f.Curves {
		if c == nil {
			faults.When(true, "curves[%d] is null", k)
			continue
		}
		if err := c.validate(); err != nil {
			faults = append(faults, fmt.Errorf("curves[%d] (%q): %w", k, c.Name, err))
		}
		same := func(other *Curve) bool { return other != nil && other.Name == c.Name }
		faults.When(slices.ContainsFunc(f.Curves[:k], same), "curves[%d]: duplicate name %q", k, c.Name)
	}
	return f.Curves, errors.Join(faults...)
}

// Keys of a curve, and of the values of type Terms.
var (
	curveKeys = []string{"name", "chance", "power", "rate", "floor", "loss", "step", "actions", "first", "fit"}
	termKeys  = []string{"initial", "deepen", "widen"}
)

// missing returns an error for each key that a curve lacks.
func missing(text []byte) (faults validate.Faults) {
	var f struct {
		Curves []map[string]json.RawMessage `json:"curves"`
	}
	_ = json.Unmarshal(text, &f) // the text was read before
	for k, c := range f.Curves {
		for _, key := range curveKeys {
			value, there := c[key]
			faults.Unless(there || c == nil, "curves[%d]: the key %q is missing", k, key)
			var terms map[string]json.RawMessage
			if key != "fit" && json.Unmarshal(value, &terms) == nil {
				for _, term := range termKeys {
					faults.Unless(terms[term] != nil, "curves[%d]: the key %q of %q is missing", k, term, key)
				}
			}
		}
	}
	return faults
}

// validate returns an error for values with which a curve is not a number.
func (c *Curve) validate() error {
	var faults validate.Faults
	faults.Unless(c.Name != "", "name is missing")
	faults.Unless(c.Chance > 0 && c.Chance <= 1, "chance is %v; expected a number above 0 and at most 1", c.Chance)
	faults.Unless(c.Power >= 0.1 && c.Power <= 10, "power is %v; expected 0.1 to 10", c.Power)
	faults.Unless(c.Actions >= 0 && c.Actions <= mostGrowths, "actions is %d; expected 0 to %d", c.Actions, mostGrowths)
	faults.Unless(c.First >= 0 && c.First <= 1, "first is %v; expected a number from 0 to 1", c.First)
	for _, t := range []struct {
		name string
		Terms
	}{{"rate", c.Rate}, {"floor", c.Floor}, {"loss", c.Loss}, {"step", c.Step}} {
		for _, v := range []float64{t.Initial, t.Deepen, t.Widen} {
			faults.When(!(math.Abs(v) <= mostTerm), "%s has the value %v; expected at most %d, positive or negative",
				t.name, v, mostTerm)
		}
	}
	return errors.Join(faults...)
}
