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

	"graft/files"
)

// Errors of fleets.
var (
	// ErrCancelled says that somebody has cancelled the batch.
	ErrCancelled = errors.New("the batch was cancelled")
	// ErrSpent says that no worker is alive and that none may be started again.
	ErrSpent = errors.New("no worker is left")
)

// Names in a batch's folder.
const (
	journalName   = "fleet.json"
	lockName      = "fleet.lock"
	cancelledName = "fleet.cancelled"
	mostJournal   = 64 << 20 // bytes
)

// journal is all that another process needs to go on with a batch.
type journal struct {
	Version  int           `json:"version"`
	Engine   string        `json:"engine"`
	Batch    Batch         `json:"batch"`
	Handle   Handle        `json:"handle"`   // of the last submission that is known to have succeeded
	Ended    map[int]State `json:"ended"`    // workers whose end was seen; engines forget
	Failures map[int]int   `json:"failures"` // of workers, since work was last done
	Least    int           `json:"least"`    // tasks that were left when work was last done; -1 is not known
}

const journalVersion = 1

// Fleet is a batch that was started, by this process or by another.
type Fleet struct {
	tools   Tools
	engine  Engine
	journal journal
	lock    io.Closer // held by who starts workers; nil otherwise
}

// Start starts a batch with an engine, and holds its folder until it is closed. Where the
// folder has the journal of a batch of that key, that one goes on: workers that live are
// kept, what has become of the others does not count any more. Another engine may go on
// with it when none of its workers lives.
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

// begin writes the journal before and after workers are started, so that of whatever
// runs there is a record.
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
	case old.Batch.Key != f.journal.Batch.Key:
		return fmt.Errorf("%s has batch %s of engine %s; name another folder", folder, old.Batch.Key, old.Engine)
	case old.Engine != f.journal.Engine:
		if err := f.mayTakeOver(ctx, old); err != nil {
			return err
		}
	default:
		f.journal.Handle.Jobs = old.Handle.Jobs
	}
	if err := f.tools.Files.Remove(filepath.Join(folder, cancelledName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return f.submit(ctx, nil)
}

// mayTakeOver is an error while workers of another engine live. An engine that cannot be
// asked and is not known to have started any does not count.
func (f *Fleet) mayTakeOver(ctx context.Context, old journal) error {
	e, err := NewEngine(old.Engine, f.tools)
	if err != nil {
		return err
	}
	states, err := e.Poll(ctx, old.Handle)
	if err != nil && len(old.Handle.Jobs) > 0 {
		return fmt.Errorf("see whether workers of engine %s live: %w", old.Engine, err)
	}
	for _, w := range states {
		if w.State.Live() {
			return fmt.Errorf("worker %d of engine %s lives in %s; let it end, or cancel it", w.Worker, old.Engine, old.Batch.Folder)
		}
	}
	return nil
}

// submit starts workers, nil for all, and keeps the journal.
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
	// Jobs that have ended still say what became of their workers.
	known := slices.DeleteFunc(f.journal.Handle.Jobs, func(job string) bool { return slices.Contains(h.Jobs, job) })
	const most = 1000
	h.Jobs = append(known[max(0, len(known)-most):], h.Jobs...)
	f.journal.Handle = h
	if err := f.save(); err != nil {
		return err
	}
	if only != nil && f.cancelled() { // while they were started
		return errors.Join(ErrCancelled, f.engine.Cancel(ctx, h))
	}
	return nil
}

// hold takes the folder's lock.
func (f *Fleet) hold() error {
	if f.lock != nil {
		return nil
	}
	lock, err := f.tools.Files.Lock(filepath.Join(f.journal.Batch.Folder, lockName), fmt.Sprintf("process %d on %s", os.Getpid(), ThisHost(f.tools.Files)))
	if err != nil {
		return err
	}
	f.lock = lock
	return nil
}

// Close gives the folder back. Workers of Slurm go on, local ones die with the process.
func (f *Fleet) Close() error {
	if f.lock == nil {
		return nil
	}
	lock := f.lock
	f.lock = nil
	return lock.Close()
}

// Attach finds a batch again by the journal in its folder. It starts nothing and disturbs
// nobody: Workers and Cancel may be called beside who tends it.
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
	return &Fleet{tools: t, engine: e, journal: j}, nil
}

func readJournal(fsys files.FS, folder string) (j journal, err error) {
	path := filepath.Join(folder, journalName)
	text, err := files.ReadAll(fsys, path, mostJournal)
	if err == nil {
		if err = json.Unmarshal(text, &j); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	switch {
	case err != nil:
		return j, err
	case j.Version != journalVersion:
		return j, fmt.Errorf("%s is of version %d, and this program reads %d; use the program that wrote it", path, j.Version, journalVersion)
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

// Batch is what was started.
func (f *Fleet) Batch() Batch { return f.journal.Batch }

// Engine is the name of the engine that runs it.
func (f *Fleet) Engine() string { return f.journal.Engine }

// Handle finds the batch's workers.
func (f *Fleet) Handle() Handle { return f.journal.Handle }

// Workers says what is known of each worker, by number, with the path of its log. What
// was seen to end is known also when the engine has forgotten it.
func (f *Fleet) Workers(ctx context.Context) ([]WorkerState, error) {
	states, err := f.engine.Poll(ctx, f.journal.Handle)
	if err != nil {
		return nil, err
	}
	for k := range states {
		if end, ok := f.journal.Ended[k]; ok && states[k].State == Unknown {
			states[k].State, states[k].Detail = end, "as it was seen before"
		}
	}
	return states, nil
}

// Cancel ends all workers, and lets who tends the batch know that none is to be started
// again.
func (f *Fleet) Cancel(ctx context.Context) error {
	path := filepath.Join(f.journal.Batch.Folder, cancelledName)
	err := files.WriteNew(f.tools.Files, path, func(io.Writer) error { return nil })
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	// Whoever tends it may have started more since the journal was read.
	if now, readErr := readJournal(f.tools.Files, f.journal.Batch.Folder); readErr == nil {
		f.journal.Handle = now.Handle
	}
	return errors.Join(err, f.engine.Cancel(ctx, f.journal.Handle))
}

// Cancelled says whether somebody has cancelled the batch.
func (f *Fleet) Cancelled() bool { return f.cancelled() }

// cancelled says whether somebody has called Cancel.
func (f *Fleet) cancelled() bool {
	_, err := f.tools.Files.Stat(filepath.Join(f.journal.Batch.Folder, cancelledName))
	return err == nil
}
