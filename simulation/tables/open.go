package tables

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"graft/internal/files"
)

// mostWriters limits the processes of one name that write a table at once.
const mostWriters = 10_000

// Errors of writers.
var (
	// ErrConflict reports that a table already has the run with a different outcome or under a different key.
	ErrConflict = errors.New("the table already has this run, with a different outcome or key")
	// ErrUnsound reports that a table's scenario is damaged, or does not match its records.
	ErrUnsound = errors.New("the table is damaged")

	errWriterClosed = errors.New("the writer is closed")
)

// WriterOptions holds the options of a [Writer]. The zero value is ready to use.
type WriterOptions struct {
	// Name is the name of the writer's file, without the number that the writer appends to it. It has up to 100
	// lower-case letters, digits, and characters _ . -, and begins with a letter or digit. Processes on the same
	// machine may use the same name; processes on several machines may do so only if the file system's locks work
	// across all of these machines. Empty means the name of the host.
	Name string
	// Lazy delays the sync of records until Sync or Close. No records are lost if the process is killed, but a power
	// failure may lose records. If Lazy is false, Append writes each record to stable storage before it returns.
	Lazy bool
}

// EnsureDefaults sets an empty name to the name of the host.
func (o *WriterOptions) EnsureDefaults() {
	if o.Name != "" {
		return
	}
	o.Name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '_' {
			return r
		}
		return '-'
	}, strings.ToLower(files.Host()))
	if o.Name = strings.TrimLeft(o.Name, "-._"); o.Name == "" {
		o.Name = "unknown"
	}
	o.Name = o.Name[:min(len(o.Name), 100)]
}

// Validate returns an error for a name that is not a valid file name.
func (o WriterOptions) Validate() error {
	if !segmentPattern.MatchString(o.Name + "-1") {
		return fmt.Errorf("writer name %q is invalid; expected a letter or digit, then up to 99 lower-case letters, "+
			"digits, '_', '.' and '-'", o.Name)
	}
	return nil
}

// Open opens a table for adding records. Several processes may open the same table at once, even on several machines.
// If a file with the writer's name exists and no live process has it open, the writer removes an incomplete last line
// and then appends to this file. Otherwise the writer creates a new file.
//
// If the folder has no table, the error wraps ErrNoTable. If the scenario is damaged or does not match its records,
// the error wraps ErrUnsound. Damaged records are not an error.
func Open(fsys files.FS, dir string, o WriterOptions) (*Writer, error) {
	o.EnsureDefaults()
	w := &Writer{fsys: fsys, dir: filepath.Clean(dir), lazy: o.Lazy}
	err := o.Validate()
	if err == nil {
		err = w.open(o.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("open table %s: %w", w.dir, err)
	}
	return w, nil
}

func (w *Writer) open(name string) error {
	if err := w.checkScenario(); err != nil {
		return err
	}
	if err := w.take(name); err != nil {
		return err
	}
	err := w.learn()
	if err == nil {
		err = w.ready()
	}
	if err != nil {
		err = errors.Join(err, w.lock.Close())
	}
	return err
}

// checkScenario reads the scenario and checks all files of records against it.
func (w *Writer) checkScenario() error {
	s, err := readScenario(w.fsys, w.dir)
	var f Fault
	switch {
	case errors.As(err, &f):
		return fmt.Errorf("%w: %w", ErrUnsound, f)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s is missing; expected a table folder", ErrNoTable, scenarioName)
	case err != nil:
		return err
	}
	w.scenario = s
	entries, err := w.fsys.ReadDir(w.dir)
	if err != nil {
		return err
	}
	names, _ := sortOut(entries)
	for _, name := range names {
		if _, err := w.peek(name); err != nil {
			return err
		}
	}
	return nil
}

// peek reads the first line of a file of records. It reports whether a writer can continue the file, which requires an
// undamaged first line.
func (w *Writer) peek(name string) (bool, error) {
	var unsound error
	s := w.segment(name)
	s.visit = func(_ *Entry, f *Fault) bool {
		if f != nil && (f.Kind == Changed || f.Kind == Future) {
			unsound = fmt.Errorf("%w: %w", ErrUnsound, *f)
		}
		return true
	}
	err := s.read(w.fsys, w.dir, 1)
	if errors.Is(err, errEnough) {
		err = nil
	}
	return s.ours, errors.Join(err, unsound)
}

// segment returns a file of the table, to be read without reporting faults.
func (w *Writer) segment(name string) *segment {
	return &segment{name: name, parser: &parser{}, scenario: w.scenario, digest: w.scenario.Digest(),
		visit: func(*Entry, *Fault) bool { return true }}
}

// take locks the first file of a name that no other process holds.
func (w *Writer) take(name string) error {
	for n := 1; n <= mostWriters; n++ {
		base := fmt.Sprintf("%s-%d", name, n)
		lock, err := w.fsys.Lock(filepath.Join(w.dir, base+lockSuffix), files.Holder())
		if errors.Is(err, files.ErrLocked) {
			continue
		}
		if err != nil {
			return err
		}
		fits, err := w.makeOrPeek(base + segmentSuffix)
		if err == nil && fits {
			w.name, w.lock = base+segmentSuffix, lock
			return nil
		}
		if err = errors.Join(err, lock.Close()); err != nil {
			return err
		}
	}
	return fmt.Errorf("%d writers named %s are running; use another name", mostWriters, name)
}

// makeOrPeek makes a missing file of records.
func (w *Writer) makeOrPeek(name string) (bool, error) {
	w.sweep(name)
	_, err := w.fsys.Stat(filepath.Join(w.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		err = w.begin(name)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	return w.peek(name)
}

// sweep deletes the leftovers of an unfinished file; a failed deletion is harmless.
func (w *Writer) sweep(name string) {
	entries, err := w.fsys.ReadDir(w.dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "."+name+".") && isLeftover(entry.Name()) {
			_ = w.fsys.Remove(filepath.Join(w.dir, entry.Name()))
		}
	}
}

// begin makes a file of records that has only its head.
func (w *Writer) begin(name string) error {
	f := scenarioFile{Format: tableFormat, SHA256: w.scenario.Digest(), Scenario: w.scenario}
	line, err := FormatLine(headKind, headLine{Line: 1, File: name, scenarioFile: f})
	if err != nil {
		return err
	}
	return WriteNew(w.fsys, filepath.Join(w.dir, name), line)
}

// learn reads the records of the table.
func (w *Writer) learn() error {
	var unreadable Faults
	r := newReading(w.fsys, w.dir, func(_ *Entry, _ int32, f *Fault) {
		if f != nil && f.Kind == Unreadable {
			unreadable = append(unreadable, *f)
		}
	})
	r.scenario, r.digest = w.scenario, w.scenario.Digest()
	if err := r.all(); err != nil {
		return err
	}
	if len(unreadable) > 0 {
		return unreadable
	}
	w.seen = r.seen
	return nil
}
