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
	Tables []Checked `json:"tables"` // what was found, folder by folder
}

// Checked holds the findings in one folder.
type Checked struct {
	*tables.Report                  // its faults and files
	Scenario       *tables.Scenario `json:"scenario"`  // null where it cannot be read
	Sequences      int              `json:"sequences"` // that can be read
	Of             *float64         `json:"of"`        // that there are; null where actions depend on the network
}

// Check reads the whole of each table's folder. A report comes with an error where
// tables are damaged or cannot be read; its exit code is that of the worst.
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

// checkOne checks a table's folder, or a table of the original's, which has no
// checksums and is sound where it can be read and is complete.
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

// codeOf is the exit code of an error: Damaged where a folder is no table.
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

// worse is the graver of two codes.
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
