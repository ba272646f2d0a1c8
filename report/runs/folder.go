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

// Folder is the listing of a folder, from which its kind is determined.
type Folder struct {
	Path    string
	Files   files.FS
	Entries []fs.DirEntry
	openRun func(folder string) (*Run, error) // opens a run inside this one
	kept    kept                              // decoded content of its files
}

// Has reports whether the folder has an entry with the given name.
func (f *Folder) Has(name string) bool { return files.HasName(f.Entries, name) }

// At returns the path of an entry.
func (f *Folder) At(name string) string { return filepath.Join(f.Path, name) }

// ErrForeign reports a folder that is not a run folder.
var ErrForeign = errors.New("the folder is not a run folder: it contains no files written by graft or by the " +
	"original system; expected a run folder, or a folder that contains run folders")

// ReadFolder lists a folder without writing to it.
func ReadFolder(fsys files.FS, folder string) (*Folder, error) {
	f := &Folder{Path: filepath.Clean(folder), Files: files.ReadOnly{FS: fsys}}
	var err error
	if f.Entries, err = f.Files.ReadDir(f.Path); err != nil {
		return nil, fmt.Errorf("read run: %w; expected a folder", err)
	}
	return f, nil
}

// Kind returns the kind of the folder, or nil if it is not a run folder. The manifest names the kind. If the manifest
// is missing or comes from an earlier version, the files determine the kind. A manifest with an unknown kind is an
// error.
func (f *Folder) Kind() (*Kind, error) {
	m := f.named()
	if m.Kind == "" {
		return f.Guess(), nil
	}
	k := kindNamed(m.Kind)
	if k == nil {
		return nil, fmt.Errorf("unknown kind of run %q in the manifest; a later version of graft may have written it; "+
			"use version %q", m.Kind, m.Graft)
	}
	return k, nil
}

// Guess determines the kind of the folder from its files, without the manifest. It returns nil if no
// kind matches.
func (f *Folder) Guess() *Kind {
	for _, k := range Kinds() {
		if k.matches(f) {
			return k
		}
	}
	return nil
}

// named returns the manifest, which may name the kind; a pipeline has it in its journal. It is zero if it cannot be
// read; reading the run reports the error.
func (f *Folder) named() results.Manifest {
	if f.Has(ManifestFile) {
		m, _ := f.readManifest()
		return m
	}
	if f.Has(JournalFile) {
		if l, err := f.readJournal(); err == nil {
			return l.Run
		}
	}
	return results.Manifest{}
}

// readManifest reads the manifest once.
func (f *Folder) readManifest() (results.Manifest, error) {
	return keep(&f.kept, ManifestFile, func() (results.Manifest, error) {
		return results.ReadManifest(f.Files, f.Path)
	})
}

// readJournal reads the journal of a pipeline once.
func (f *Folder) readJournal() (*Journal, error) {
	return keep(&f.kept, JournalFile, func() (*Journal, error) { return ReadJournal(f.Files, f.At(JournalFile)) })
}

// configuration reads a configuration file once, such as ResolvedFile.
func (f *Folder) configuration(name string) *config.Document {
	d, _ := keep(&f.kept, name, func() (*config.Document, error) { return config.Open(f.Files, f.At(name)), nil })
	return d
}

// isBegun reports whether graft started a run in the folder. It reads manifest.json, because other programs also write
// files with that name.
func (f *Folder) isBegun() bool {
	if f.Has(LockFile) {
		return true
	}
	_, err := f.readManifest()
	return err == nil
}

// readOwn reads the files that all of graft's own runs have: manifest, configuration and, after the end, the outcome.
// It skips a nil outcome.
func (f *Folder) readOwn(r *Run, outcome any) error {
	var err error
	if r.Manifest, err = f.readManifest(); err != nil {
		return err
	}
	r.Seeded = true
	if f.Has(ResolvedFile) {
		if r.Settings, err = f.configuration(ResolvedFile).Settings(); err != nil {
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
	_, err = keep(&f.kept, OutcomeFile, func() (any, error) {
		return outcome, results.ReadOutcome(f.Files, f.Path, outcome)
	})
	return err
}

// hasManifestAnd matches folders with a manifest and files with these names.
func hasManifestAnd(names ...string) func(*Folder) bool {
	return func(f *Folder) bool {
		return f.Has(ManifestFile) && !slices.ContainsFunc(names, func(name string) bool { return !f.Has(name) })
	}
}

// NotThere reports whether an error means that a file does not exist.
func NotThere(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// Absolute makes a path absolute. The result ends in a folder name even if the path is ".".
func Absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// IsRun reports whether the folder belongs to a run, complete or just started.
func (f *Folder) IsRun() bool {
	return f.Has(LockFile) || f.Guess() != nil || f.isBegun()
}

// IsCache reports whether the folder is the cache of simulations, which is not a run.
func (f *Folder) IsCache() bool { return f.Has("outcomes") && f.Has("states") }

// MayResume returns an error if the folder holds a run whose kind differs from want.
func MayResume(fsys files.FS, folder string, want *Kind) error {
	f, err := ReadFolder(fsys, folder)
	if err != nil {
		return err
	}
	k, err := f.Kind()
	if err != nil {
		return failure.With(failure.Configuration, fmt.Errorf("resume %s: %w", folder, err))
	}
	if k != nil && k != want {
		return failure.With(failure.Configuration, fmt.Errorf("resume %s: the folder contains a %s, expected a %s; "+
			"set option \"folder\" to another folder", folder, k.Title, want.Title))
	}
	return nil
}
