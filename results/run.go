package results

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"sync"

	"graft/internal/files"
)

// errClosed is the error of a run's methods after Close.
var errClosed = errors.New("the run is closed")

// Run is a run folder that only this process writes. Create it with Create or Open; the zero value is not usable. It is
// safe for concurrent use.
type Run struct {
	fsys     files.FS
	path     string
	lock     io.Closer
	made     bool // Create has made the folder
	manifest Manifest

	// Keep is the number of intact checkpoints to keep; a value below one means 2. Set it before the first checkpoint
	// is saved.
	Keep int

	mu     sync.Mutex
	open   map[string]*appender // by file name
	known  []string             // names in streams.json; nil before it is read
	closed bool

	saving sync.Mutex
	good   map[string]bool // whether checkpoint files are intact, by name, if known
}

func newRun(fsys files.FS, path string, lock io.Closer) *Run {
	return &Run{fsys: fsys, path: path, lock: lock, open: map[string]*appender{}, good: map[string]bool{}}
}

// Open opens the folder of a run to continue it. The error wraps ErrNoRun if there is no run, and files.ErrLocked if
// another process writes it. ReadManifest and other readers need no lock, even while a process writes the run.
func Open(fsys files.FS, path string) (*Run, error) {
	path = filepath.Clean(path)
	if err := isRun(fsys, path); err != nil {
		return nil, fmt.Errorf("open run %s: %w", path, err)
	}
	lock, err := lockRun(fsys, path)
	if err != nil {
		return nil, fmt.Errorf("open run %s: %w", path, err)
	}
	run := newRun(fsys, path, lock)
	run.manifest, err = ReadManifest(fsys, path)
	if err == nil {
		err = fsys.MkdirAll(run.Path(checkpointsName)) // a copy may lack empty folders
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open run %s: %w", path, err), lock.Close())
	}
	run.sweep()
	return run, nil
}

// Missing reports whether a folder has no run: it does not exist, or the creation of the run was interrupted.
func Missing(fsys files.FS, path string) bool { return errors.Is(isRun(fsys, path), ErrNoRun) }

// isRun returns an error unless the folder has a manifest. It makes no lock file in a foreign folder.
func isRun(fsys files.FS, path string) error {
	_, err := fsys.Stat(filepath.Join(path, ManifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s is missing; use a run folder", ErrNoRun, ManifestFile)
	}
	return err
}

// sweep deletes temporary files of the run's own files that a kill left. Other temporary files may be in use by
// processes with their own locks. Files that cannot be deleted do no harm.
func (r *Run) sweep() {
	if r.readKnown() != nil {
		return
	}
	own := append([]string{ManifestFile, ConfigFile, ResolvedFile, OutcomeFile, ProgressFile,
		registryName}, r.known...)
	for _, dir := range []string{r.path, r.Path(checkpointsName), r.Path(keptName)} {
		entries, err := r.fsys.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, entry := range entries {
			name := entry.Name()
			if dir != r.path && files.IsLeftover(name) ||
				slices.ContainsFunc(own, func(own string) bool { return files.IsLeftoverOf(name, own) }) {
				_ = r.fsys.Remove(filepath.Join(dir, name))
			}
		}
	}
}

// Path returns the path of a file in the run folder. For an empty name it returns the path of the folder.
func (r *Run) Path(name string) string { return filepath.Join(r.path, name) }

// Manifest returns the description of the run.
func (r *Run) Manifest() Manifest { return r.manifest }

// WriteOutcome writes the outcome as JSON, which marks the run as complete. A later call replaces the outcome.
func (r *Run) WriteOutcome(v any) error {
	if err := r.Sync(); err != nil { // an outcome must not outlive its rows
		return err
	}
	return writeJSON(r.fsys, r.Path(OutcomeFile), v)
}

// Digests are the digests of a configuration, as in [Manifest].
type Digests struct{ ConfigSHA256, FilesSHA256 string }

// Reconfigure replaces the configuration of a continued run: first the digests in the manifest, then the text with
// defaults and the text as given. OtherBudget states that the time budget changed. Reconfigure may be repeated after a
// crash.
func (r *Run) Reconfigure(config, resolved string, d Digests, otherBudget bool) error {
	m := r.manifest
	m.ConfigSHA256, m.FilesSHA256, m.OtherBudget = d.ConfigSHA256, d.FilesSHA256, m.OtherBudget || otherBudget
	err := writeJSON(r.fsys, r.Path(ManifestFile), m)
	for _, file := range []struct{ name, text string }{{ResolvedFile, resolved}, {ConfigFile, config}} {
		if err == nil && file.text != "" {
			err = writeBytes(r.fsys, r.Path(file.name), []byte(file.text))
		}
	}
	if err != nil {
		return fmt.Errorf("change the configuration of %s: %w", r.path, err)
	}
	r.manifest = m
	return nil
}

// Amend changes the manifest of a run that continues. It writes the manifest only if a field changes.
func (r *Run) Amend(change func(m *Manifest)) error {
	m := r.manifest
	change(&m)
	if reflect.DeepEqual(m, r.manifest) {
		return nil
	}
	if err := writeJSON(r.fsys, r.Path(ManifestFile), m); err != nil {
		return fmt.Errorf("change the manifest of %s: %w", r.path, err)
	}
	r.manifest = m
	return nil
}

// Sync writes all rows to stable storage. A written row survives if the process is killed; after Sync, a checkpoint or
// Close it also survives a power failure.
func (r *Run) Sync() error {
	_, err := r.marks()
	return err
}

// Close syncs all rows and unlocks the run. It unlocks the run even if it returns an error. Later calls do nothing.
func (r *Run) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	var faults []error
	for _, file := range slices.Sorted(maps.Keys(r.open)) {
		if err := r.open[file].close(); file != programLog {
			faults = append(faults, err)
		}
	}
	return errors.Join(append(faults, r.lock.Close())...)
}
