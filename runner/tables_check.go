package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"graft/internal/files"
	"graft/internal/words"
	"graft/report/document"
	"graft/runner/table"
	"graft/simulation/tables"
)

func newTableCheckCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "check DIR…",
		Short: "Check tables and list their faults",
		Long: `check reads a whole table folder and prints each fault with its location and remedy. Checksums
cover every byte of the folder. check does not change files. Missing sequences are not faults. A
table of the original system, data.pkl, has no checksums: it is valid if it is readable and
complete.

The exit code is 3 if a faulty table is partly usable, and 5 if no part is usable.`,
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
	report, err := table.Check(files.OS{}, dirs)
	return show(w, asJSON, report, err, printChecked)
}

func printChecked(w io.Writer, r *table.CheckReport) error {
	for _, t := range r.Tables {
		if _, err := io.WriteString(w, checkedText(t)); err != nil {
			return err
		}
	}
	return nil
}

// checkedText has a line for the table and two per fault.
func checkedText(t table.Checked) string {
	verdict := "sound"
	if n := len(t.Faults); n > 0 {
		verdict = words.Plural(n, "fault")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s: %s\n", document.Printable(t.Dir), verdict, checkedContents(t))
	for _, f := range t.Faults {
		fmt.Fprintf(&b, "  %s: %s: %s\n      %s\n", document.Printable(f.Place()), f.Kind, document.Printable(f.Text),
			document.Printable(f.Remedy))
	}
	return b.String()
}

// checkedContents describes the readable content and the progress of the table.
func checkedContents(t table.Checked) string {
	if t.Scenario == nil {
		return "nothing can be read"
	}
	text := fmt.Sprintf("%s, %d", document.Printable(t.Scenario.Name), t.Sequences)
	if t.Of != nil {
		text += " of " + tables.Quantity(*t.Of)
	}
	text += fmt.Sprintf(" sequences, %s in %s", words.Plural(t.Records, "record"),
		words.Plural(len(t.Files), "file"))
	open := 0
	for _, f := range t.Files {
		if !f.Closed {
			open++
		}
	}
	if open > 0 {
		text += fmt.Sprintf(", %d not closed: the writer is still running, or was killed", open)
	}
	return text
}
