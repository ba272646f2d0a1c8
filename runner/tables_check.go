package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"graft/files"
	"graft/simulation/tables"
)

// checkReport is what `graft table check --json` prints.
type checkReport struct {
	Tables []checkedTable `json:"tables"` // what was found, folder by folder
}

// checkedTable is what was found in a folder.
type checkedTable struct {
	*tables.Report
	Scenario  *tables.Scenario `json:"scenario"`  // null where it cannot be read
	Sequences int              `json:"sequences"` // that can be read
	Of        *float64         `json:"of"`        // that there are; null where actions depend on the network
}

func newTableCheckCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "check DIR…",
		Short: "Check the folders of tables and name all that is wrong with them",
		Long: `check reads the whole of a table's folder, every byte of which is covered by a
checksum, and names each fault with its place, what was found and what to do about it.
It changes nothing. Sequences that were not simulated yet are no fault. A table of the
original's, data.pkl, has no checksums: it is sound where it can be read and is complete.

It leaves with the code 3 where a table has faults and the rest of it can be used, and
with 5 where nothing can.`,
		Example: `  graft table check tables/late
  graft table check tables/* --json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runTableCheck(command.OutOrStdout(), args, asJSON)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

func runTableCheck(w io.Writer, dirs []string, asJSON bool) error {
	report := checkReport{Tables: []checkedTable{}}
	var failed []error
	worst, faults := exitDone, 0
	var faulty []string
	for _, dir := range dirs {
		found, err := checkTable(dir)
		if err != nil {
			failed = append(failed, err)
			worst = worse(worst, codeOfTable(err))
			continue
		}
		if err := codedFaults(found); err != nil {
			var coded *exitError
			errors.As(err, &coded)
			worst, faults, faulty = worse(worst, coded.code), faults+len(found.Faults), append(faulty, dir)
		}
		report.Tables = append(report.Tables, checked(found))
	}
	if faults > 0 {
		failed = append(failed, fmt.Errorf("%s in %s", plural(faults, "fault"), someOf(faulty, 3)))
	}
	err := withCode(worst, errors.Join(failed...))
	if asJSON {
		return errors.Join(printJSON(w, report), err)
	}
	return errors.Join(report.print(w), err)
}

// checkTable checks a table's folder, or a table of the original's, which has no
// checksums and is sound where it can be read and is complete.
func checkTable(path string) (*tables.Report, error) {
	file, original := originalTable(path)
	if !original {
		return tables.Check(files.OS{}, path)
	}
	source := tableSource{actions: originalActions, given: func(string) bool { return false }}
	report, err := source.readOriginal(file)
	if err != nil {
		return nil, err
	}
	return report, withCode(exitDamaged, report.Table.Complete())
}

// codeOfTable tells a folder that is none of a table from one that cannot be read.
func codeOfTable(err error) exitCode {
	var coded *exitError
	switch {
	case errors.Is(err, tables.ErrNoTable):
		return exitDamaged
	case errors.As(err, &coded):
		return coded.code
	}
	return exitFailed
}

// worse is the code that tells more of two.
func worse(a, b exitCode) exitCode {
	for _, code := range []exitCode{exitDamaged, exitFailed, exitConfig, exitUsage, exitPartial} {
		if a == code || b == code {
			return code
		}
	}
	return exitDone
}

func checked(report *tables.Report) checkedTable {
	c := checkedTable{Report: report}
	if t := report.Table; t != nil {
		c.Scenario, c.Sequences = &t.Scenario, len(t.Records)
		if n := t.Scenario.Sequences(); n > 0 {
			c.Of = &n
		}
	}
	return c
}

func (r checkReport) print(w io.Writer) error {
	for _, t := range r.Tables {
		if _, err := io.WriteString(w, t.text()); err != nil {
			return err
		}
	}
	return nil
}

// text is a line for the table and two for each fault.
func (t checkedTable) text() string {
	verdict := "sound"
	if n := len(t.Faults); n > 0 {
		verdict = plural(n, "fault")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s: %s\n", printable(t.Dir), verdict, t.contents())
	for _, f := range t.Faults {
		fmt.Fprintf(&b, "  %s: %s: %s\n      %s\n", printable(f.Place()), f.Kind, printable(f.Text), printable(f.Remedy))
	}
	return b.String()
}

// contents says what can be read, and how far the table is.
func (t checkedTable) contents() string {
	if t.Scenario == nil {
		return "nothing can be read"
	}
	text := fmt.Sprintf("%s, %d", printable(t.Scenario.Name), t.Sequences)
	if t.Of != nil {
		text += " of " + tables.Quantity(*t.Of)
	}
	text += fmt.Sprintf(" sequences, %s in %s", plural(t.Records, "record"), plural(len(t.Files), "file"))
	open := 0
	for _, f := range t.Files {
		if !f.Closed {
			open++
		}
	}
	if open > 0 {
		text += fmt.Sprintf(", %d of which not closed: its writer is at work, or was killed", open)
	}
	return text
}
