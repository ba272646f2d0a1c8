package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"graft/internal/files"
)

// Errors of fleets.
var (
	// ErrCancelled reports that the batch was cancelled.
	ErrCancelled = errors.New("the batch was cancelled")
	// ErrNoWorkers reports that no worker is alive and none may be restarted.
	ErrNoWorkers = errors.New("no workers are left")
)

// Names in a batch's folder.
const (
	journalName   = "fleet.json"
	lockName      = "fleet.lock"
	cancelledName = "fleet.cancelled"
	maxJournal    = 64 << 20 // bytes
)

// journal is the state of a batch. Another process can continue the batch from it.
type journal struct {
	Version  int           `json:"version"`
	Engine   string        `json:"engine"`
	Batch    Batch         `json:"batch"`
	Handle   Handle        `json:"handle"`   // of the last successful submission
	Ended    map[int]State `json:"ended"`    // ends that were observed; an engine may forget them
	Failures map[int]int   `json:"failures"` // by worker, since the last task was done
	Least    int           `json:"least"`    // tasks left when the last one was done; -1 means unknown
}

const journalVersion = 1

// Fleet controls a batch of workers, which this process or another process started.
type Fleet struct {
	tools   Tools
	engine  Engine
	journal journal
	opened  string    // folder that Attach opened; empty after Start
	lock    io.Closer // held while this process may start workers; nil otherwise
}

// Start starts a batch with an engine, and locks the batch's folder until Close. If the folder has the journal of a
// batch with the same key, Start continues that batch: it keeps live workers and resets the states of the other
// workers. A different engine can continue a batch only if none of the batch's workers is alive. The same is true for a
// batch with another key if the folder has moved since.
func Start(ctx context.Context, t Tools, engine string, b Batch) (*Fleet, error) {
	e, err := NewEngine(engine, t)
	if err == nil {
		err = b.ValidateFor(engine)
	}
	if err != nil {
		return nil, fmt.Errorf("start batch %s: %w", b.Key, err)
	}
	t.ensureDefaults()
	f := &Fleet{tools: t, engine: e, journal: journal{Version: journalVersion, Engine: engine, Batch: b, Least: -1}}
	f.journal.Handle = Handle{Engine: engine, Key: b.Key, Folder: b.Folder, Workers: b.Workers}
	if err := f.begin(ctx); err != nil {
		return nil, fmt.Errorf("start batch %s: %w", b.Key, errors.Join(err, f.Close()))
	}
	return f, nil
}

// begin writes the journal before and after it starts workers, so that every running
// worker is recorded.
func (f *Fleet) begin(ctx context.Context) error {
	folder := f.journal.Batch.Folder
	if err := f.tools.Files.MkdirAll(folder); err != nil {
		return err
	}
	if err := f.hold(); err != nil {
		return err
	}
	old, err := readJournal(f.tools.Files, folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case old.Batch.Key != f.journal.Batch.Key && old.Batch.Folder == folder:
		return fmt.Errorf("folder %s belongs to batch %s of engine %s; choose another folder", folder, old.Batch.Key,
			old.Engine)
	case old.Engine != f.journal.Engine, old.Batch.Key != f.journal.Batch.Key:
		if err := f.mayTakeOver(ctx, old); err != nil {
			return err
		}
	default:
		f.journal.Handle.Jobs = old.Handle.Jobs
	}
	if err := f.tools.Files.Remove(filepath.Join(folder, cancelledName)); err != nil &&
		!errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return f.submit(ctx, nil)
}

// mayTakeOver returns an error while workers of another engine, or of the folder's old path, are alive. It ignores an
// engine that does not respond and has no recorded job.
func (f *Fleet) mayTakeOver(ctx context.Context, old journal) error {
	e, err := NewEngine(old.Engine, f.tools)
	if err != nil {
		return err
	}
	states, err := e.Poll(ctx, old.Handle)
	if err != nil && len(old.Handle.Jobs) > 0 {
		return fmt.Errorf("poll workers of engine %s: %w", old.Engine, err)
	}
	for _, w := range states {
		if w.State.Live() {
			return fmt.Errorf("worker %d of engine %s is still running in %s; wait for it, or cancel it", w.Worker,
				old.Engine, old.Batch.Folder)
		}
	}
	return nil
}

// submit starts the given workers, nil for all, and saves the journal.
func (f *Fleet) submit(ctx context.Context, only []int) error {
	for _, worker := range only {
		delete(f.journal.Ended, worker)
	}
	if err := f.save(); err != nil {
		return err
	}
	b := f.journal.Batch
	b.Only = only
	h, err := f.engine.Submit(ctx, b)
	if err != nil {
		return err
	}
	// The states of workers are also read from jobs that have ended.
	known := slices.DeleteFunc(f.journal.Handle.Jobs, func(job string) bool { return slices.Contains(h.Jobs, job) })
	const most = 1000
	h.Jobs = append(known[max(0, len(known)-most):], h.Jobs...)
	f.journal.Handle = h
	if err := f.save(); err != nil {
		return err
	}
	if only != nil && f.cancelled() { // during the submission
		return errors.Join(ErrCancelled, f.engine.Cancel(ctx, h))
	}
	return nil
}

// hold locks the folder.
func (f *Fleet) hold() error {
	if f.lock != nil {
		return nil
	}
	if err := f.inPlace(); err != nil {
		return err
	}
	lock, err := f.tools.Files.Lock(filepath.Join(f.journal.Batch.Folder, lockName),
		fmt.Sprintf("process %d on %s", os.Getpid(), ThisHost(f.tools.Files)))
	if err != nil {
		return err
	}
	f.lock = lock
	return nil
}

// inPlace returns an error if the opened folder is not the batch's folder: it was moved or copied after the workers
// started, and workers use the batch's path.
func (f *Fleet) inPlace() error {
	started := f.journal.Batch.Folder
	opened, err := filepath.Abs(f.opened)
	if err != nil || f.opened == "" || opened == started {
		return err
	}
	here, err := f.tools.Files.Stat(opened)
	if err != nil {
		return err
	}
	if there, err := f.tools.Files.Stat(started); err == nil && os.SameFile(here, there) {
		return nil // such as a symbolic link
	}
	return fmt.Errorf("the folder %s was moved or copied: its workers started in %s; move it back, or, when no worker "+
		"runs, repeat the command that started them with --folder %[1]s", opened, started)
}

// Close unlocks the folder. Slurm workers continue; local workers end with the process.
func (f *Fleet) Close() error {
	if f.lock == nil {
		return nil
	}
	lock := f.lock
	f.lock = nil
	return lock.Close()
}

// Attach opens a batch from the journal in its folder. It starts nothing and takes no lock: Workers and Cancel may be
// called while another process supervises the batch.
func Attach(t Tools, folder string) (*Fleet, error) {
	t.ensureDefaults()
	j, err := readJournal(t.Files, folder)
	var e Engine
	if err == nil {
		e, err = NewEngine(j.Engine, t)
	}
	if err != nil {
		return nil, fmt.Errorf("find the batch in %s: %w", folder, err)
	}
	return &Fleet{tools: t, engine: e, journal: j, opened: folder}, nil
}

func readJournal(fsys files.FS, folder string) (j journal, err error) {
	path := filepath.Join(folder, journalName)
	text, err := files.ReadAll(fsys, path, maxJournal)
	if err == nil {
		if err = json.Unmarshal(text, &j); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	switch {
	case err != nil:
		return j, err
	case j.Version != journalVersion:
		return j, fmt.Errorf("%s has journal version %d; expected %d; use the version of graft that wrote the journal",
			path, j.Version, journalVersion)
	}
	return j, nil
}

func (f *Fleet) save() error {
	path := filepath.Join(f.journal.Batch.Folder, journalName)
	return files.WriteAtomic(f.tools.Files, path, func(w io.Writer) error {
		text := json.NewEncoder(w)
		text.SetIndent("", " ")
		return text.Encode(f.journal)
	})
}

// Batch returns the batch as it was started.
func (f *Fleet) Batch() Batch { return f.journal.Batch }

// Engine returns the name of the engine.
func (f *Fleet) Engine() string { return f.journal.Engine }

// Handle returns the handle by which the engine identifies the workers.
func (f *Fleet) Handle() Handle { return f.journal.Handle }

// Workers returns the state of each worker by number, with the path of its log. It also returns the final state of a
// worker that the engine no longer reports.
func (f *Fleet) Workers(ctx context.Context) ([]WorkerState, error) {
	states, err := f.engine.Poll(ctx, f.journal.Handle)
	if err != nil {
		return nil, err
	}
	for k := range states {
		if end, ok := f.journal.Ended[k]; ok && states[k].State == Unknown {
			states[k].State, states[k].Detail = end, "last known state"
		}
	}
	return states, nil
}

// Cancel ends all workers, and signals the supervising process to start no more workers.
func (f *Fleet) Cancel(ctx context.Context) error {
	path := filepath.Join(f.journal.Batch.Folder, cancelledName)
	err := files.WriteNew(f.tools.Files, path, func(io.Writer) error { return nil })
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	// The supervising process may have started more since the journal was read.
	if now, readErr := readJournal(f.tools.Files, f.journal.Batch.Folder); readErr == nil {
		f.journal.Handle = now.Handle
	}
	return errors.Join(err, f.engine.Cancel(ctx, f.journal.Handle))
}

// Cancelled reports whether the batch was cancelled.
func (f *Fleet) Cancelled() bool { return f.cancelled() }

// cancelled reports whether Cancel was called.
func (f *Fleet) cancelled() bool {
	_, err := f.tools.Files.Stat(filepath.Join(f.journal.Batch.Folder, cancelledName))
	return err == nil
}
