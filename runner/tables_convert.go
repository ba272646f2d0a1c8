package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"graft/internal/files"
	"graft/internal/words"
	"graft/report/document"
	"graft/report/runs"
	"graft/runner/table"
)

// tableConvertOptions are the flags of `graft table convert`.
type tableConvertOptions struct {
	runs.TableSource        // description of the table
	out              string // folder of the new table
	force            bool   // move an existing folder aside
	json             bool   // print one object
	csv              bool   // print comma-separated rows
}

func newTableConvertCommand() *cobra.Command {
	var o tableConvertOptions
	command := &cobra.Command{
		Use:   "convert DIR|data.pkl",
		Short: "Convert a table to graft's format, JSON or CSV",
		Long: `convert writes a whole table: with --out into a new folder, with --json or --csv to stdout.
data.pkl of the original system lacks the network, the dataset, the start time and the seed;
config.toml in the same folder, or flags, must provide them. CSV has a row for each run, so a
sequence with several seeds has several rows.

If a table is partly damaged, convert writes a valid table with the undamaged part, and the exit
code is 3.`,
		Example: `  graft table convert simulation_late2/data.pkl --out tables/late
  graft table convert mine/data.pkl --network ConvNet2 --dataset cifar10 --actions deepen:0,none --out tables/mine
  graft table convert tables/late --csv >late.csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			heedTableFlags(command, &o.TableSource)
			return runTableConvert(command.OutOrStdout(), args[0], &o)
		},
	}
	addTableFlags(command, &o.TableSource)
	command.Flags().StringVar(&o.out, "out", "", "new output folder")
	command.Flags().BoolVar(&o.force, "force", false, "move an existing DIR aside, to DIR.1")
	command.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
	command.Flags().BoolVar(&o.csv, "csv", false, "print CSV: a header, then a row for each run")
	command.MarkFlagsMutuallyExclusive("out", "json", "csv")
	command.MarkFlagsOneRequired("out", "json", "csv")
	return command
}

func runTableConvert(w io.Writer, path string, o *tableConvertOptions) error {
	found, damage := o.Read(files.OS{}, path)
	if found == nil || found.Table == nil {
		return damage
	}
	var err error
	switch {
	case o.json:
		err = document.PrintJSON(w, table.Whole{Scenario: found.Table.Scenario, Records: found.Table.Records})
	case o.csv:
		err = table.WriteCSV(w, found.Table)
	default:
		if err = table.Write(files.OS{}, found, o.out, o.force); err == nil {
			_, err = fmt.Fprintf(w, "wrote %s: %s, %s\n", o.out, document.Printable(found.Table.Name),
				words.Plural(len(found.Table.Records), "sequence"))
		}
	}
	return errors.Join(err, damage)
}
