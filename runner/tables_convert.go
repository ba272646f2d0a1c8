package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"graft/files"
	"graft/simulation/tables"
)

// tableConvertOptions are the flags of `graft table convert`.
type tableConvertOptions struct {
	tableSource        // what the table is
	out         string // folder of the new table
	force       bool   // move what is there aside
	json        bool   // print one object
	csv         bool   // print comma-separated rows
}

// wholeTable is what `graft table convert --json` prints.
type wholeTable struct {
	Scenario tables.Scenario `json:"scenario"` // what was run
	Records  []tables.Record `json:"records"`  // in the order of their actions
}

func newTableConvertCommand() *cobra.Command {
	var o tableConvertOptions
	command := &cobra.Command{
		Use:   "convert DIR|data.pkl",
		Short: "Write a table in graft's own form, as JSON or as CSV",
		Long: `convert writes all of a table: with --out into a new folder, with --json or --csv on
stdout. The original's data.pkl says nothing of the network, the dataset, the start
and the seed; config.toml beside it does, or else the flags. CSV has a row for each
run, so a sequence with several seeds has several.

Of a table that is damaged in part the rest is written, which is how a sound table is
made of it, and the code is 3.`,
		Example: `  graft table convert simulation_late2/data.pkl --out tables/late
  graft table convert mine/data.pkl --network ConvNet2 --dataset cifar10 --actions deepen:0,none --out tables/mine
  graft table convert tables/late --csv >late.csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runTableConvert(command.OutOrStdout(), args[0], &o)
		},
	}
	o.addFlags(command)
	command.Flags().StringVar(&o.out, "out", "", "make this folder")
	command.Flags().BoolVar(&o.force, "force", false, "move what is there aside, to DIR.1")
	command.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
	command.Flags().BoolVar(&o.csv, "csv", false, "print a row for each run, with the names of the columns before them")
	command.MarkFlagsMutuallyExclusive("out", "json", "csv")
	command.MarkFlagsOneRequired("out", "json", "csv")
	return command
}

func runTableConvert(w io.Writer, path string, o *tableConvertOptions) error {
	found, damage := o.read(path)
	if found == nil || found.Table == nil {
		return damage
	}
	var err error
	switch {
	case o.json:
		err = printJSON(w, wholeTable{found.Table.Scenario, found.Table.Records})
	case o.csv:
		err = printRuns(w, found.Table)
	default:
		if err = writeTable(found, o.out, o.force); err == nil {
			_, err = fmt.Fprintf(w, "wrote %s: %s, %s\n", o.out, printable(found.Table.Name), plural(len(found.Table.Records), "sequence"))
		}
	}
	return errors.Join(err, damage)
}

// writeTable writes the records that count into a new folder.
func writeTable(found *tables.Report, out string, force bool) error {
	err := tables.Create(files.OS{}, out, found.Table.Scenario, tables.CreateOptions{Force: force})
	if errors.Is(err, tables.ErrExists) {
		err = withCode(exitUsage, err)
	}
	if err != nil {
		return err
	}
	writer, err := tables.Open(files.OS{}, out, tables.WriterOptions{Lazy: true})
	if err != nil {
		return err
	}
	for _, e := range found.Entries {
		if err := writer.Append(e.Key, e.Record); err != nil {
			return errors.Join(err, writer.Close())
		}
	}
	return writer.Close()
}

// printRuns writes a row for each run of each sequence.
func printRuns(w io.Writer, t *tables.Table) error {
	networks := 0
	for k := range t.Records {
		networks = max(networks, len(t.Records[k].Networks))
	}
	out := csv.NewWriter(w)
	head := append(numbered("action_%d", 1, t.Decisions), "seed", "accuracy")
	head = append(head, numbered("left_%d [s]", 1, t.Decisions)...)
	head = append(head, numbered("network_%d", 0, networks-1)...)
	_ = out.Write(append(head, "profile", "graft", "libtorch")) // the first error is kept
	for k := range t.Records {
		for n := range t.Records[k].Seeds {
			_ = out.Write(runCells(&t.Records[k], n, networks))
		}
	}
	out.Flush()
	return out.Error()
}

// runCells is the row of a record's run of one of its seeds.
func runCells(r *tables.Record, n, networks int) []string {
	cells := append([]string{}, r.Sequence...)
	cells = append(cells, strconv.FormatInt(r.Seeds[n], 10), exact(r.Accuracy[n]))
	cells = append(cells, exactly(r.Left)...)
	named := make([]string, networks)
	copy(named, r.Networks)
	return append(append(cells, named...), r.Profile, r.Graft, r.LibTorch)
}
