package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// maxPhillyJob is the maximum number of bytes that are read for one job.
const maxPhillyJob = 4 << 20

// phillyFormat is the log that Microsoft published of a cluster called Philly.
var phillyFormat = format{
	Format: Format{Name: "philly", About: "JSON of the Philly cluster (cluster_job_log)"},
	knows: func(head []byte) bool {
		return bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("["))
	},
	open: openPhilly,
}

type phillyJob struct {
	Status    *string         `json:"status"`
	VC        *string         `json:"vc"`
	ID        *string         `json:"jobid"`
	Attempts  []phillyAttempt `json:"attempts"`
	Submitted *string         `json:"submitted_time"`
	User      *string         `json:"user"`
}

// phillyAttempt is a period on the cluster. A job that is preempted or fails has several.
type phillyAttempt struct {
	Start  *string `json:"start_time"`
	End    *string `json:"end_time"`
	Detail []struct {
		GPUs []string `json:"gpus"`
	} `json:"detail"`
}

// philly reads the log entry by entry.
type philly struct {
	lines
	decoder *json.Decoder
	counted *counting
	dates   dates
	at      int  // line of the last entry
	history bool // the option History

	users, vcs interner
}

func openPhilly(source lines, o *Options) (rows, error) {
	p := &philly{lines: source, counted: &counting{in: source.in}, history: o.History}
	p.decoder = json.NewDecoder(p.counted)
	p.counted.allow(maxPhillyJob)
	token, err := p.decoder.Token()
	if err != nil {
		return nil, p.broken(err)
	}
	if token != json.Delim('[') {
		return nil, p.fault(1, 0, "", "the file is not a list of jobs",
			"if the trace has another format, "+setFormat)
	}
	return p, nil
}

func (p *philly) next(job *Job) error {
	p.counted.allow(p.decoder.InputOffset() + maxPhillyJob)
	if !p.decoder.More() {
		return p.ended()
	}
	var entry phillyJob
	err := p.decoder.Decode(&entry)
	p.at = p.counted.lineOf(p.decoder.InputOffset())
	if err != nil {
		return p.broken(err)
	}
	*job = Job{}
	return p.take(&entry, job)
}

// ended returns io.EOF if the list ends correctly.
func (p *philly) ended() error {
	if _, err := p.decoder.Token(); err != nil {
		return p.broken(err)
	}
	if _, err := p.decoder.Token(); !errors.Is(err, io.EOF) {
		return p.fault(p.counted.lineOf(p.decoder.InputOffset()), 0, "", "unexpected text after the list of jobs",
			"remove it")
	}
	return io.EOF
}

// broken locates the point at which the file stops being JSON, or a log.
func (p *philly) broken(err error) error {
	offset := p.decoder.InputOffset()
	syntax, kind := new(json.SyntaxError), new(json.UnmarshalTypeError)
	switch {
	case errors.Is(err, errTooLong):
		return p.fault(p.counted.lineOf(offset), 0, "", fmt.Sprintf("the job has more than %d bytes", maxPhillyJob),
			"check that the file is a trace")
	case errors.As(err, &syntax):
		return p.fault(p.counted.lineOf(max(offset, syntax.Offset)), 0, "", "invalid JSON: "+err.Error(),
			"correct the JSON")
	case errors.As(err, &kind):
		return p.fault(p.counted.lineOf(offset), 0, kind.Field, "is a "+kind.Value+"; expected a "+kind.Type.String(),
			mendLine)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return p.fault(p.counted.lineOf(offset), 0, "", "the file ends within the list of jobs",
			"download the complete trace again")
	}
	return p.lines.ended(err)
}

// take converts an entry. The duration is the sum over its attempts; the devices are from the last attempt that lists
// them.
func (p *philly) take(entry *phillyJob, job *Job) error {
	job.ID = value(entry.ID)
	if job.ID == "" {
		return p.fault(p.at, 0, "jobid", isButWants(nil, wantID), mendLine)
	}
	unix, ok := p.dates.of([]byte(value(entry.Submitted)))
	if !ok {
		return p.fault(p.at, 0, "submitted_time", isButWants([]byte(value(entry.Submitted)), wantDate), mendLine)
	}
	job.Submit = unix
	job.User, job.VC = p.users.of([]byte(value(entry.User))), p.vcs.of([]byte(value(entry.VC)))
	job.State = stateOf([]byte(value(entry.Status)))
	for k := range entry.Attempts {
		spent, err := p.spent(&entry.Attempts[k])
		if err != nil {
			return err
		}
		job.Duration = min(job.Duration+spent, maxSeconds)
		if n := entry.Attempts[k].devices(); n > 0 {
			job.GPUs = n
		}
		if p.history {
			p.recordAttempt(&entry.Attempts[k], job, k, spent)
		}
	}
	return nil
}

// recordAttempt adds an attempt, counted from 0, to the history of a job. The time so far is lost once another attempt
// follows.
func (p *philly) recordAttempt(a *phillyAttempt, job *Job, k int, spent int64) {
	h := job.history()
	h.Restarts, h.Lost = k, max(0, job.Duration-spent)
	if began, ok := p.dates.of([]byte(value(a.Start))); ok && !h.Started {
		h.Wait, h.Started = between(job.Submit, began)
	}
}

// spent returns the seconds of an attempt; zero if the log has no times.
func (p *philly) spent(a *phillyAttempt) (int64, error) {
	var at [2]int64
	for k, field := range []struct {
		name string
		text *string
	}{{"start_time", a.Start}, {"end_time", a.End}} {
		text := []byte(value(field.text))
		if isMissing(text) {
			return 0, nil
		}
		unix, ok := p.dates.of(text)
		if !ok {
			return 0, p.fault(p.at, 0, "attempts."+field.name, isButWants(text, wantDate), mendLine)
		}
		at[k] = unix
	}
	seconds, _ := between(at[0], at[1])
	return seconds, nil
}

func (a *phillyAttempt) devices() (n int) {
	for _, node := range a.Detail {
		n += len(node.GPUs)
	}
	return n
}

func value(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// clock reports that entries have dates.
func (p *philly) clock() clock { return clock{known: true, dates: true} }

// line returns the line at which the entry ends.
func (p *philly) line() int { return p.at }

// errTooLong reports that an entry exceeds the maximum size.
var errTooLong = errors.New("too long")

// counting counts the lines that pass through it, and stops at a limit.
type counting struct {
	in      io.Reader
	end     int64   // limit
	passed  int64   // bytes passed
	done    int     // lines that end before the last requested offset
	waiting []int64 // offsets of the ends of later lines
}

// allow sets the limit to an offset.
func (c *counting) allow(end int64) { c.end = end }

// Read reads from the input until the limit, an offset in bytes, is reached.
func (c *counting) Read(to []byte) (int, error) {
	if c.passed >= c.end {
		return 0, errTooLong
	}
	n, err := c.in.Read(to[:min(int64(len(to)), c.end-c.passed)])
	for k, b := range to[:n] {
		if b == '\n' {
			c.waiting = append(c.waiting, c.passed+int64(k))
		}
	}
	c.passed += int64(n)
	return n, err
}

// lineOf returns the line of a byte, from 1. Offsets must not decrease.
func (c *counting) lineOf(offset int64) int {
	k := 0
	for k < len(c.waiting) && c.waiting[k] < offset {
		k++
	}
	c.done += k
	c.waiting = append(c.waiting[:0], c.waiting[k:]...)
	return min(c.done, math.MaxInt-1) + 1
}
