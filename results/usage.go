package results

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"graft/internal/files"
)

// UsageFile is the name of a table of [UsageRow] beneath the folder of a simulated
// cluster.
const UsageFile = "usage.csv"

// UsageRow is the use of a pool of a cluster at a second.
type UsageRow struct {
	Pool        string
	At          int64 // second of the trace
	GPUs        int64
	Idle        int64 // GPUs without a job
	Running     int64 // jobs
	Waiting     int64 // jobs
	WaitingGPUs int64 // that the waiting jobs ask for
	WaitingFew  int64 // waiting jobs that one node could hold
	Nodes       int64
	Single      int64 // nodes with one job
	Several     int64 // nodes with more than one
}

// poolColumn is the first column of a table of usage.
const poolColumn = "vc"

// usageColumns are the other columns, in the order of the file.
var usageColumns = []struct {
	name  string
	field func(r *UsageRow) *int64
}{
	{"time [s]", func(r *UsageRow) *int64 { return &r.At }},
	{"gpus", func(r *UsageRow) *int64 { return &r.GPUs }},
	{"idle_gpus", func(r *UsageRow) *int64 { return &r.Idle }},
	{"running_jobs", func(r *UsageRow) *int64 { return &r.Running }},
	{"waiting_jobs", func(r *UsageRow) *int64 { return &r.Waiting }},
	{"waiting_gpus", func(r *UsageRow) *int64 { return &r.WaitingGPUs }},
	{"waiting_jobs_of_a_node", func(r *UsageRow) *int64 { return &r.WaitingFew }},
	{"nodes", func(r *UsageRow) *int64 { return &r.Nodes }},
	{"nodes_with_a_job", func(r *UsageRow) *int64 { return &r.Single }},
	{"nodes_with_several", func(r *UsageRow) *int64 { return &r.Several }},
}

// WriteUsage writes a table of usage.
func WriteUsage(w io.Writer, rows iter.Seq[UsageRow]) error {
	b := bufio.NewWriterSize(w, readBuffer)
	line := []byte(poolColumn)
	for _, c := range usageColumns {
		line = append(append(line, ','), c.name...)
	}
	_, _ = b.Write(append(line, '\n')) // Flush returns the first error
	for row := range rows {
		line = appendPlain(line[:0], row.Pool)
		for _, c := range usageColumns {
			line = strconv.AppendInt(append(line, ','), *c.field(&row), 10)
		}
		if _, err := b.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return b.Flush()
}

// appendPlain adds a text in quotes only where it needs them.
func appendPlain(line []byte, text string) []byte {
	if !strings.ContainsAny(text, ",\"\r\n") {
		return append(line, text...)
	}
	return append(append(append(line, '"'), strings.ReplaceAll(text, `"`, `""`)...), '"')
}

// EachUsage calls do for each row of a table of usage, until it returns an error. Columns
// are found by name; others may stand beside them.
func EachUsage(fsys files.FS, path string, do func(r UsageRow) error) error {
	if err := ReadTable(fsys, path, func(r io.Reader) error { return eachUsage(r, do) }); err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	return nil
}

func eachUsage(r io.Reader, do func(r UsageRow) error) error {
	rows := csv.NewReader(r)
	rows.ReuseRecord = true
	head, err := rows.Read()
	if err != nil {
		return fmt.Errorf("the line that names the columns: %w", err)
	}
	pool, places, err := usagePlaces(head)
	if err != nil {
		return err
	}
	for {
		cells, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		row := UsageRow{Pool: strings.Clone(cells[pool])}
		for k, c := range usageColumns {
			if *c.field(&row), err = strconv.ParseInt(cells[places[k]], 10, 64); err != nil {
				line, _ := rows.FieldPos(places[k])
				return fmt.Errorf("line %d: column %s: %.100q is no whole number", line, c.name, cells[places[k]])
			}
		}
		if err := do(row); err != nil {
			return err
		}
	}
}

// usagePlaces finds the columns.
func usagePlaces(head []string) (pool int, places []int, err error) {
	place := func(name string) int {
		k := slices.Index(head, name)
		if k < 0 && err == nil {
			err = fmt.Errorf("there is no column %q among %.200q", name, head)
		}
		return k
	}
	pool = place(poolColumn)
	for _, c := range usageColumns {
		places = append(places, place(c.name))
	}
	return pool, places, err
}
