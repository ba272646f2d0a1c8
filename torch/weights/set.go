package weights

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// Format is the format of a weight file. The zero value, Unknown, is not a format.
type Format string

// The formats that can be read. PTHLegacy cannot be written.
const (
	Unknown     Format = ""
	PTH         Format = "pth"         // zip format of PyTorch 1.6 and later
	PTHLegacy   Format = "pth-legacy"  // format of PyTorch before 1.6
	Safetensors Format = "safetensors" // format of Hugging Face's safetensors
)

// Set is the content of a weight file. The zero value is an empty set.
type Set struct {
	// Tensors holds the tensors in the order of the file.
	Tensors []Tensor
	// Metadata holds the metadata of a safetensors file, or the entries of a .pth file that are numbers or strings. Nil
	// means no metadata. Write stores it in a safetensors file, but not in a .pth file, since a module cannot load a
	// state dict with entries that are not tensors.
	Metadata map[string]string
	// Format is the format that the set was read from. Write ignores this field.
	Format Format
}

// Within returns the tensors and the metadata whose names begin with a prefix, without the prefix.
func (s *Set) Within(prefix string) *Set {
	part := &Set{Format: s.Format}
	for key, value := range s.Metadata {
		if name, has := strings.CutPrefix(key, prefix); has && name != "" {
			if part.Metadata == nil {
				part.Metadata = map[string]string{}
			}
			part.Metadata[name] = value
		}
	}
	for _, t := range s.Tensors {
		if name, has := strings.CutPrefix(t.Name, prefix); has && name != "" {
			t.Name = name
			part.Tensors = append(part.Tensors, t)
		}
	}
	return part
}

// Find returns the first tensor with the given name, and whether it exists.
func (s *Set) Find(name string) (Tensor, bool) {
	for _, t := range s.Tensors {
		if t.Name == name {
			return t, true
		}
	}
	return Tensor{}, false
}

// Validate checks every tensor, and checks that tensor names are unique.
func (s *Set) Validate() error {
	seen := make(map[string]bool, len(s.Tensors))
	for _, t := range s.Tensors {
		if seen[t.Name] {
			return fmt.Errorf("duplicate tensor name %q", t.Name)
		}
		seen[t.Name] = true
		if err := t.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// Default limits of Options, and fixed limits.
const (
	defaultMaxBytes   = 16 << 30
	defaultMaxTensors = 1 << 16
	// A file may name the same bytes several times (tied weights, expanded views); beyond these limits its size no
	// longer limits the memory it takes.
	spareBytes    = 64 << 20
	spareByteFold = 16
)

// Options limits what is read from a file. The zero value means the default limits.
type Options struct {
	// MaxBytes is the maximum size of all tensors together, and of all storages together, in bytes. Zero means 16 GiB.
	// Both sizes are also limited to 64 MiB plus 16 times the size of the file, so a small file cannot fill the memory.
	MaxBytes int64
	// MaxTensors is the maximum number of tensors, other entries and containers together. Zero means 65,536; reading a
	// hostile file with this number of entries takes about a second.
	MaxTensors int
}

// doing adds the current operation to an error; nil stays nil.
func doing(what string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", what, err)
	}
	return err
}

// withDefaults fills in the limits for a file of a size.
func (o Options) withDefaults(size int64) Options {
	if o.MaxBytes == 0 {
		o.MaxBytes = defaultMaxBytes
	}
	if o.MaxTensors == 0 {
		o.MaxTensors = defaultMaxTensors
	}
	if size < (math.MaxInt64-spareBytes)/spareByteFold {
		o.MaxBytes = min(o.MaxBytes, spareBytes+spareByteFold*size)
	}
	return o
}

// WriteContents writes the names, types, shapes and values of all tensors, as input for a digest.
func (s *Set) WriteContents(w io.Writer) error {
	for _, t := range s.Tensors {
		if _, err := fmt.Fprintf(w, "%s %v %v\n", t.Name, t.DType, t.Shape); err != nil {
			return err
		}
		if _, err := w.Write(t.Data); err != nil {
			return err
		}
	}
	return nil
}
