package study

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"graft/internal/files"
)

// CellFile holds the result of a cell in its folder until the outcome is written.
const CellFile = "cell.json"

// largestCell is the maximum size of a CellFile in bytes: a trace of millions of jobs has millions of samples.
const largestCell = 4 << 30

// saved is the content of a CellFile.
type saved struct {
	Inputs  string
	Values  Values
	Samples []Number
	States  []uint64
	Parts   []Part
	Left    []LeftOut
	Facts   map[string]string
}

func newSaved(inputs string, r *Result) *saved {
	s := &saved{Inputs: inputs, Values: Values{}, States: r.States, Parts: r.Parts, Left: r.Left, Facts: r.Facts}
	for key, v := range r.Values {
		if v.Known() { // numbers that are not finite count as missing, also in saved cells
			s.Values[key] = v
		}
	}
	s.Samples = make([]Number, len(r.Samples))
	for k, v := range r.Samples {
		s.Samples[k] = Number(v)
	}
	return s
}

// floats returns the samples; NaN for jobs that were left out.
func (s *saved) floats() []float64 {
	list := make([]float64, len(s.Samples))
	for k, v := range s.Samples {
		list[k] = float64(v)
	}
	return list
}

// less returns the samples of s minus the samples of other; NaN if either has none.
func (s *saved) less(other *saved) []float64 {
	list := make([]float64, min(len(s.Samples), len(other.Samples)))
	for k := range list {
		list[k] = float64(s.Samples[k] - other.Samples[k])
	}
	return list
}

// changed counts the jobs whose results differ from other.
func (s *saved) changed(other *saved) (n int) {
	if len(s.States) > 0 {
		for k := range min(len(s.States), len(other.States)) {
			if s.States[k] != other.States[k] {
				n++
			}
		}
		return n
	}
	for k := range min(len(s.Samples), len(other.Samples)) {
		a, b := s.Samples[k], other.Samples[k]
		if a != b && (a.Known() || b.Known()) {
			n++
		}
	}
	return n
}

func (j *Job) path(folder string) string { return filepath.Join(j.Folder, folder, CellFile) }

// restore reads a saved cell with the same inputs; nil if none exists.
func (j *Job) restore(folder string) *saved {
	if j.Folder == "" {
		return nil
	}
	text, err := files.ReadAll(j.Files, j.path(folder), largestCell)
	s := &saved{}
	if err != nil || json.Unmarshal(text, s) != nil || s.Inputs != j.Inputs || s.Values == nil {
		return nil
	}
	return s
}

// begin makes the folder of a cell, and clears leftovers of an interrupted simulation.
func (j *Job) begin(c *Cell, folder string) error {
	if j.Folder == "" {
		return nil
	}
	path := filepath.Join(j.Folder, folder)
	if err := j.Files.MkdirAll(path); err != nil {
		return err
	}
	files.RemoveLeftovers(j.Files, path)
	if !c.Ablated {
		c.Tables = &Tables{fsys: j.Files, folder: path}
	}
	return nil
}

// save writes a cell, after all its tables.
func (j *Job) save(folder string, s *saved) error {
	if j.Folder == "" {
		return nil
	}
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("save %s: %w", j.path(folder), err)
	}
	return files.WriteAtomic(j.Files, j.path(folder), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// Forget removes from a study's run folder the files that are needed only to resume the study. Call Forget after the
// outcome is written.
func Forget(fsys files.FS, folder string, o *Outcome) error {
	var faults []error
	seen := map[string]bool{}
	for _, c := range o.Cells {
		if err := fsys.Remove(filepath.Join(folder, c.Folder, CellFile)); !errors.Is(err, fs.ErrNotExist) {
			faults = append(faults, err)
		}
		if dir := filepath.Join(folder, filepath.Dir(c.Folder), ablationFolder); !seen[dir] {
			seen[dir] = true
			faults = append(faults, files.RemoveAll(fsys, dir))
		}
	}
	return errors.Join(faults...)
}
