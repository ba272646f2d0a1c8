// Package table checks and converts tables of simulated sequences.
package table

import (
	"errors"
	"fmt"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/words"
	"graft/report/document"
	"graft/report/runs"
	"graft/simulation/tables"
)

// CheckReport is the JSON output of `graft table check --json`.
type CheckReport struct {
	Tables []Checked `json:"tables"` // faults of each folder
}

// Checked holds the defects found in one folder.
type Checked struct {
	*tables.Report                  // faults and files of the folder
	Scenario       *tables.Scenario `json:"scenario"`  // scenario; null if it is unreadable
	Sequences      int              `json:"sequences"` // number of readable sequences
	Of             *float64         `json:"of"`        // number of all sequences; null if actions depend on the network
}

// Check reads each table's folder completely. If tables are damaged or unreadable, it returns a report and an error
// with the most severe exit code.
func Check(fsys files.FS, dirs []string) (*CheckReport, error) {
	report := &CheckReport{Tables: []Checked{}}
	var failed []error
	worst, faults := failure.Done, 0
	var faulty []string
	for _, dir := range dirs {
		found, err := checkOne(fsys, dir)
		if err != nil {
			failed = append(failed, err)
			worst = worse(worst, codeOf(err))
			continue
		}
		if err := runs.ReportFault(found); err != nil {
			worst, faults, faulty = worse(worst, codeOf(err)), faults+len(found.Faults), append(faulty, dir)
		}
		report.Tables = append(report.Tables, checked(found))
	}
	if faults > 0 {
		failed = append(failed, fmt.Errorf("%s in %s", words.Plural(faults, "fault"), document.SomeOf(faulty, 3)))
	}
	return report, failure.With(worst, errors.Join(failed...))
}

// checkOne checks a table's folder, or a table of the original's, which has no checksums and is valid if it is readable
// and complete.
func checkOne(fsys files.FS, path string) (*tables.Report, error) {
	file, original := runs.OriginalTable(fsys, path)
	if !original {
		return tables.Check(fsys, path)
	}
	source := runs.TableSource{Actions: runs.OriginalActions}
	report, err := source.ReadOriginal(fsys, file)
	if err != nil {
		return nil, err
	}
	return report, failure.With(failure.Damaged, report.Table.Complete())
}

// codeOf returns the exit code of an error: Damaged if a folder is not a table.
func codeOf(err error) failure.Code {
	var coded *failure.ExitError
	switch {
	case errors.Is(err, tables.ErrNoTable):
		return failure.Damaged
	case errors.As(err, &coded):
		return coded.Code
	}
	return failure.Failed
}

// worse returns the more severe of two codes.
func worse(a, b failure.Code) failure.Code {
	for _, code := range []failure.Code{failure.Damaged, failure.Failed, failure.Configuration, failure.Usage,
		failure.Partial} {
		if a == code || b == code {
			return code
		}
	}
	return failure.Done
}

func checked(report *tables.Report) Checked {
	c := Checked{Report: report}
	if t := report.Table; t != nil {
		c.Scenario, c.Sequences = &t.Scenario, len(t.Records)
		if n := t.Scenario.Sequences(); n > 0 {
			c.Of = &n
		}
	}
	return c
}
