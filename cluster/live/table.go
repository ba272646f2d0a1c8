package live

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"path/filepath"
	"strconv"

	"graft/internal/files"
	"graft/results"
)

// Table is the name of the table with the timelines of live jobs, in the folder of a simulation.
const Table = "timelines"

// Columns of the table of jobs with the folders of a live job's trainings in the run folder, for jobs that end by their
// losses.
const (
	AdaptiveColumn = "live_training"
	NeverColumn    = "live_training_never"
)

// Columns returns the columns of the table. The last row of a job has zero devices, at the end of the job.
func Columns() []results.Column {
	return []results.Column{{Name: "job", Kind: results.String}, {Name: "time", Unit: "s"},
		{Name: "devices", Kind: results.Int}, {Name: "waits", Kind: results.Int}}
}

// Named is the timeline of a job.
type Named struct {
	Job string // ID of the job in the trace
	Timeline
}

// largestTable limits the size of a table, in bytes.
const largestTable = 1 << 28

// ReadTable reads the timelines of a simulation, in the order of the jobs' starts. Unlike package results, it reads IDs
// of digits as texts.
func ReadTable(fsys files.FS, folder string) (list []Named, err error) {
	path := filepath.Join(folder, Table+".csv")
	text, err := files.ReadAll(fsys, path, largestTable)
	if err != nil {
		return nil, fmt.Errorf("read timelines: %w", err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read timelines %s: %w", path, err)
	}
	for k, row := range rows {
		if k == 0 {
			continue
		}
		if list, err = add(list, row); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, k+1, err)
		}
	}
	return list, nil
}

// add adds a row of the table to the timelines.
func add(list []Named, row []string) ([]Named, error) {
	if len(row) != len(Columns()) {
		return nil, fmt.Errorf("got %d columns, expected %d", len(row), len(Columns()))
	}
	at, err := strconv.ParseFloat(row[1], 64)
	if err != nil {
		return nil, fmt.Errorf("time is %q; expected a number", row[1])
	}
	devices, err := strconv.Atoi(row[2])
	if err != nil {
		return nil, fmt.Errorf("devices is %q; expected a whole number", row[2])
	}
	waits, err := strconv.Atoi(row[3])
	if err != nil {
		return nil, fmt.Errorf("waits is %q; expected a whole number", row[3])
	}
	if n := len(list); n == 0 || list[n-1].Job != row[0] {
		return append(list, Named{row[0], Timeline{First: devices, Waits: waits}}), nil
	}
	list[len(list)-1].next(at, devices)
	return list, nil
}

// next adds a change or, without devices, the end.
func (t *Timeline) next(at float64, devices int) {
	if devices == 0 {
		t.Budget = at
		return
	}
	before := t.First
	if n := len(t.Changes); n > 0 {
		before = t.Changes[n-1].Devices
	}
	t.Changes = append(t.Changes, Change{at, devices, devices > before})
}
