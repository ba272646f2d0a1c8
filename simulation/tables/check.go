package tables

import (
	"fmt"
	"slices"
	"strings"

	"graft/internal/files"
)

// Report describes a table's folder as it was read.
type Report struct {
	Dir string `json:"dir"` // the folder
	// Table has what can be read; nil where not even the scenario can.
	Table *Table `json:"-"`
	// Entries are the records that count, in the order in which they were read: those
	// that were committed twice count once, and those that are refuted do not.
	Entries []*Entry   `json:"-"`
	Records int        `json:"records"` // how many they are
	Files   []FileInfo `json:"files"`   // that records are in
	Faults  Faults     `json:"faults"`  // all that is wrong
}

// Err returns all faults, each of which is a Fault; nil where there is none.
func (r *Report) Err() error {
	if len(r.Faults) == 0 {
		return nil
	}
	return fmt.Errorf("table %s: %w", r.Dir, r.Faults)
}

// Check reads the whole of a table's folder, also while it is written, and says all
// that is wrong with it. An error means that it could not be looked at, or wraps
// ErrNoTable.
func Check(fsys files.FS, dir string) (*Report, error) {
	report := &Report{Dir: dir, Faults: Faults{}, Files: []FileInfo{}}
	var all []found
	r := newReading(fsys, dir, func(e *Entry, number int32, f *Fault) {
		if f != nil {
			report.Faults = append(report.Faults, *f)
		} else {
			all = append(all, found{Entry: e, number: number, path: strings.Join(e.Sequence, ",")})
		}
	})
	if err := r.all(); err != nil {
		return nil, err
	}
	report.Files = append(report.Files, r.files...)
	if r.digest == "" {
		return report, nil
	}
	all = slices.DeleteFunc(all, func(f found) bool { return r.seen.records[f.number].refuted })
	return report, report.assemble(r.scenario, all)
}

// assemble makes the table of the records that count.
func (r *Report) assemble(s Scenario, all []found) error {
	var faults Faults
	all, faults = agreeing(all)
	r.Faults = append(r.Faults, faults...)
	records, entries, faults := merge(s, all)
	r.Entries, r.Records, r.Faults = entries, len(entries), append(r.Faults, faults...)
	var err error
	r.Table, err = New(s, records)
	return err
}

// Read reads a table, also while it is written. Records may be missing: see
// Table.Complete. Where parts cannot be read or are not as they were written the table
// has the others, and the error wraps Faults, which say which they are. The table is
// nil where there is none.
func Read(fsys files.FS, dir string) (*Table, error) {
	report, err := Check(fsys, dir)
	if err != nil {
		return nil, err
	}
	return report.Table, report.Err()
}
