package decider

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"

	"graft/internal/files"
	"graft/internal/validate"
	"graft/net2net"
	"graft/torch/weights"
	"graft/vocab"
)

// Keys in the metadata of a policy's safetensors file; the header is JSON under structuralKey, and the training tables
// are JSON under tablesKey.
const (
	structuralKey     = "graft.policy"
	tablesKey         = "graft.tables"
	structuralFormat  = "structural"
	structuralVersion = 1
	forestVersion     = 2 // version of forests
)

type structuralHeader struct {
	Format  string            `json:"format"`
	Version int               `json:"version"`
	Hidden  int               `json:"hidden"`
	Rounds  int               `json:"rounds"`
	Members int               `json:"members"`
	Trees   int               `json:"trees,omitempty"` // number of trees of a forest, which has no members
	Tokens  structuralInputs  `json:"tokens"`
	Rows    structuralInputs  `json:"rows"`
	Learned []net2net.Kind    `json:"learned"`
	Targets []string          `json:"targets,omitempty"`
	Notes   map[string]string `json:"notes,omitempty"`
}

// structuralInputs are the names and the scale of inputs.
type structuralInputs struct {
	Names []string `json:"names"`
	Scale
}

// IsStructural reports whether a weight file contains a structural policy.
func IsStructural(set *weights.Set) bool {
	_, marked := set.Metadata[structuralKey]
	return marked
}

// ErrNotStructural reports that a valid file does not contain a structural policy.
var ErrNotStructural = errors.New("the file is not a structural policy")

// Set returns the content of the policy's file, without options.
func (p *Structural) Set() (*weights.Set, error) {
	header := structuralHeader{structuralFormat, structuralVersion, p.Hidden, p.StructuralShape.Rounds, len(p.Members),
		len(p.Forest), structuralInputs{p.tokenNames(), p.Tokens}, structuralInputs{featureNames(), p.Rows}, p.Learned,
		p.Targets, p.Notes}
	if len(p.Forest) > 0 {
		header.Version, header.Rows.Names = forestVersion, namesOf(forestFeatures)
	}
	text, err := json.Marshal(header)
	if err != nil {
		return nil, fmt.Errorf("save a policy: %w", err)
	}
	set := &weights.Set{Metadata: map[string]string{structuralKey: string(text)}}
	if p.Tables != nil {
		if text, err = json.Marshal(p.Tables); err != nil {
			return nil, fmt.Errorf("save a policy: %w", err)
		}
		set.Metadata[tablesKey] = string(text)
	}
	for k, m := range p.Members {
		for j, slot := range p.slots() {
			set.Tensors = append(set.Tensors, floats(memberName(k, slot.Name), slot.Shape, m[j]))
		}
	}
	if len(p.Forest) > 0 {
		set.Tensors = append(set.Tensors, forestTensors(p.Forest)...)
	}
	return set, nil
}

// readTables reads the training tables. Files of earlier versions have none.
func (p *Structural) readTables(set *weights.Set) error {
	text, ok := set.Metadata[tablesKey]
	if !ok {
		return nil
	}
	if err := json.Unmarshal([]byte(text), &p.Tables); err != nil {
		return fmt.Errorf("the list of training tables is damaged: %w; copy the file again", err)
	}
	return nil
}

func memberName(k int, slot string) string { return fmt.Sprintf("member%d.%s", k, slot) }

// Write writes the policy to a safetensors file, atomically.
func (p *Structural) Write(fsys files.FS, path string) error {
	return files.WriteAtomic(fsys, path, p.Format)
}

// Format writes the content of the policy's file to w.
func (p *Structural) Format(w io.Writer) error {
	set, err := p.Set()
	if err != nil {
		return err
	}
	return weights.WriteSafetensors(w, set)
}

// ReadStructural reads a policy from a file that Write wrote. The policy's options are not set.
func ReadStructural(fsys files.FS, path string) (*Structural, error) {
	set, err := ReadWeights(fsys, path)
	if err != nil {
		return nil, fmt.Errorf("read policy: %w", err)
	}
	p, err := StructuralOf(set)
	if err != nil {
		return nil, fmt.Errorf("read policy %s: %w", path, err)
	}
	return p, nil
}

// StructuralOf reads a policy from the content of a file.
func StructuralOf(set *weights.Set) (*Structural, error) {
	header, err := parseStructural(set)
	if err != nil {
		return nil, err
	}
	p := &Structural{StructuralShape: StructuralShape{header.Hidden, header.Rounds}, Tokens: header.Tokens.Scale,
		Rows: header.Rows.Scale, Learned: header.Learned, Targets: header.Targets, Notes: header.Notes}
	if err := p.readTables(set); err != nil {
		return nil, err
	}
	if header.Trees > 0 {
		p.Rows = p.Rows.extended(len(forestFeatures))
		p.Forest, err = forestOf(set, header.Trees)
		return p, err
	}
	expected := map[string]bool{}
	for k := range header.Members {
		m := Member{}
		for _, slot := range p.StructuralShape.slots(len(header.Tokens.Names), len(header.Rows.Names)) {
			name := memberName(k, slot.Name)
			expected[name] = true
			values, err := unfloats(set, name, slot.Shape)
			if err != nil {
				return nil, err
			}
			if slot.Name == rowWeights {
				values = spreadColumns(values, header.Rows.Names)
			}
			m = append(m, values)
		}
		p.Members = append(p.Members, m)
	}
	p.Rows = p.Rows.each(func(values []float64) []float64 { return spreadColumns(values, header.Rows.Names) })
	for _, t := range set.Tensors {
		if !expected[t.Name] {
			return nil, fmt.Errorf("unexpected tensor %.100q for a policy of this shape", t.Name)
		}
	}
	return p, nil
}

// spreadColumns expands rows of values, one value per name, to one value per feature of this program. Features that an
// older policy lacks are zero, so it decides as before.
func spreadColumns(values []float64, names []string) []float64 {
	var spread []float64
	for row := range slices.Chunk(values, len(names)) {
		for _, name := range featureNames() {
			if k := slices.Index(names, name); k >= 0 {
				spread = append(spread, row[k])
			} else {
				spread = append(spread, 0)
			}
		}
	}
	return spread
}

// parseStructural reads the header and checks its version.
func parseStructural(set *weights.Set) (*structuralHeader, error) {
	text, ok := set.Metadata[structuralKey]
	if !ok {
		return nil, fmt.Errorf("%w: the header has no %s; use the file that 'graft learn' wrote", ErrNotStructural,
			structuralKey)
	}
	var mark struct {
		Format  string
		Version int
	}
	if err := json.Unmarshal([]byte(text), &mark); err != nil {
		return nil, fmt.Errorf("the header is damaged: %w; copy the file again", err)
	}
	if mark.Format != structuralFormat || mark.Version < structuralVersion || mark.Version > forestVersion {
		return nil, fmt.Errorf("policy format %.40q, version %d, is not supported; this program reads %q, versions %d "+
			"and %d; train the policy again", mark.Format, mark.Version, structuralFormat, structuralVersion,
			forestVersion)
	}
	header := &structuralHeader{}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(header); err != nil {
		return nil, fmt.Errorf("the header is damaged: %w; copy the file again", err)
	}
	return header, header.validate()
}

// validate lists all faults of a header of this version.
func (h *structuralHeader) validate() error {
	faults := validate.Faults{StructuralShape{h.Hidden, h.Rounds}.Validate(),
		h.Tokens.validate("tokens", vocab.Names(len(h.Tokens.Names) > len(vocab.Names(false))), false)}
	switch forest := h.Version == forestVersion; {
	case forest && (h.Members != 0 || h.Trees < 1 || h.Trees > mostTrees):
		faults = append(faults, fmt.Errorf("the forest has %d trees and %d ensemble members; expected 1 to %d trees "+
			"and no members",
			h.Trees, h.Members, mostTrees))
	case forest:
		names := namesOf(forestFeatures)
		if n := len(h.Rows.Names); n >= forestInputs && n < len(names) { // an older forest lacks the last inputs
			names = names[:n]
		}
		faults = append(faults, h.Rows.validate("rows", names, false))
	case h.Members < 1 || h.Members > mostMembers || h.Trees != 0:
		faults = append(faults, fmt.Errorf("the policy has %d ensemble members and %d trees; expected 1 to %d "+
			"members and no trees",
			h.Members, h.Trees, mostMembers))
	default:
		faults = append(faults, h.Rows.validate("rows", featureNames(), true))
	}
	for _, kind := range h.Learned {
		faults.Unless(slices.Contains(net2net.Kinds(), kind), "the policy was trained on the unknown operation %.40q; "+
			"expected one of: %v", kind, net2net.Kinds())
	}
	for _, target := range h.Targets {
		if kind, _, _ := strings.Cut(target, " "); !slices.Contains(net2net.Kinds(), net2net.Kind(kind)) {
			faults = append(faults, fmt.Errorf("the policy was trained on the invalid action %.40q; expected an "+
				"operation and its target", target))
		}
	}
	return errors.Join(faults...)
}

// validate compares inputs with this program's inputs; if fewer is set, a subset is valid.
func (i structuralInputs) validate(what string, names []string, fewer bool) error {
	if fewer && len(i.Names) > 0 {
		names = slices.DeleteFunc(slices.Clone(names),
			func(name string) bool { return !slices.Contains(i.Names, name) })
	}
	if !slices.Equal(i.Names, names) {
		return fmt.Errorf("the policy's %s have inputs %.200s; expected %s; train the policy again", what,
			strings.Join(i.Names, ", "), strings.Join(names, ", "))
	}
	if i.Mean == nil && i.Deviation == nil {
		return nil
	}
	if n := len(i.Low); n != len(i.High) || n > 0 && n != len(names) {
		return fmt.Errorf("the policy's %s have %d inputs, but ranges for %d and %d of them; expected one range per "+
			"input", what, len(names), n, len(i.High))
	}
	if len(i.Mean) != len(names) || len(i.Deviation) != len(names) {
		return fmt.Errorf("the policy's %s have %d inputs, but %d means and %d deviations; expected one of each per "+
			"input",
			what, len(names), len(i.Mean), len(i.Deviation))
	}
	for k := range names {
		if math.IsNaN(i.Mean[k]) || math.IsInf(i.Mean[k], 0) || !(i.Deviation[k] >= 0) ||
			math.IsInf(i.Deviation[k], 0) {
			return fmt.Errorf("the policy's %s have an invalid scale for input %s: mean %v, deviation %v; expected "+
				"finite numbers and a deviation of at least 0", what, names[k], i.Mean[k], i.Deviation[k])
		}
	}
	return nil
}

// floats makes a tensor for a file.
func floats(name string, shape []int, values []float64) weights.Tensor {
	t := weights.Tensor{Name: name, DType: weights.Float64}
	for _, size := range shape {
		t.Shape = append(t.Shape, int64(size))
	}
	t.Data, _ = binary.Append(nil, binary.LittleEndian, values) // writing numbers cannot fail
	return t
}

// unfloats finds a tensor of a shape in a file.
func unfloats(set *weights.Set, name string, shape []int) ([]float64, error) {
	t, ok := set.Find(name)
	same := slices.EqualFunc(t.Shape, shape, func(a int64, b int) bool { return a == int64(b) })
	switch {
	case !ok:
		return nil, fmt.Errorf("tensor %s is missing", name)
	case t.DType != weights.Float64 || !same:
		return nil, fmt.Errorf("tensor %s has type %v and shape %v; expected type %v and shape %v", name, t.DType,
			t.Shape, weights.Float64, shape)
	}
	values, err := t.Float64s()
	if err != nil {
		return nil, fmt.Errorf("tensor %s: %w", name, err)
	}
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("tensor %s contains %v; training diverged, or the file is damaged", name, v)
		}
	}
	return values, nil
}

// ReadWeights reads the tensors of a policy's file.
func ReadWeights(fsys files.FS, path string) (*weights.Set, error) {
	set, err := weights.Read(fsys, path, weights.Options{})
	var system *fs.PathError
	if err != nil && !errors.As(err, &system) {
		err = fmt.Errorf("%w; copy the file again from the machine that trained the policy", err)
	}
	return set, err
}
