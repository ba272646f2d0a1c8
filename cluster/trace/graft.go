package trace

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"
)

// graftFormat is graft's own table. Its header has units, and the date of second zero if it is known. It contains all
// fields of a job and reads them back exactly. Only the ID, the submission, the duration and the GPUs are required.
var graftFormat = format{
	Format: Format{Name: "graft", About: "CSV with all fields of a job, and units in the header"},
	knows: func(head []byte) bool {
		return hasColumns(head, "id") && bytes.Contains(firstLine(head), []byte("submit [s"))
	},
	open:  openOurs,
	write: newOurWriter,
}

// ourSubmit is the name of the submission column if second zero has no date.
const ourSubmit, ourSince = "submit [s]", "submit [s since "

var ourColumns = []column{
	{[]string{"id"}, true, setID},
	{[]string{"user"}, false, setUser},
	{[]string{"vc"}, false, setVC},
	{[]string{"name"}, false, setName},
	{[]string{ourSubmit}, true, setSeconds},
	{[]string{"duration [s]"}, true, setDuration},
	{[]string{"gpus"}, true, setGPUs},
	{[]string{"share [1/1000]"}, false, setShare},
	{[]string{"cpus"}, false, setCPUs},
	{[]string{"state"}, false, setState},
	{[]string{"dataset"}, false, setDataset},
	{[]string{"model"}, false, setModel},
	{[]string{"batch"}, false, setBatch},
	{[]string{"amp"}, false, setAMP},
	{[]string{"speed [1/s]"}, false, setSpeed},
	{[]string{"gpu_util [%]"}, false, setGPUUtil},
	{[]string{"memory_util [%]"}, false, setMemoryUtil},
	{[]string{"memory [MiB]"}, false, setMemory},
	{[]string{ourRAM}, false, setRAM},
	{[]string{ourLimit}, false, setLimit},
	{[]string{ourType}, false, setGPUType},
	{[]string{"needs_type"}, false, setNeedsType},
	{[]string{ourSpot}, false, setSpot},
	{[]string{ourHistory}, false, setQOS},
	{[]string{"wait [s]"}, false, setWait},
	{[]string{"restarts"}, false, setRestarts},
	{[]string{"lost [s]"}, false, setLost},
	{[]string{"node_failures"}, false, setNodeFailures},
	{[]string{"failed_nodes"}, false, setFailedNodes},
}

// Names of columns, or of the first of several columns, that are written only if a job has a value.
const (
	ourRAM     = "ram [MiB]"
	ourLimit   = "limit [s]"
	ourType    = "gpu_type"
	ourSpot    = "spot"
	ourHistory = "qos"
)

// Columns selects optional columns of the format graft.
type Columns struct {
	RAM     bool // requested node memory
	Limit   bool // time limits
	Type    bool // types of GPUs
	Spot    bool // spot jobs
	History bool // waits, restarts and node failures
}

// ColumnsOf returns the optional columns in which any job has a value.
func ColumnsOf(jobs []Job) (c Columns) {
	for k := range jobs {
		job := &jobs[k]
		c.RAM = c.RAM || job.RAM > 0
		c.Limit = c.Limit || job.Limit > 0
		c.Type = c.Type || job.GPUType != "" || job.NeedsType
		c.Spot = c.Spot || job.Spot
		c.History = c.History || job.History != nil
	}
	return c
}

// omits reports whether the column with a name is left out. A column without a name of its own follows the previous
// one.
func (c Columns) omits(name string, before bool) bool {
	switch name {
	case ourRAM:
		return !c.RAM
	case ourLimit:
		return !c.Limit
	case ourType:
		return !c.Type
	case ourSpot:
		return !c.Spot
	case ourHistory:
		return !c.History
	}
	return before
}

// ours reads a table whose header has the date of second zero.
type ours struct {
	*table
	start clock
}

func (o *ours) clock() clock { return o.start }

func openOurs(source lines, options *Options) (rows, error) {
	t, err := readHeader(source)
	if err != nil {
		return nil, err
	}
	t.history = options.History
	o := &ours{table: t}
	for k, cell := range t.row {
		date, has := bytes.CutPrefix(cell, []byte(ourSince))
		if !has {
			continue
		}
		date = bytes.TrimSuffix(date, []byte("]"))
		unix, ok := t.dates.of(date)
		if !ok {
			return nil, t.faultAt(k, ourSubmit, isButWants(date, wantDate), mendLine)
		}
		o.start = clock{unix: unix, known: true}
		t.row[k] = []byte(ourSubmit)
	}
	if err := t.checkUnits(); err != nil {
		return nil, err
	}
	return o, t.bind("graft", ourColumns)
}

// checkUnits returns an error for a column that has another unit than the format, unless the header also has the column
// with the format's unit. Without the error, its values would be ignored.
func (t *table) checkUnits() error {
	for k, cell := range t.row {
		known := columnWithOtherUnit(string(cell))
		if known != "" && !slices.ContainsFunc(t.row, func(c []byte) bool { return string(c) == known }) {
			return t.faultAt(k, string(cell), "is not a column of this format, which has "+known,
				"convert the values, or rename the column")
		}
	}
	return nil
}

// columnWithOtherUnit returns the column of the format that differs from a name only in its unit, such as "limit [s]"
// for "limit [min]". It returns "" if there is none, or if the name itself is a column.
func columnWithOtherUnit(name string) (known string) {
	bare := func(name string) string { before, _, _ := strings.Cut(name, " ["); return before }
	for k := range ourColumns {
		switch c := ourColumns[k].names[0]; {
		case c == name:
			return ""
		case bare(c) == bare(name):
			known = c
		}
	}
	return known
}

func setSeconds(_ *table, job *Job, cell []byte) string {
	v, ok := seconds(cell)
	if !ok {
		return wantSeconds
	}
	job.Submit = v
	return ""
}

func setShare(_ *table, job *Job, cell []byte) string { return setCount(&job.Share, cell) }

type ourWriter struct {
	start   time.Time
	columns Columns
}

func newOurWriter(o *WriterOptions) jobWriter { return &ourWriter{o.Start, o.Columns} }

// header returns the names of the columns and second zero.
func (w *ourWriter) header(line []byte) []byte {
	omitted := false
	for k, c := range ourColumns {
		if omitted = w.columns.omits(c.names[0], omitted); omitted {
			continue
		}
		line = comma(line, k)
		if c.names[0] == ourSubmit && !w.start.IsZero() {
			line = append(w.start.UTC().AppendFormat(append(line, ourSince...), time.DateTime), ']')
			continue
		}
		line = append(line, c.names[0]...)
	}
	return append(line, '\n')
}

func (w *ourWriter) job(line []byte, job *Job) ([]byte, error) {
	line = appendCells(line, job.ID, job.User, job.VC, job.Name)
	for _, v := range [...]int64{job.Submit, job.Duration, int64(job.GPUs), int64(job.Share), int64(job.CPUs)} {
		line = strconv.AppendInt(append(line, ','), v, 10)
	}
	line = append(append(line, ','), job.State.String()...)
	training := job.Trains()
	line = appendCells(append(line, ','), training.Dataset, training.Model)
	line = strconv.AppendInt(append(line, ','), int64(training.Batch), 10)
	line = appendSwitch(append(line, ','), training.AMP)
	for _, v := range [...]float64{training.Speed, training.GPUUtil, training.MemoryUtil, training.Memory} {
		line = strconv.AppendFloat(append(line, ','), v, 'g', -1, 64)
	}
	return append(w.optional(line, job), '\n'), nil
}

// optional appends the cells of the optional columns.
func (w *ourWriter) optional(line []byte, job *Job) []byte {
	if w.columns.RAM {
		line = strconv.AppendInt(append(line, ','), job.RAM, 10)
	}
	if w.columns.Limit {
		line = strconv.AppendInt(append(line, ','), job.Limit, 10)
	}
	if w.columns.Type {
		line = AppendCell(append(line, ','), job.GPUType)
		line = appendSwitch(append(line, ','), job.NeedsType)
	}
	if w.columns.Spot {
		line = appendSwitch(append(line, ','), job.Spot)
	}
	if w.columns.History {
		line = appendHistory(append(line, ','), job.History)
	}
	return line
}

// appendHistory appends the cells of a history; all are empty if the job has none.
func appendHistory(line []byte, h *History) []byte {
	if h == nil {
		return append(line, ",,,,,"...)
	}
	line = append(AppendCell(line, h.QOS), ',')
	if h.Started {
		line = strconv.AppendInt(line, h.Wait, 10)
	}
	for _, v := range [...]int64{int64(h.Restarts), h.Lost, int64(h.NodeFailures)} {
		line = strconv.AppendInt(append(line, ','), v, 10)
	}
	return AppendCell(append(line, ','), h.FailedNodes)
}

func appendSwitch(line []byte, on bool) []byte {
	if on {
		return append(line, '1')
	}
	return append(line, '0')
}
