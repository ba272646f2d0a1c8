package runs

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"graft/internal/failure"
	"graft/results"
)

// NodeSpan is a row of spans.csv: a period in which a task or job used a device. Times are in seconds.
type NodeSpan struct {
	Task  string  // name of the task
	Group string  // kind of the task or, without a kind, its flow; empty means neither
	GPU   int     // number of the GPU
	Lane  int     // number of the lane on the GPU; tasks that share a GPU have different lanes
	From  float64 // start of the period, since the start of the run
	To    float64 // end of the period, not before From
	Cores float64 // percentage of the GPU's cores that the task keeps busy when it runs alone
	End   string  // end of the period: completed, stopped or failed
}

// maxPlaces limits numbers of GPUs and lanes in tables.
const maxPlaces = 1 << 20

// NodeSpansFile is the name of the table with one row per period in which a task ran on a device.
const NodeSpansFile = "spans.csv"

// NodeSpans reads the periods in which tasks used devices from spans.csv in a subfolder of a run folder.
func NodeSpans(r *Run, folder string) (all []NodeSpan, err error) {
	err = eachRow(r, filepath.Join(folder, NodeSpansFile), func(row *tableRow) {
		s := NodeSpan{Task: row.text("task"), GPU: row.place("gpu"), Lane: row.place("lane"),
			From: row.number("from_seconds"), To: row.number("to_seconds"), Cores: row.number("cores"),
			End: row.text("end")}
		if row.has("group") { // runs of earlier versions have none
			s.Group = row.text("group")
		}
		if s.To < s.From {
			row.fault("to_seconds", "the end is before the start in column \"from_seconds\"")
		}
		all = append(all, s)
	})
	return all, err
}

// tableRow is a row of a table, accessed by column name. It keeps its first fault.
type tableRow struct {
	at    map[string]int
	cells []string
	err   error
}

func (r *tableRow) has(column string) bool { _, has := r.at[column]; return has }

func (r *tableRow) text(column string) string {
	k, has := r.at[column]
	if !has {
		r.err = cmp.Or(r.err, fmt.Errorf("column %q not found", column))
		return ""
	}
	return r.cells[k]
}

func (r *tableRow) number(column string) float64 {
	v, err := strconv.ParseFloat(r.text(column), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		r.fault(column, "expected a finite number")
	}
	return v
}

func (r *tableRow) place(column string) int {
	v, err := strconv.Atoi(r.text(column))
	if err != nil || v < 0 || v > maxPlaces {
		r.fault(column, fmt.Sprintf("expected an integer from 0 to %d", maxPlaces))
	}
	return v
}

func (r *tableRow) fault(column, says string) {
	if r.err == nil {
		r.err = fmt.Errorf("column %s is %.100q; %s", column, r.text(column), says)
	}
}

// eachRow reads a table of a run folder.
func eachRow(r *Run, name string, read func(row *tableRow)) error {
	path := filepath.Join(r.Path, name)
	err := results.ReadTable(r.Files, path, func(in io.Reader) error {
		rows := csv.NewReader(in)
		head, err := rows.Read()
		if err != nil {
			return fmt.Errorf("header: %w", err)
		}
		rows.ReuseRecord = true
		row := &tableRow{at: map[string]int{}}
		for k, column := range slices.Clone(head) {
			row.at[column] = k
		}
		for {
			row.cells, err = rows.Read()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			if read(row); row.err != nil {
				line, _ := rows.FieldPos(0)
				return fmt.Errorf("line %d: %w", line, row.err)
			}
		}
	})
	if err != nil {
		return failure.AsDamage(fmt.Errorf("read %s: %w", path, err))
	}
	return nil
}
