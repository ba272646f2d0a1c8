package trace

import (
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"graft/internal/files"
	"graft/internal/validate"
)

// jobWriter converts jobs to lines of a format, which it appends to the given bytes.
type jobWriter interface {
	header(line []byte) []byte
	job(line []byte, job *Job) ([]byte, error)
}

// WriterOptions holds the options of the output. The zero value selects graft's own format, without a date.
type WriterOptions struct {
	Format string // writable format, one of [Formats]; empty means graft
	// date of time 0, in UTC and in whole seconds; if unset, submissions are written in seconds instead of dates
	Start      time.Time
	Nodes      int // number of nodes of the cluster, for the header of format swf; zero omits it
	Processors int // number of GPUs of the cluster, for the header of format swf; zero omits it
	// optional columns to write, if the format is graft; the zero value writes none
	Columns Columns
}

// EnsureDefaults replaces zero values with defaults.
func (o *WriterOptions) EnsureDefaults() {
	o.Format = cmp.Or(o.Format, graftFormat.Name)
	o.Start = o.Start.Truncate(time.Second)
}

// Validate returns an error that lists every invalid option.
func (o *WriterOptions) Validate() error {
	var faults validate.Faults
	if f := formatOf(o.Format); f == nil || f.write == nil {
		var can []string
		for _, f := range Formats() {
			if f.Writable {
				can = append(can, f.Name)
			}
		}
		faults = append(faults, fmt.Errorf("cannot write format %.40q; expected one of: %s", o.Format,
			strings.Join(can, ", ")))
	}
	if y := o.Start.UTC().Year(); !o.Start.IsZero() && (y < 0 || y > 9999) {
		faults = append(faults, fmt.Errorf("the trace starts in the year %d; expected 0 to 9999", y))
	}
	faults.When(o.Nodes < 0 || o.Processors < 0,
		"the cluster has %d nodes and %d processors; expected at least 0", o.Nodes, o.Processors)
	return errors.Join(faults...)
}

// Writer writes a trace job by job, in a format that a [Reader] reads.
type Writer struct {
	to   io.Writer
	jobs jobWriter
	line []byte
	err  error // error of earlier writes
}

// NewWriter creates a writer and writes the header. It does not buffer its output.
func NewWriter(to io.Writer, o WriterOptions) (*Writer, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	w := &Writer{to: to, jobs: formatOf(o.Format).write(&o)}
	w.line = w.jobs.header(w.line)
	_, w.err = to.Write(w.line)
	return w, w.err
}

// Write writes a job. It returns an error for a job that a Reader could not read back.
func (w *Writer) Write(job *Job) error {
	if w.err != nil {
		return w.err
	}
	if w.err = job.validate(); w.err != nil {
		return w.err
	}
	if w.line, w.err = w.jobs.job(w.line[:0], job); w.err != nil {
		return w.err
	}
	if len(w.line) > maxLine {
		w.err = fmt.Errorf("the row of job %.40q has %d bytes; expected at most %d; shorten its names", job.ID,
			len(w.line), maxLine)
		return w.err
	}
	_, w.err = w.to.Write(w.line)
	return w.err
}

// validate returns the fields of a job that every reader rejects.
func (job *Job) validate() error {
	if job.ID == "" {
		return errors.New("a job has no ID; expected a unique ID")
	}
	for _, v := range []int64{job.Submit, job.Duration} {
		if v < -maxSeconds || v > maxSeconds {
			return fmt.Errorf("job %.40q has a time of %d s; expected at most %d s", job.ID, v, int64(maxSeconds))
		}
	}
	training := job.Trains()
	for k, n := range []int{job.GPUs, job.Share, job.CPUs, training.Batch} {
		if n < 0 || n > maxCount {
			return fmt.Errorf("job %.40q: the number of %s is %d; expected 0 to %d", job.ID,
				[]string{"GPUs", "thousandths of a GPU", "CPUs", "examples per batch"}[k], n, maxCount)
		}
	}
	for k, v := range []float64{training.Speed, training.GPUUtil, training.MemoryUtil, training.Memory} {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return fmt.Errorf("job %.40q: the %s is %v; expected a finite number", job.ID,
				[]string{"speed", "GPU utilization", "memory utilization", "GPU memory"}[k], v)
		}
	}
	if job.Limit < 0 || job.Limit > maxSeconds {
		return fmt.Errorf("job %.40q has a time limit of %d s; expected 0 to %d s", job.ID, job.Limit,
			int64(maxSeconds))
	}
	if job.RAM < 0 || job.RAM > maxCount {
		return fmt.Errorf("job %.40q requests %d MiB of memory; expected 0 to %d", job.ID, job.RAM, maxCount)
	}
	return job.History.validate(job.ID)
}

func (h *History) validate(id string) error {
	if h == nil {
		return nil
	}
	for k, v := range []int64{h.Wait, h.Lost} {
		if v < 0 || v > maxSeconds {
			return fmt.Errorf("job %.40q has a %s of %d s; expected 0 to %d s", id,
				[]string{"wait", "lost run time"}[k], v, int64(maxSeconds))
		}
	}
	for k, n := range []int{h.Restarts, h.NodeFailures} {
		if n < 0 || n > maxCount {
			return fmt.Errorf("job %.40q: the number of %s is %d; expected 0 to %d", id,
				[]string{"restarts", "node failures"}[k], n, maxCount)
		}
	}
	return nil
}

// WriteFile atomically writes a trace file. The callback fill passes the jobs to the writer. If the path ends in .gz,
// the file is compressed. If the file exists, it is replaced if force is true; otherwise WriteFile returns an error
// that wraps fs.ErrExist.
func WriteFile(fsys files.FS, path string, o WriterOptions, force bool, fill func(*Writer) error) error {
	put := files.WriteNew
	if force {
		put = files.WriteAtomic
	}
	return put(fsys, path, func(to io.Writer) error {
		if !strings.HasSuffix(path, ".gz") {
			return filled(to, o, fill)
		}
		zipped := gzip.NewWriter(to)
		return errors.Join(filled(zipped, o, fill), zipped.Close())
	})
}

func filled(to io.Writer, o WriterOptions, fill func(*Writer) error) error {
	w, err := NewWriter(to, o)
	if err != nil {
		return err
	}
	return fill(w)
}

func comma(line []byte, k int) []byte {
	if k > 0 {
		return append(line, ',')
	}
	return line
}

// appendCells appends texts separated by commas.
func appendCells(line []byte, cells ...string) []byte {
	for k, cell := range cells {
		line = AppendCell(comma(line, k), cell)
	}
	return line
}

// appendPositive appends a number; zero, which means none, is left empty.
func appendPositive(line []byte, v float64) []byte {
	if v == 0 {
		return line
	}
	return strconv.AppendFloat(line, v, 'f', -1, 64)
}

// appendTime appends a submission, as a date if second zero has one.
func appendTime(line []byte, start time.Time, submit int64) ([]byte, error) {
	if start.IsZero() {
		return strconv.AppendInt(line, submit, 10), nil
	}
	at := time.Unix(start.Unix()+submit, 0).UTC()
	if y := at.Year(); y < 0 || y > 9999 {
		return nil, fmt.Errorf("second %d is in the year %d; the format supports years 0 to 9999", submit, y)
	}
	return at.AppendFormat(line, time.DateTime), nil
}

// AppendCell appends a cell of a table to a line, quoted if necessary.
func AppendCell(line []byte, cell string) []byte {
	if !strings.ContainsAny(cell, ",\"\r\n") {
		return append(line, cell...)
	}
	return append(append(append(line, '"'), strings.ReplaceAll(cell, `"`, `""`)...), '"')
}
