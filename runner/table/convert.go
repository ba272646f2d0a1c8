package table

import (
	"errors"
	"io"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/document"
	"graft/simulation/tables"
)

// Whole is the content of a table; `graft table convert --json` prints it.
type Whole struct {
	Scenario tables.Scenario `json:"scenario"` // scenario of the table
	Records  []tables.Record `json:"records"`  // records in the order of their actions
}

// Write writes the valid records into a new folder. If force is true, an existing folder is moved aside.
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

// WriteCSV writes a table as CSV, with one row per run of each sequence.
func WriteCSV(w io.Writer, t *tables.Table) error {
	networks := 0
	for k := range t.Records {
		networks = max(networks, len(t.Records[k].Networks))
	}
	d := document.NewTable(document.Numbered("action_%d", 1, t.Decisions)...).Texts("seed", "accuracy").
		Numbers(document.UnitSeconds, "", document.Numbered("left_%d", 1, t.Decisions)...).
		Texts(document.Numbered("network_%d", 0, networks-1)...).Texts("profile", "graft", "libtorch")
	for k := range t.Records {
		for n := range t.Records[k].Seeds {
			d.Add(runCells(&t.Records[k], n, networks)...)
		}
	}
	return d.CSV(w)
}

// runCells returns the row of a record's run with one of its seeds.
func runCells(r *tables.Record, n, networks int) []any {
	named := make([]string, networks)
	copy(named, r.Networks)
	cells := append(document.Anys(r.Sequence), r.Seeds[n], r.Accuracy[n])
	return append(append(append(cells, document.Anys(r.Left)...), document.Anys(named)...), r.Profile, r.Graft,
		r.LibTorch)
}
