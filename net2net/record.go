package net2net

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"graft/internal/files"
	"graft/internal/validate"
)

// recordLimit limits the bytes of a file of records. Records of widened networks take about ten bytes per channel.
const recordLimit = 256 << 20

// recordFile is the content of a file of records.
type recordFile struct {
	Changes []*Change `json:"changes"`
}

// WriteRecord atomically writes a file with the given changes, in the given order.
func WriteRecord(fsys files.FS, path string, changes []*Change) error {
	return files.WriteAtomic(fsys, path, func(w io.Writer) error {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", " ")
		return encoder.Encode(recordFile{changes})
	})
}

// ReadRecord reads a file that WriteRecord wrote.
func ReadRecord(fsys files.FS, path string) ([]*Change, error) {
	text, err := files.ReadAll(fsys, path, recordLimit)
	if err != nil {
		return nil, err
	}
	changes, err := parseRecord(text)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return changes, nil
}

func parseRecord(text []byte) ([]*Change, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var file recordFile
	if err := decoder.Decode(&file); err != nil {
		return nil, fmt.Errorf("not a surgery record: %w", err)
	}
	var faults validate.Faults
	for k, c := range file.Changes {
		if c == nil {
			faults = append(faults, fmt.Errorf("change %d is null", k))
		} else if err := c.validate(); err != nil {
			faults = append(faults, fmt.Errorf("change %d, %s: %w", k, c.Action, err))
		}
	}
	return file.Changes, errors.Join(faults...)
}

// validate rejects records that no operation writes.
func (c *Change) validate() error {
	var faults validate.Faults
	old := 0 // units before the widening, which map to themselves
	for old < len(c.Units) && c.Units[old] == old {
		old++
	}
	for _, unit := range c.Units[old:] {
		if unit < -1 || unit < 0 && !c.Start.NeedsData() || unit >= old {
			faults = append(faults, fmt.Errorf("a new unit copies unit %d; expected one of the %d earlier units", unit,
				old))
			break
		}
	}
	if err := c.Action.validate(); err != nil {
		faults = append(faults, err)
	}
	faults.Unless(slices.Contains(SplitRules(), c.Split), "split is %q; expected one of: %v", c.Split, SplitRules()[1:])
	faults.When(c.Noise < 0, "noise is %g; must not be negative", c.Noise)
	if c.Start != "" {
		_, err := c.Start.kind()
		faults = append(faults, err)
	}
	if cal := c.Calibration; cal != nil && len(cal.Mean) != len(cal.Var) {
		faults = append(faults, fmt.Errorf("got %d means and %d variances; expected equal numbers", len(cal.Mean),
			len(cal.Var)))
	}
	return errors.Join(faults...)
}
