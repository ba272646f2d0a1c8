package table

import (
	"encoding/csv"
	"errors"
	"io"
	"strconv"

	"graft/files"
	"graft/results/document"
	"graft/results/failure"
	"graft/simulation/tables"
)

// Whole is the JSON output of `graft table convert --json`.
type Whole struct {
	Scenario tables.Scenario `json:"scenario"` // what was run
	Records  []tables.Record `json:"records"`  // in the order of their actions
}

// Write writes the records that count into a new folder. With force an existing one is moved aside.
func Write(fsys files.FS, found *tables.Report, out string, force bool) error {
	err := tables.Create(fsys, out, found.Table.Scenario, tables.CreateOptions{Force: force})
	if errors.Is(err, tables.ErrExists) {
		err = failure.With(failure.Usage, err)
	}
	if err != nil {
		return err
	}
	writer, err := tables.Open(fsys, out, tables.WriterOptions{Lazy: true})
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

// WriteCSV writes a row for each run of each sequence.
func WriteCSV(w io.Writer, t *tables.Table) error {
	networks := 0
	for k := range t.Records {
		networks = max(networks, len(t.Records[k].Networks))
	}
	out := csv.NewWriter(w)
	head := append(document.Numbered("action_%d", 1, t.Decisions), "seed", "accuracy")
	head = append(head, document.Numbered("left_%d [s]", 1, t.Decisions)...)
	head = append(head, document.Numbered("network_%d", 0, networks-1)...)
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
	cells = append(cells, strconv.FormatInt(r.Seeds[n], 10), document.Exact(r.Accuracy[n]))
	cells = append(cells, document.ExactAll(r.Left)...)
	named := make([]string, networks)
	copy(named, r.Networks)
	return append(append(cells, named...), r.Profile, r.Graft, r.LibTorch)
}
