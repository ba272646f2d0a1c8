package config

import (
	"fmt"
	"io"
	"reflect"

	"graft/files"
	"graft/trainer"
)

// FindProfile is the profile that a text names: a file where it looks like a path or
// ends in .toml, and one that comes with graft otherwise.
func FindProfile(fsys files.FS, text string) (*trainer.Profile, error) {
	if isPath(text) {
		return ReadProfile(fsys, text)
	}
	return trainer.FindProfile(text)
}

// ReadProfile reads the file of a profile. Where what it says is wrong, the error
// wraps [Faults].
func ReadProfile(fsys files.FS, path string) (*trainer.Profile, error) {
	text, err := files.ReadAll(fsys, path, largestFile)
	if err != nil {
		return nil, fmt.Errorf("read profile: %w", err)
	}
	p, err := parseProfile(path, text)
	if err != nil {
		return nil, fmt.Errorf("read profile: %w", err)
	}
	return p, nil
}

func parseProfile(path string, text []byte) (*trainer.Profile, error) {
	p := &trainer.Profile{}
	r := newReading(path, text, p)
	if err := r.file(); err != nil {
		return nil, err
	}
	r.defaults()
	r.validate()
	if err := r.finish(); err != nil {
		return nil, err
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
