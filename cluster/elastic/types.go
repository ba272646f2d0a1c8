package elastic

import (
	"errors"
	"fmt"
	"io"

	"graft/internal/validate"
)

// Limits of a file of job types: its size, and the number of types.
const (
	maxTypeBytes = 16 << 20
	maxTypes     = 1 << 16
)

// ReadTypes reads job types from a JSON object with the member "types", a list of [JobType]. Jobs refer to types by
// number, counted from 1.
func ReadTypes(r io.Reader) ([]JobType, error) {
	var file struct {
		Types []JobType `json:"types"`
	}
	if err := decode(r, maxTypeBytes, &file); err != nil {
		return nil, fmt.Errorf("read job types: %w", err)
	}
	if n := len(file.Types); n == 0 || n > maxTypes {
		return nil, fmt.Errorf("read job types: member \"types\" has %d types; expected 1 to %d", n, maxTypes)
	}
	var faults validate.Faults
	seen := map[string]bool{}
	for k := range file.Types {
		t := &file.Types[k]
		err := t.fault()
		switch {
		case t.Name == "" || seen[t.Name]:
			err = fmt.Errorf("name is %q; expected a unique, non-empty name", t.Name)
		case err == nil && t.Worker == Resources{}:
			err = fmt.Errorf("type %s: worker is missing; set its demand, such as [2, 4] for 2 CPU and 4 GPU slots",
				t.Name)
		}
		seen[t.Name] = true
		faults.When(err != nil && len(faults) < mostFaults, "types[%d]: %w", k, err)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("read job types: %w", err)
	}
	return file.Types, nil
}
