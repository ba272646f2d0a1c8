package results

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"graft/internal/files"
)

// Names of files in a run folder.
const (
	ManifestFile = "manifest.json"
	ConfigFile   = "config.toml"
	ResolvedFile = "config.resolved.toml"
	OutcomeFile  = "outcome.json"
	LockFile     = "lock"

	registryName    = "streams.json"
	checkpointsName = "checkpoints"
)

// Errors about a folder as a whole.
var (
	// ErrExists reports that the path of a new run is taken.
	ErrExists = errors.New("the folder already exists")
	// ErrNoRun reports that a folder is not a run folder.
	ErrNoRun = errors.New("the folder is not a run folder")
)

// CreateOptions configures the creation of a run folder. The zero value is ready to use.
type CreateOptions struct {
	// Force moves an existing folder aside, to PATH.NUMBER with the first free number from 1. If Force is false, Create
	// returns an error if the folder exists.
	Force bool
	// Config is the text of the configuration as given. Empty means none.
	Config string
	// Resolved is the text of the configuration with all defaults filled in. Empty means none.
	Resolved string
}

// Create creates the folder of a new run, and its parent folders. If the folder exists, the error wraps ErrExists.
// While a process writes the folder, the error wraps files.ErrLocked instead. Create reuses empty folders and folders
// left by an interrupted Create.
func Create(fsys files.FS, path string, o CreateOptions, m Manifest) (*Run, error) {
	path = filepath.Clean(path)
	if err := makeRoom(fsys, path, o.Force); err != nil {
		return nil, fmt.Errorf("create run %s: %w", path, err)
	}
	_, missing := fsys.Stat(path)
	if err := fsys.MkdirAll(path); err != nil {
		return nil, fmt.Errorf("create run %s: %w", path, err)
	}
	lock, err := lockRun(fsys, path)
	if err != nil {
		return nil, fmt.Errorf("create run %s: %w", path, err)
	}
	run := newRun(fsys, path, lock)
	run.made = errors.Is(missing, fs.ErrNotExist)
	if err := run.writeFirst(o, m); err != nil {
		return nil, errors.Join(fmt.Errorf("create run %s: %w", path, err), lock.Close())
	}
	return run, nil
}

// writeFirst writes the first files of a run, the manifest last.
func (r *Run) writeFirst(o CreateOptions, m Manifest) error {
	if err := takeable(r.fsys, r.path); err != nil { // another process may have been faster
		return err
	}
	if m.ConfigSHA256 == "" && o.Resolved != "" {
		m.ConfigSHA256 = digestOf([]byte(o.Resolved))
	}
	m.Format = manifestFormat
	r.manifest = m
	if err := r.fsys.MkdirAll(filepath.Join(r.path, checkpointsName)); err != nil {
		return err
	}
	r.sweep()
	texts := []struct{ name, text string }{{ConfigFile, o.Config}, {ResolvedFile, o.Resolved}}
	for _, file := range texts {
		if file.text == "" {
			continue
		}
		if err := writeBytes(r.fsys, r.Path(file.name), []byte(file.text)); err != nil {
			return err
		}
	}
	if err := r.fsys.SyncDir(filepath.Dir(r.path)); err != nil {
		return err
	}
	return writeJSON(r.fsys, r.Path(ManifestFile), m)
}

// Discard closes a run that Create created and deletes the folder's content. It also deletes the folder if Create
// created it, so that the next Create can use the path.
func (r *Run) Discard() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return fmt.Errorf("discard run %s: the run is closed", r.path)
	}
	r.closed = true
	for _, file := range r.open {
		_ = file.close() // it is deleted anyway
	}
	entries, err := files.Entries(r.fsys, r.path)
	faults := []error{err}
	// Delete these last: an interrupted Discard leaves a run, or the state of an interrupted Create.
	last := []string{ManifestFile, LockFile}
	for _, entry := range entries {
		if !slices.Contains(last, entry.Name()) {
			faults = append(faults, files.RemoveAll(r.fsys, r.Path(entry.Name())))
		}
	}
	for _, name := range last {
		faults = append(faults, files.RemoveAll(r.fsys, r.Path(name)))
	}
	faults = append(faults, r.lock.Close())
	if r.made {
		faults = append(faults, r.fsys.Remove(r.path))
	}
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("discard run %s: %w", r.path, err)
	}
	return nil
}

// makeRoom checks that a run may be created at path, and moves a folder aside if force is set.
func makeRoom(fsys files.FS, path string, force bool) error {
	err := takeable(fsys, path)
	if err == nil || !force || !errors.Is(err, ErrExists) {
		return err
	}
	return moveAside(fsys, path)
}

// takeable returns an error unless the path is free, an empty folder, or a folder left by an interrupted Create.
func takeable(fsys files.FS, path string) error {
	entries, err := files.Entries(fsys, path)
	if err != nil {
		return err
	}
	if files.HasName(entries, ManifestFile) {
		return fmt.Errorf("%w: resume its run, choose another folder, or set option \"force\" to move the existing "+
			"folder aside",
			ErrExists)
	}
	if len(entries) > 0 && (!files.HasName(entries, LockFile) || !onlyBegun(entries)) {
		return fmt.Errorf("%w and is not a run folder: choose another folder, or set option \"force\" to move the "+
			"existing folder aside",
			ErrExists)
	}
	return nil
}

// onlyBegun reports whether all entries come from an interrupted Create.
func onlyBegun(entries []fs.DirEntry) bool {
	begun := map[string]bool{LockFile: true, ConfigFile: true, ResolvedFile: true, checkpointsName: true}
	for _, entry := range entries {
		if !begun[entry.Name()] && !files.IsLeftover(entry.Name()) {
			return false
		}
	}
	return true
}

// MakeRoom moves a folder that exists and is not empty to the first free PATH.NUMBER, regardless of its content.
func MakeRoom(fsys files.FS, path string) error {
	path = filepath.Clean(path)
	entries, err := files.Entries(fsys, path)
	if err == nil && len(entries) > 0 {
		err = moveAside(fsys, path)
	}
	if err != nil {
		return fmt.Errorf("move %s aside: %w", path, err)
	}
	return nil
}

// moveAside renames a folder to the first free PATH.NUMBER. It locks a run during that time, so that no process writes
// it.
func moveAside(fsys files.FS, path string) (err error) {
	if _, err := fsys.Stat(filepath.Join(path, ManifestFile)); err == nil {
		lock, err := lockRun(fsys, path)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, lock.Close()) }()
	}
	_, err = files.MoveAside(fsys, path)
	return err
}

// Lock locks the folder of a run that has no manifest, such as a pipeline, for this process. Other processes then
// treat the run as running. If another process holds the lock, the error wraps files.ErrLocked.
func Lock(fsys files.FS, path string) (io.Closer, error) {
	lock, err := lockRun(fsys, path)
	if err != nil {
		return nil, fmt.Errorf("lock run %s: %w", path, err)
	}
	return lock, nil
}

// lockRun locks a run for this process.
func lockRun(fsys files.FS, path string) (io.Closer, error) {
	lock, err := fsys.Lock(filepath.Join(path, LockFile), files.Holder())
	if errors.Is(err, files.ErrLocked) {
		return nil, fmt.Errorf("%w: wait for that process, stop it, or choose another folder", err)
	}
	return lock, err
}
