package trace

import (
	"strconv"
	"time"
)

// heliosFormat is the published table of SenseTime's clusters, with the columns that Lucid's simulator adds:
// the workload of a job, and its measurements alone.
var heliosFormat = format{
	Format: Format{Name: "helios", About: "CSV of the Helios clusters, with Lucid's additional columns"},
	knows:  func(head []byte) bool { return hasColumns(head, "job_id", "gpu_num", "submit_time", "duration") },
	open: func(source lines, o *Options) (rows, error) {
		t, err := openTable(source, "helios", heliosColumns)
		if err != nil || !o.History {
			return t, err
		}
		return withWaits(t), nil
	},
	write: newHeliosWriter,
}

// heliosColumns lists the columns that are read; the published logs have more.
var heliosColumns = []column{
	{[]string{"job_id"}, true, setID},
	{[]string{"user"}, false, setUser},
	{[]string{"vc"}, false, setVC},
	{[]string{"jobname"}, false, setName},
	{[]string{"gpu_num"}, true, setGPUs},
	{[]string{"cpu_num"}, false, setCPUs},
	{[]string{"state"}, false, setState},
	{[]string{"submit_time"}, true, setSubmit},
	{[]string{"duration"}, true, setDuration},
	{[]string{"dataset"}, false, setDataset},
	{[]string{"model"}, false, setModel},
	{[]string{"batchsize"}, false, setBatch},
	{[]string{"amp"}, false, setAMP},
	{[]string{"speed"}, false, setSpeed},
	{[]string{"gpu_util"}, false, setGPUUtil},
	{[]string{"gmem_util"}, false, setMemoryUtil},
	{[]string{"gmem"}, false, setMemory},
}

// helios adds the waits of jobs.
type helios struct {
	*table
	start int // column of starts
}

// withWaits reads the column start_time too, if the table has it. Without the option History, the column may have any
// content.
func withWaits(t *table) rows {
	h := &helios{table: t, start: columnOf(t.row, "start_time")}
	if h.start < 0 {
		return t
	}
	t.history = true
	t.columns[h.start] = column{[]string{"start_time"}, false, setSlurmStart}
	return h
}

func (h *helios) next(job *Job) error {
	h.began = missing
	if err := h.table.next(job); err != nil {
		return err
	}
	if h.began != missing {
		r := h.record(job)
		r.Wait, r.Started = between(job.Submit, h.began)
	}
	return nil
}

// heliosWriter writes the columns in Lucid's order. Missing values are empty. A share of a device is empty too, since
// it has no column.
type heliosWriter struct{ start time.Time }

func newHeliosWriter(o *WriterOptions) jobWriter { return &heliosWriter{o.Start} }

// header returns the names of the columns.
func (*heliosWriter) header(line []byte) []byte {
	for k, c := range heliosColumns {
		line = comma(line, k)
		line = append(line, c.names[0]...)
	}
	return append(line, '\n')
}

func (w *heliosWriter) job(line []byte, job *Job) ([]byte, error) {
	line = appendCells(line, job.ID, job.User, job.VC, job.Name)
	line = strconv.AppendInt(append(line, ','), int64(job.GPUs), 10)
	line = strconv.AppendInt(append(line, ','), int64(job.CPUs), 10)
	line = append(append(line, ','), job.State.String()...)
	line, err := appendTime(append(line, ','), w.start, job.Submit)
	if err != nil {
		return nil, err
	}
	line = strconv.AppendInt(append(line, ','), job.Duration, 10)
	training := job.Trains()
	line = appendCells(append(line, ','), training.Dataset, training.Model)
	line = appendPositive(append(line, ','), float64(training.Batch))
	line = appendSwitch(append(line, ','), training.AMP)
	for _, v := range []float64{training.Speed, training.GPUUtil, training.MemoryUtil, training.Memory} {
		line = appendPositive(append(line, ','), v)
	}
	return append(line, '\n'), nil
}
