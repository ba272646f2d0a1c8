package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"graft/files"
	"graft/results/document"
	"graft/results/failure"
	"graft/results/runs"
	"graft/simulation"
)

// checkReport is what `graft table check --json` prints.
type checkReport struct {
	Tables []checkedTable `json:"tables"` // what was found, folder by folder
}

// checkedTable is what was found in a folder.
type checkedTable struct {
	*simulation.Report
	Scenario  *simulation.Scenario `json:"scenario"`  // null where it cannot be read
	Sequences int                  `json:"sequences"` // that can be read
	Of        *float64             `json:"of"`        // that there are; null where actions depend on the network
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
	worst, faults := failure.Done, 0
	var faulty []string
	for _, dir := range dirs {
		found, err := checkTable(dir)
		if err != nil {
			failed = append(failed, err)
			worst = worse(worst, codeOfTable(err))
			continue
		}
		if err := runs.CodedFaults(found); err != nil {
			var coded *failure.ExitError
			errors.As(err, &coded)
			worst, faults, faulty = worse(worst, coded.Code), faults+len(found.Faults), append(faulty, dir)
		}
		report.Tables = append(report.Tables, checked(found))
	}
	if faults > 0 {
		failed = append(failed, fmt.Errorf("%s in %s", document.Plural(faults, "fault"), document.SomeOf(faulty, 3)))
	}
	err := failure.With(worst, errors.Join(failed...))
	if asJSON {
		return errors.Join(document.PrintJSON(w, report), err)
	}
	return errors.Join(report.print(w), err)
}

// checkTable checks a table's folder, or a table of the original's, which has no
// checksums and is sound where it can be read and is complete.
func checkTable(path string) (*simulation.Report, error) {
	file, original := runs.OriginalTable(files.OS{}, path)
	if !original {
		return simulation.Check(files.OS{}, path)
	}
	source := runs.TableSource{Actions: runs.OriginalActions}
	report, err := source.ReadOriginal(files.OS{}, file)
	if err != nil {
		return nil, err
	}
	return report, failure.With(failure.Damaged, report.Table.Complete())
}

// codeOfTable tells a folder that is none of a table from one that cannot be read.
func codeOfTable(err error) failure.Code {
	var coded *failure.ExitError
	switch {
	case errors.Is(err, simulation.ErrNoTable):
		return failure.Damaged
	case errors.As(err, &coded):
		return coded.Code
	}
	return failure.Failed
}

// worse is the code that tells more of two.
func worse(a, b failure.Code) failure.Code {
	for _, code := range []failure.Code{failure.Damaged, failure.Failed, failure.Configuration, failure.Usage, failure.Partial} {
		if a == code || b == code {
			return code
		}
	}
	return failure.Done
}

func checked(report *simulation.Report) checkedTable {
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
		verdict = document.Plural(n, "fault")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s: %s\n", document.Printable(t.Dir), verdict, t.contents())
	for _, f := range t.Faults {
		fmt.Fprintf(&b, "  %s: %s: %s\n      %s\n", document.Printable(f.Place()), f.Kind, document.Printable(f.Text), document.Printable(f.Remedy))
	}
	return b.String()
}

// contents says what can be read, and how far the table is.
func (t checkedTable) contents() string {
	if t.Scenario == nil {
		return "nothing can be read"
	}
	text := fmt.Sprintf("%s, %d", document.Printable(t.Scenario.Name), t.Sequences)
	if t.Of != nil {
		text += " of " + simulation.Quantity(*t.Of)
	}
	text += fmt.Sprintf(" sequences, %s in %s", document.Plural(t.Records, "record"), document.Plural(len(t.Files), "file"))
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
