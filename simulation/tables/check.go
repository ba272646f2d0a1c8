package tables

import (
	"fmt"
	"slices"
	"strings"

	"graft/internal/files"
)

// Report describes the state of a table's folder.
type Report struct {
	Dir string `json:"dir"` // path of the folder
	// Table holds the readable part of the table; nil if the scenario is unreadable.
	Table *Table `json:"-"`
	// Entries holds the valid records in the order in which they were read. A record that was committed twice is listed
	// once; records that contradict each other are left out.
	Entries []*Entry   `json:"-"`
	Records int        `json:"records"` // number of valid records
	Files   []FileInfo `json:"files"`   // files that contain records
	Faults  Faults     `json:"faults"`  // all faults of the folder
}

// Err returns all defects as an error that wraps each Fault, or nil if there are none.
func (r *Report) Err() error {
	if len(r.Faults) == 0 {
		return nil
	}
	return fmt.Errorf("table %s: %w", r.Dir, r.Faults)
}

// Check reads all files in a table's folder and reports all defects. It may run while a writer adds records. It returns
// an error only if the folder cannot be read or has no table. Without a table, the error wraps ErrNoTable.
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

// assemble makes the table of the valid records.
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

// Read reads a table. It may run while a writer adds records, so records may be missing: see Table.Complete. If parts
// of the folder are unreadable or damaged, the table contains the remaining parts, and the error wraps Faults, which
// lists the damage. If the folder has no table, the returned table is nil.
func Read(fsys files.FS, dir string) (*Table, error) {
	report, err := Check(fsys, dir)
	if err != nil {
		return nil, err
	}
	return report.Table, report.Err()
}
