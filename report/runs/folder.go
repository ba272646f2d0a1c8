package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/results"
)

// Folder is the listing of a folder, from which its kind is recognised.
type Folder struct {
	Path    string
	Files   files.FS
	Entries []fs.DirEntry
	openRun func(folder string) (*Run, error) // opens a run that is a part of this one
}

// Has reports whether the folder has an entry of this name.
func (f *Folder) Has(name string) bool { return files.HasName(f.Entries, name) }

// At is the path of an entry.
func (f *Folder) At(name string) string { return filepath.Join(f.Path, name) }

// ErrForeign reports a folder that is no run folder.
var ErrForeign = errors.New("it is not a run folder: it contains nothing that graft or the original has written; " +
	"name a run folder, or a folder of run folders")

// ReadFolder lists a folder, read-only.
func ReadFolder(fsys files.FS, folder string) (*Folder, error) {
	f := &Folder{Path: filepath.Clean(folder), Files: files.ReadOnly{FS: fsys}}
	var err error
	if f.Entries, err = f.Files.ReadDir(f.Path); err != nil {
		return nil, fmt.Errorf("read run: %w; name a folder", err)
	}
	return f, nil
}

// Kind is the kind of the folder; nil for none.
func (f *Folder) Kind() *Kind {
	for _, k := range Kinds() {
		if k.matches(f) {
			return k
		}
	}
	return nil
}

// isBegun reports whether graft has begun a run in the folder. Other programs write files named
// manifest.json too, so its content is read.
func (f *Folder) isBegun() bool {
	if f.Has(LockFile) {
		return true
	}
	_, err := results.ReadManifest(f.Files, f.Path)
	return err == nil
}

// readOwn reads the files that all of graft's own runs have: manifest, configuration and, after
// the end, the outcome. A nil outcome is not read.
func (f *Folder) readOwn(r *Run, outcome any) error {
	var err error
	if r.Manifest, err = results.ReadManifest(f.Files, f.Path); err != nil {
		return err
	}
	r.Seeded = true
	if f.Has(ResolvedFile) {
		if r.Settings, err = config.ReadSettings(f.Files, f.At(ResolvedFile)); err != nil {
			return err
		}
	}
	if !f.Has(OutcomeFile) {
		return nil
	}
	r.Ended = true
	if outcome == nil {
		return nil
	}
	return results.ReadOutcome(f.Files, f.Path, outcome)
}

// hasManifestAnd matches folders with a manifest and files of these names.
func hasManifestAnd(names ...string) func(*Folder) bool {
	return func(f *Folder) bool {
		return f.Has(ManifestFile) && !slices.ContainsFunc(names, func(name string) bool { return !f.Has(name) })
	}
}

// NotThere reports whether an error says that a file does not exist.
func NotThere(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// Absolute makes a path absolute, so that it ends in a name even for ".".
func Absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// IsRun reports whether the folder is a run's, complete or just begun.
func (f *Folder) IsRun() bool {
	return f.Kind() != nil || f.isBegun()
}

// IsCache reports whether the folder is the cache of simulations, which is no run.
func (f *Folder) IsCache() bool { return f.Has("outcomes") && f.Has("states") }

// MayResume is an error if the run in a folder is of another kind. A run that was killed as it began
// has no kind yet.
func MayResume(fsys files.FS, folder string, want *Kind) error {
	f, err := ReadFolder(fsys, folder)
	if err != nil {
		return err
	}
	if k := f.Kind(); k != nil && k != want {
		return failure.With(failure.Configuration, fmt.Errorf("resume %s: the folder holds a %s, expected a %s; "+
			"name another folder with option folder", folder, k.Title, want.Title))
	}
	return nil
}
