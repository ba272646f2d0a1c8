package trace

import (
	"fmt"
	"slices"
)

// column is a field of a table: its names in headers, and its meaning for a job.
type column struct {
	names    []string // possible names in a header; errors use the first
	required bool     // a file without it is invalid
	// set stores a cell in a job; if it cannot, it returns the expected value.
	set func(t *table, job *Job, cell []byte) (want string)
}

// table reads comma-separated values. It finds columns by name.
type table struct {
	cells
	width   int      // cells per row
	columns []column // by position; a column without set is ignored
	dates   dates
	dated   bool // submissions are dates
	begun   bool // a row was read, so that dated is valid

	began, over int64 // times of the row, in formats without durations

	scratch   slurmScratch // of the format slurm
	perWorker perWorker    // of the format alibaba2026

	history   bool    // the option History
	discarded History // values of jobs without the option History

	ids arena

	training  Training // of the row
	trainings trainings

	users, vcs, titles, datasets, models, types, classes interner
}

// openTable reads the header and finds the columns.
func openTable(source lines, kind string, known []column) (*table, error) {
	t, err := readHeader(source)
	if err != nil {
		return nil, err
	}
	return t, t.bind(kind, known)
}

// readHeader reads the first row and leaves it in row.
func readHeader(source lines) (*table, error) { return readHeaderOf(cells{lines: source}) }

func readHeaderOf(source cells) (*table, error) {
	t := &table{cells: source}
	err := t.cells.next()
	if isEOF(err) {
		return nil, source.fault(0, 0, "", "the file is empty", "name a trace with at least one line")
	}
	return t, err
}

// bind matches columns with the names of the header.
func (t *table) bind(kind string, known []column) error {
	t.width = len(t.row)
	t.columns = make([]column, t.width)
	found := map[string]bool{}
	for k, cell := range t.row {
		c := named(known, string(cell))
		if c == nil {
			continue
		}
		if found[c.names[0]] {
			return t.faultAt(k, c.names[0], "is a duplicate column", "remove one of the columns")
		}
		t.columns[k], found[c.names[0]] = *c, true
	}
	for _, c := range known {
		if c.required && !found[c.names[0]] {
			return t.fault(t.first, 0, "",
				fmt.Sprintf("the header has no column %s, which a %s trace needs", c.names[0], kind),
				"add the column, or "+setFormat)
		}
	}
	return nil
}

// named returns the column with a header name; nil if none exists.
func named(known []column, name string) *column {
	for k := range known {
		if slices.Contains(known[k].names, name) {
			return &known[k]
		}
	}
	return nil
}

func (t *table) next(job *Job) error {
	if err := t.cells.next(); err != nil {
		return err
	}
	return t.take(job)
}

// take converts the cells of the row.
func (t *table) take(job *Job) error {
	if len(t.row) != t.width {
		return t.wrongCount(t.width)
	}
	*job, t.training = Job{}, Training{}
	for k := range t.columns {
		set := t.columns[k].set
		if set == nil {
			continue
		}
		if want := set(t, job, t.row[k]); want != "" {
			return t.faultAt(k, t.columns[k].names[0], isButWants(t.row[k], want), mendLine)
		}
	}
	job.Training = t.trainings.of(&t.training)
	t.begun = true
	return nil
}

func (t *table) clock() clock { return clock{known: t.dated, dates: t.dated} }

func (t *table) line() int { return t.first }

// Expected values of cells.
const (
	wantID      = "a job ID"
	wantCount   = "a whole number from 0 to 2147483647"
	wantSeconds = "a number of seconds"
	wantDate    = "a date such as 2020-04-01 00:02:30"
	wantTime    = wantDate + ", or a number of seconds"
	wantNumber  = "a number"
	wantSwitch  = "0 or 1"
)

func setID(t *table, job *Job, cell []byte) string {
	if len(cell) == 0 {
		return wantID
	}
	job.ID = t.ids.of(cell)
	return ""
}

func setUser(t *table, job *Job, cell []byte) string {
	job.User = t.users.of(cell)
	return ""
}

func setVC(t *table, job *Job, cell []byte) string {
	job.VC = t.vcs.of(cell)
	return ""
}

func setName(t *table, job *Job, cell []byte) string {
	job.Name = t.titles.of(cell)
	return ""
}

func setDataset(t *table, _ *Job, cell []byte) string {
	t.training.Dataset = t.datasets.of(cell)
	return ""
}

func setModel(t *table, _ *Job, cell []byte) string {
	t.training.Model = t.models.of(cell)
	return ""
}

func setState(_ *table, job *Job, cell []byte) string {
	job.State = stateOf(cell)
	return ""
}

// setSubmit reads a date or seconds. The first row determines the kind for all rows, since mixed kinds would have two
// origins.
func setSubmit(t *table, job *Job, cell []byte) string {
	if unix, ok := t.dates.of(cell); ok && (t.dated || !t.begun) {
		job.Submit, t.dated = unix, true
		return ""
	}
	v, ok := seconds(cell)
	switch {
	case ok && !t.dated:
		job.Submit = v
		return ""
	case t.dated:
		return wantDate + ", as in earlier lines"
	case t.begun:
		return wantSeconds + ", as in earlier lines"
	}
	return wantTime
}

func setDuration(_ *table, job *Job, cell []byte) string {
	v, ok := seconds(cell)
	if !ok && !isMissing(cell) {
		return wantSeconds
	}
	job.Duration = v
	return ""
}

func setLimit(_ *table, job *Job, cell []byte) string {
	v, ok := seconds(cell)
	if !ok && !isMissing(cell) || v < 0 {
		return wantSeconds
	}
	job.Limit = v
	return ""
}

func setGPUs(_ *table, job *Job, cell []byte) string { return setCount(&job.GPUs, cell) }
func setCPUs(_ *table, job *Job, cell []byte) string { return setCount(&job.CPUs, cell) }
func setBatch(t *table, _ *Job, cell []byte) string  { return setCount(&t.training.Batch, cell) }

func setSpeed(t *table, _ *Job, cell []byte) string   { return setNumber(&t.training.Speed, cell) }
func setGPUUtil(t *table, _ *Job, cell []byte) string { return setNumber(&t.training.GPUUtil, cell) }
func setMemoryUtil(t *table, _ *Job, cell []byte) string {
	return setNumber(&t.training.MemoryUtil, cell)
}
func setMemory(t *table, _ *Job, cell []byte) string { return setNumber(&t.training.Memory, cell) }

func setCount(to *int, cell []byte) string {
	v, ok := count(cell)
	if !ok && !isMissing(cell) {
		return wantCount
	}
	*to = v
	return ""
}

func setNumber(to *float64, cell []byte) string {
	v, ok := decimal(cell)
	if !ok && !isMissing(cell) {
		return wantNumber
	}
	*to = v
	return ""
}

func setAMP(t *table, _ *Job, cell []byte) string { return setSwitch(&t.training.AMP, cell) }

func setGPUType(t *table, job *Job, cell []byte) string {
	job.GPUType = t.types.of(cell)
	return ""
}

func setSwitch(to *bool, cell []byte) string {
	switch string(cell) {
	case "0", "0.0", "False", "false":
	case "1", "1.0", "True", "true":
		*to = true
	default:
		if !isMissing(cell) {
			return wantSwitch
		}
	}
	return ""
}
