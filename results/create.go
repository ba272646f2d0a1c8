package results

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"graft/files"
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
	// ErrExists says that there is something where a run was to be created.
	ErrExists = errors.New("it exists")
	// ErrNoRun says that a folder is not that of a run.
	ErrNoRun = errors.New("it is no run folder")
)

// CreateOptions says how a run folder is made. The zero value is ready to use.
type CreateOptions struct {
	// Force moves an existing folder aside, to PATH.1, or PATH.2 if there is a
	// PATH.1, and so on. False makes an existing folder an error.
	Force bool
	// Config is the text of the configuration as given; empty for none.
	Config string
	// Resolved is the text of the configuration with its defaults; empty for none.
	Resolved string
}

// Create makes the folder of a new run, and those above it. A folder that is in
// use is an error that wraps ErrExists or, while a process writes it,
// files.ErrLocked; an empty one, and one whose creation was cut short, is taken.
func Create(fsys files.FS, path string, o CreateOptions, m Manifest) (*Run, error) {
	path = filepath.Clean(path)
	if err := makeRoom(fsys, path, o.Force); err != nil {
		return nil, fmt.Errorf("create run %s: %w", path, err)
	}
	if err := fsys.MkdirAll(path); err != nil {
		return nil, fmt.Errorf("create run %s: %w", path, err)
	}
	lock, err := lockRun(fsys, path)
	if err != nil {
		return nil, fmt.Errorf("create run %s: %w", path, err)
	}
	run := newRun(fsys, path, lock)
	if err := run.furnish(o, m); err != nil {
		return nil, errors.Join(fmt.Errorf("create run %s: %w", path, err), lock.Close())
	}
	return run, nil
}

// furnish writes the first files into a folder that is ours, the manifest last.
func (r *Run) furnish(o CreateOptions, m Manifest) error {
	if err := takeable(r.fsys, r.path); err != nil { // another may have been faster
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

// makeRoom sees to it that a run may be created at path.
func makeRoom(fsys files.FS, path string, force bool) error {
	err := takeable(fsys, path)
	if err == nil || !force || !errors.Is(err, ErrExists) {
		return err
	}
	return moveAside(fsys, path)
}

// takeable says whether there is nothing at path, an empty folder, or one that
// Create began and did not finish.
func takeable(fsys files.FS, path string) error {
	entries, err := files.Standing(fsys, path)
	if err != nil {
		return err
	}
	if files.HasName(entries, ManifestFile) {
		return fmt.Errorf("%w: resume that run, name another folder, or move it aside with --force", ErrExists)
	}
	if len(entries) > 0 && (!files.HasName(entries, LockFile) || !onlyBegun(entries)) {
		return fmt.Errorf("%w and is no run folder: name another, or move it aside with --force", ErrExists)
	}
	return nil
}

// onlyBegun says whether all entries are what Create makes before the manifest.
func onlyBegun(entries []fs.DirEntry) bool {
	begun := map[string]bool{LockFile: true, ConfigFile: true, ResolvedFile: true, checkpointsName: true}
	for _, entry := range entries {
		if !begun[entry.Name()] && !files.IsLeftover(entry.Name()) {
			return false
		}
	}
	return true
}

// moveAside renames a folder to the first free PATH.NUMBER. That of a run is
// locked meanwhile, lest it be moved under the hands of its process.
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

// lockRun takes the lock of a run for this process.
func lockRun(fsys files.FS, path string) (io.Closer, error) {
	lock, err := fsys.Lock(filepath.Join(path, LockFile), files.Holder())
	if errors.Is(err, files.ErrLocked) {
		return nil, fmt.Errorf("%w: wait for it or end it, or name another folder", err)
	}
	return lock, err
}
