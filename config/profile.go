package config

import (
	"fmt"
	"io"
	"reflect"

	"graft/files"
	"graft/trainer"
)

// ReadProfile reads the file of a profile. Where what it says is wrong, the error
// wraps [Faults].
func ReadProfile(fsys files.FS, path string) (*trainer.Profile, error) {
	p := &trainer.Profile{}
	r, err := readInto(fsys, path, nil, p)
	if err == nil {
		r.defaults()
		r.validate()
		err = r.finish()
	}
	if err != nil {
		return nil, fmt.Errorf("read profile: %w", err)
	}
	return p, nil
}

// WriteProfile writes the file of a profile, from which ReadProfile makes the same.
// The file is replaced as a whole or not at all.
func WriteProfile(fsys files.FS, path string, p *trainer.Profile) error {
	if err := p.Validate(); err != nil {
		return fmt.Errorf("write profile %s: it could not be read again: %w", path, err)
	}
	err := files.WriteAtomic(fsys, path, func(w io.Writer) error {
		_, err := io.WriteString(w, FormatProfile(p))
		return err
	})
	if err != nil {
		return fmt.Errorf("write profile: %w", err)
	}
	return nil
}

// FormatProfile is the text of a profile's file.
func FormatProfile(p *trainer.Profile) string {
	v := reflect.ValueOf(p).Elem()
	return layoutStruct(outlineOf(v.Type()), v)
}
