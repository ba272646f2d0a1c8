package trace

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"graft/internal/files"
)

// rows reads a format job by job, in the order of the file.
type rows interface {
	// next fills in a cleared job; io.EOF marks the end.
	next(job *Job) error
	// clock returns the origin of submissions. It is known after the first job.
	clock() clock
	// line returns the line at which the last job begins.
	line() int
}

// clock is the origin of the submissions of a file.
type clock struct {
	unix  int64 // second zero, in seconds since 1970
	known bool  // unix is known
	dates bool  // rows have dates, so that the reader chooses second zero
}

// Reader reads a trace job by job. Its memory use does not grow with the number of jobs: it holds a line and a limited
// number of names.
type Reader struct {
	format *format
	o      Options
	vcs    map[string]bool
	rows   rows
	file   io.Closer // may be nil
	size   int64     // bytes of the file, which may be compressed; zero if unknown
	passed *passed   // bytes of the file that were read; nil without a file

	first     Job // read ahead, since second zero may depend on it
	firstLine int
	ahead     bool
	lastLine  int
	zero      int64 // subtracted from the submissions of rows
	err       error // ends the reading
}

// Open opens a trace, which may be compressed with gzip. With a window, it reads the trace once before: the earliest
// job determines time 0, and rows can have any order.
func Open(fsys files.FS, path string, o Options) (*Reader, error) {
	r, err := open(fsys, path, o)
	if err != nil || o.Window == nil || !r.rows.clock().dates {
		return r, err
	}
	first, err := r.earliest()
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	if r, err = open(fsys, path, o); err == nil {
		r.zero = o.Origin.of(first)
	}
	return r, err
}

// earliest reads the trace to its end, or to its first fault, which the next reader reports. It returns the earliest
// submission in the file's own times.
func (r *Reader) earliest() (int64, error) {
	first, job := int64(math.MaxInt64), Job{}
	for {
		err := r.next(&job)
		if err != nil {
			if isEOF(err) || errors.Is(err, ErrMalformed) {
				err = nil
			}
			return first, err
		}
		first = min(first, job.Submit)
	}
}

func open(fsys files.FS, path string, o Options) (*Reader, error) {
	if o.JobTable != "" {
		var err error
		if o.owners, err = readOwners(fsys, o.JobTable); err != nil {
			return nil, err
		}
	}
	file, err := fsys.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	counted := &passed{in: file}
	r, err := NewReader(counted, path, o)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	r.file, r.passed = file, counted
	if info, err := file.Stat(); err == nil { // the size only saves memory
		r.size = info.Size()
	}
	return r, nil
}

// passed counts the bytes that pass through it.
type passed struct {
	in    io.Reader
	bytes int64
}

// Read reads from the input.
func (p *passed) Read(to []byte) (int, error) {
	n, err := p.in.Read(to)
	p.bytes += int64(n)
	return n, err
}

// NewReader reads a trace from a stream. Errors contain the given path. It opens no file, so it ignores the option
// JobTable.
func NewReader(in io.Reader, path string, o Options) (*Reader, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	text, err := plainText(in, path)
	if err != nil {
		return nil, err
	}
	f, err := told(text, path, o.Format)
	if err != nil {
		return nil, err
	}
	source := lines{in: text, path: path}
	rows, err := f.open(source, &o)
	if err != nil {
		return nil, err
	}
	r := &Reader{format: f, o: o, rows: rows}
	if len(o.VCs) > 0 {
		r.vcs = map[string]bool{}
	}
	for _, name := range o.VCs {
		r.vcs[name] = true
	}
	r.readAhead()
	return r, nil
}

// plainText removes compression and a byte order mark.
func plainText(in io.Reader, path string) (*bufio.Reader, error) {
	text := bufio.NewReaderSize(in, readBuffer)
	if head, _ := text.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(text)
		if err != nil {
			return nil, (&lines{path: path}).ended(err)
		}
		text = bufio.NewReaderSize(unzipped, readBuffer)
	}
	if mark, _ := text.Peek(3); string(mark) == "\ufeff" {
		_, _ = text.Discard(3) // already peeked
	}
	return text, nil
}

func isDamagedGzip(err error) bool {
	return errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, new(flate.CorruptInputError))
}

// readAhead reads the first kept job. Read returns earlier errors.
func (r *Reader) readAhead() {
	if r.err = r.kept(&r.first); r.err != nil {
		return
	}
	r.ahead, r.firstLine = true, r.rows.line()
	if r.rows.clock().dates {
		first := r.first.Submit
		if h, holds := r.rows.(interface{ earliest(int64) int64 }); holds {
			first = h.earliest(first)
		}
		r.zero = r.o.Origin.of(first)
	}
}

// kept returns the next kept job, ignoring the window, with the file's own times.
func (r *Reader) kept(job *Job) error {
	for {
		if err := r.rows.next(job); err != nil {
			return err
		}
		if r.keeps(job) {
			return nil
		}
	}
}

func (r *Reader) keeps(job *Job) bool {
	if r.o.OnlyGPU && job.GPUs == 0 || r.vcs != nil && !r.vcs[job.VC] {
		return false
	}
	c := r.rows.clock()
	return !c.known || r.o.Since.IsZero() || c.unix+job.Submit >= r.o.Since.Unix()
}

// next returns the next kept job, ignoring the window and including the job read ahead.
func (r *Reader) next(job *Job) error {
	if r.ahead {
		*job, r.first, r.ahead, r.lastLine = r.first, Job{}, false, r.firstLine
		return nil
	}
	if r.err == nil {
		r.err = r.kept(job)
	}
	r.lastLine = r.rows.line()
	return r.err
}

// Read fills in the next job in file order. It returns io.EOF after the last job. In a trace with dates, the first job
// that is not skipped determines time 0. After an error, reading cannot continue.
func (r *Reader) Read(job *Job) error {
	for {
		if err := r.next(job); err != nil {
			return err
		}
		job.Submit -= r.zero
		if r.o.Window.holds(job.Submit) {
			return nil
		}
	}
}

// Format returns the name of the file's format.
func (r *Reader) Format() string { return r.format.Name }

// Line returns the line number, counted from 1, at which the most recently read job begins.
func (r *Reader) Line() int { return r.lastLine }

// Start returns the date, in UTC, at which the trace's time is zero; it returns false if the trace has no dates.
func (r *Reader) Start() (time.Time, bool) {
	c := r.rows.clock()
	if !c.known {
		return time.Time{}, false
	}
	return time.Unix(c.unix+r.zero, 0).UTC(), true
}

// Skipped returns the number of rows skipped so far because they have no time.
func (r *Reader) Skipped() int {
	if s, skips := r.rows.(interface{ skipped() int }); skips {
		return s.skipped()
	}
	return 0
}

// Size returns the numbers of nodes and processors of the cluster, as stated in comments before the first job. A number
// is zero if it is unknown.
func (r *Reader) Size() (nodes, processors int) {
	if s, says := r.rows.(interface{ size() (int, int) }); says {
		return s.size()
	}
	return 0, 0
}

// Close closes the file that Open opened.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// dateOf returns midnight of a day.
func dateOf(year, month, day int) time.Time {
	return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
}
