package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"graft/internal/files"
	"graft/report"
	"graft/report/document"
	"graft/report/runs"
)

// tableShowOptions are the flags of `graft table show`.
type tableShowOptions struct {
	runs.TableSource      // description of the table
	all              bool // every sequence, not only the best and the worst
	json             bool // print one object
	csv              bool // print comma-separated rows
}

func newTableShowCommand() *cobra.Command {
	var o tableShowOptions
	command := &cobra.Command{
		Use:   "show DIR|data.pkl",
		Short: "Print a table's scenario, its best and worst sequences, and the rank without adaptation",
		Long: `show ranks the sequences of a table by accuracy, and prints the best and worst sequences. It also
prints the rank of the sequence that never changes the network. SPREAD is the standard deviation
of a sequence's accuracy over seeds. TIME LEFT AT EACH DECISION lists the remaining budget at each
decision, in order. Sequences of equal accuracy are ordered by their actions. --csv has a row for
every sequence.

If a table is partly damaged, show prints the undamaged part, and the exit code is 3.`,
		Example: `  graft table show tables/late
  graft table show simulation_late2/data.pkl --all
  graft table show tables/late --csv >late.csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			heedTableFlags(command, &o.TableSource)
			return runTableShow(command.OutOrStdout(), args[0], &o)
		},
	}
	addTableFlags(command, &o.TableSource)
	command.Flags().BoolVar(&o.all, "all", false, "print every sequence")
	command.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
	command.Flags().BoolVar(&o.csv, "csv", false,
		"print CSV: a header, then a row for every sequence")
	command.MarkFlagsMutuallyExclusive("json", "csv")
	return command
}

func runTableShow(w io.Writer, path string, o *tableShowOptions) error {
	found, damage := o.Read(files.OS{}, path)
	if found == nil || found.Table == nil {
		return damage
	}
	r := runs.NewTableReport(found.Table)
	var err error
	switch {
	case o.csv:
		err = report.PrintRankCSV(r, w)
	case o.json:
		if !o.all {
			r.Rows = nil
		}
		err = document.PrintJSON(w, r)
	default:
		err = report.PrintTable(r, w, o.all)
	}
	return errors.Join(err, damage)
}
