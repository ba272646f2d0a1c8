package weights

import (
	"fmt"
	"io"
	"math"
)

// Format is the kind of a file. The zero value, Unknown, is none.
type Format string

// The formats that are read. PTHLegacy is not written.
const (
	Unknown     Format = ""
	PTH         Format = "pth"         // PyTorch's zip format, of 1.6 and later
	PTHLegacy   Format = "pth-legacy"  // PyTorch's format before that
	Safetensors Format = "safetensors" // Hugging Face's format
)

// Set is the content of a file of weights. The zero value is an empty set.
type Set struct {
	// Tensors are in the order of the file.
	Tensors []Tensor
	// Metadata are the texts of a safetensors file, or the numbers and texts of
	// a .pth file that are no tensors. Nil where there are none. Safetensors
	// keep them; a .pth is written without, since a state dict with entries
	// that are no tensors cannot be loaded into a module.
	Metadata map[string]string
	// Format is the format that the set was read from. Writing ignores it.
	Format Format
}

// Find returns the first tensor of a name, and whether there is one.
func (s *Set) Find(name string) (Tensor, bool) {
	for _, t := range s.Tensors {
		if t.Name == name {
			return t, true
		}
	}
	return Tensor{}, false
}

// Validate checks every tensor, and that no two have the same name.
func (s *Set) Validate() error {
	seen := make(map[string]bool, len(s.Tensors))
	for _, t := range s.Tensors {
		if seen[t.Name] {
			return fmt.Errorf("there are two tensors named %q", t.Name)
		}
		seen[t.Name] = true
		if err := t.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// Limits of Options, and those that are fixed.
const (
	defaultMaxBytes   = 16 << 30
	defaultMaxTensors = 1 << 16
	// A file may name the same bytes several times (tied weights, expanded
	// views); beyond these its size no longer bounds the memory it takes.
	spareBytes    = 64 << 20
	spareByteFold = 16
)

// Options bound what is read. The zero value has the default limits.
type Options struct {
	// MaxBytes bounds the bytes of all tensors together, and those of all
	// storages. Zero means 16 GiB. Both are also bounded by 64 MiB and 16 times
	// the size of the file, so that a small file cannot fill the memory.
	MaxBytes int64
	// MaxTensors bounds the number of tensors together with that of the entries
	// and containers beside them. Zero means 65,536: a hostile file of that many takes a
	// second.
	MaxTensors int
}

// doing says what was done when an error came; nil stays nil.
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

// WriteContents writes names, types, shapes and values of all tensors, for a digest.
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
