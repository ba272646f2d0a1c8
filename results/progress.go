package results

import (
	"fmt"
	"math"
	"path/filepath"
	"sync"
	"time"

	"graft/internal/files"
	"graft/internal/stat"
)

// ProgressFile holds the progress of an unfinished run. Results and digests do not depend on this file, so it may be
// missing or damaged.
const ProgressFile = "progress.json"

const (
	// progressDelay is the minimum time between two writes, and before the first: short runs write nothing.
	progressDelay = 2 * time.Second
	// progressHeartbeat is the maximum time between two writes if nothing changes. It is shorter than the time after
	// which readers take a run for stopped.
	progressHeartbeat = 5 * time.Second
	// largestProgress is the maximum size of the file in bytes.
	largestProgress = 64 << 10
	// MaxProgressValues is the maximum number of values of the metric in the file. Beyond it, every second value is
	// dropped.
	MaxProgressValues = 128
	// maxFailure is the maximum length of the error in the file, in bytes.
	maxFailure = 2000
)

// Progress is the progress of a run, as reported by its current process.
type Progress struct {
	Done float64 `json:"done"` // finished amount of work
	Of   float64 `json:"of"`   // total amount of work; zero means unknown
	Unit string  `json:"unit"` // unit of both amounts, such as cells or s
	// start time of the reporting process, and the amount of work that was already finished then
	Since     time.Time `json:"since"`
	SinceDone float64   `json:"since_done"`
	At        time.Time `json:"at"` // time of this progress; zero means unknown

	Metric     string    `json:"metric,omitempty"`      // name of the main metric; empty means none
	MetricUnit string    `json:"metric_unit,omitempty"` // unit of the metric; share means a fraction between 0 and 1
	Values     []float64 `json:"values,omitempty"`      // values of the metric so far, in order

	Failed string `json:"failed,omitempty"` // error that ended the process; empty if none did
}

// Share returns the finished fraction of the work, from 0 to 1. It returns false if the total amount of work is
// unknown.
func (p *Progress) Share() (share float64, known bool) {
	if p == nil || !(p.Of > 0) {
		return 0, false
	}
	return min(1, max(0, p.Done/p.Of)), true
}

// Left estimates the remaining time from the speed of the process. It returns false if the remaining time cannot be
// estimated.
func (p *Progress) Left(now time.Time) (left time.Duration, known bool) {
	if p == nil || !(p.Of > 0) || p.Since.IsZero() {
		return 0, false
	}
	at := p.At
	if at.IsZero() {
		at = now
	}
	done, passed := p.Done-p.SinceDone, at.Sub(p.Since).Seconds()
	if done <= 0 || passed <= 0 {
		return 0, false
	}
	seconds := max(0, (p.Of-p.Done)/done*passed-now.Sub(at).Seconds())
	if seconds > math.MaxInt64/1e9 {
		return 0, false
	}
	return time.Duration(seconds * float64(time.Second)), true
}

// ReadProgress reads the progress of the run in a folder, without a lock. If the folder has no progress file, the error
// wraps fs.ErrNotExist.
func ReadProgress(fsys files.FS, folder string) (*Progress, error) {
	path := filepath.Join(folder, ProgressFile)
	info, err := fsys.Stat(path)
	if err == nil && info.Size() > largestProgress {
		err = fmt.Errorf("read %s: the file has %d bytes; the maximum is %d", path, info.Size(), largestProgress)
	}
	if err != nil {
		return nil, err
	}
	p := &Progress{}
	if err := readJSON(fsys, path, p); err != nil {
		return nil, err
	}
	if p.Done < 0 || p.Of < 0 || len(p.Values) > MaxProgressValues {
		return nil, fmt.Errorf("read %s: the progress is negative, or the trend has too many values; delete the file",
			path)
	}
	p.Done = min(p.Done, max(p.Of, 0))
	return p, nil
}

// Tracker writes a run's progress into the run folder, at a limited rate. It ignores write errors, so that no run fails
// because of them. Create it with NewTracker; a nil Tracker writes nothing. It is safe for concurrent use.
type Tracker struct {
	fsys   files.FS
	folder string
	now    func() time.Time

	mu       sync.Mutex
	progress Progress
	begun    bool      // the amount at the start is known
	changed  bool      // the file lacks the last change
	written  time.Time // time of the last write, or of the start
	every    int       // keeps every n-th value of the metric
	skipped  int       // values since the last kept one
	closed   bool
}

// NewTracker starts to track the progress of the run in a folder. The callback now reads the wall clock; unit is the
// unit in which progress is counted, such as "tasks". The tracker keeps the values of the main metric that an earlier
// process recorded.
func NewTracker(fsys files.FS, folder string, now func() time.Time, unit string) *Tracker {
	t := &Tracker{fsys: fsys, folder: folder, now: now, every: 1, written: now()}
	t.progress = Progress{Unit: unit, Since: t.written.UTC()}
	was, err := ReadProgress(fsys, folder)
	if err != nil {
		return t
	}
	t.progress.Metric, t.progress.MetricUnit, t.progress.Values = was.Metric, was.MetricUnit, was.Values
	if was.Failed != "" {
		t.progress.Done, t.progress.Of = was.Done, was.Of
		t.write(t.written) // it runs again
	}
	return t
}

// Note records the finished and the total amount of work.
func (t *Tracker) Note(done, of float64) {
	if t == nil || !stat.Finite(done) || !stat.Finite(of) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.begun {
		t.begun, t.progress.SinceDone = true, done
	}
	t.changed = t.changed || done != t.progress.Done || of != t.progress.Of
	t.progress.Done, t.progress.Of = done, of
	t.writeIfDue()
}

// Measure adds a value of the main metric. A different metric replaces all previous values.
func (t *Tracker) Measure(metric, unit string, value float64) {
	if t == nil || !stat.Finite(value) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p := &t.progress
	if p.Metric != metric || p.MetricUnit != unit {
		p.Metric, p.MetricUnit, p.Values, t.every, t.skipped = metric, unit, nil, 1, 0
	}
	if t.skipped++; t.skipped < t.every {
		return
	}
	t.skipped, t.changed = 0, true
	if p.Values = append(p.Values, value); len(p.Values) > MaxProgressValues {
		for k := range len(p.Values) / 2 {
			p.Values[k] = p.Values[2*k]
		}
		p.Values, t.every = p.Values[:len(p.Values)/2], 2*t.every
	}
	t.writeIfDue()
}

// End ends the tracking. Without an error, End removes the progress file, since the outcome contains the same
// information. With an error, End records the error as the reason for the failure. A process that was interrupted calls
// Stop instead.
func (t *Tracker) End(err error) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
	case err == nil:
		_ = t.fsys.Remove(filepath.Join(t.folder, ProgressFile)) // often there is none
	default:
		t.progress.Failed = cut(err.Error(), maxFailure)
		t.write(t.now())
	}
	t.closed = true
}

// Stop ends the tracking of a run that will continue later, and writes the latest progress.
func (t *Tracker) Stop() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed && t.changed && t.begun {
		t.write(t.now())
	}
	t.closed = true
}

// writeIfDue writes a change after the delay, and anything after the heartbeat.
func (t *Tracker) writeIfDue() {
	now := t.now()
	since := now.Sub(t.written)
	if !t.closed && t.begun && (since >= progressHeartbeat || t.changed && since >= progressDelay) {
		t.write(now)
	}
}

// write replaces the file.
func (t *Tracker) write(now time.Time) {
	t.progress.At, t.written, t.changed = now.UTC(), now, false
	_ = writeJSON(t.fsys, filepath.Join(t.folder, ProgressFile), &t.progress)
}

// cut shortens a text to at most n bytes, without an incomplete character.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && text[n]&0xc0 == 0x80 {
		n--
	}
	return text[:n] + "…"
}

// StopOrEnd calls Stop if the run was interrupted, and [Tracker.End] otherwise.
func (t *Tracker) StopOrEnd(interrupted bool, err error) {
	if interrupted && err != nil {
		t.Stop()
		return
	}
	t.End(err)
}
