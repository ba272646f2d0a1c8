package trace

import (
	"bytes"
	"strconv"
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
}

// Names of columns that are written only if a job has a value.
const (
	ourRAM   = "ram [MiB]"
	ourLimit = "limit [s]"
)

// ours reads a table whose header has the date of second zero.
type ours struct {
	*table
	start clock
}

func (o *ours) clock() clock { return o.start }

func openOurs(source lines, _ *Options) (rows, error) {
	t, err := readHeader(source)
	if err != nil {
		return nil, err
	}
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
	return o, t.bind("graft", ourColumns)
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
	start time.Time
	ram   bool // write a column for memory
	limit bool // write a column for time limits
}

func newOurWriter(o *WriterOptions) jobWriter { return &ourWriter{o.Start, o.RAM, o.Limit} }

// header returns the names of the columns and second zero.
func (w *ourWriter) header(line []byte) []byte {
	for k, c := range ourColumns {
		if c.names[0] == ourRAM && !w.ram || c.names[0] == ourLimit && !w.limit {
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
	line = appendCells(append(line, ','), job.Dataset, job.Model)
	line = strconv.AppendInt(append(line, ','), int64(job.Batch), 10)
	line = append(line, ',', '0')
	if job.AMP {
		line[len(line)-1] = '1'
	}
	for _, v := range [...]float64{job.Speed, job.GPUUtil, job.MemoryUtil, job.Memory} {
		line = strconv.AppendFloat(append(line, ','), v, 'g', -1, 64)
	}
	if w.ram {
		line = strconv.AppendInt(append(line, ','), job.RAM, 10)
	}
	if w.limit {
		line = strconv.AppendInt(append(line, ','), job.Limit, 10)
	}
	return append(line, '\n'), nil
}
