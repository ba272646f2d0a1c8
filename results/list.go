package results

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"graft/files"
)

// ReadManifest reads the manifest of the run in a folder, also while it is written.
func ReadManifest(fsys files.FS, path string) (Manifest, error) { return readManifest(fsys, path) }

// ReadOutcome reads the outcome of the run in a folder. If the run has not ended, the
// error wraps fs.ErrNotExist.
func ReadOutcome(fsys files.FS, path string, into any) error {
	return readJSON(fsys, filepath.Join(path, OutcomeFile), into)
}

// maxDepth bounds the depth at which runs are found below a folder.
const maxDepth = 8

// Listed is a run that List has found.
type Listed struct {
	Path     string   // of its folder
	Manifest Manifest // zero if Err is not nil
	Finished bool     // it has an outcome
	Err      error    // why the manifest could not be read; nil if it could
}

// List finds the runs beneath a folder, sorted by path, at most eight folders deep. It
// does not search inside runs and hidden folders, nor follow links. A run with a damaged
// manifest is listed with the error.
func List(fsys files.FS, dir string) ([]Listed, error) {
	found, err := list(fsys, filepath.Clean(dir), maxDepth)
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	return found, nil
}

func list(fsys files.FS, dir string, depth int) ([]Listed, error) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if files.HasName(entries, ManifestFile) {
		l := Listed{Path: dir, Finished: files.HasName(entries, OutcomeFile)}
		l.Manifest, l.Err = readManifest(fsys, dir)
		return []Listed{l}, nil
	}
	var found []Listed
	for _, entry := range entries {
		if !entry.IsDir() || strings.HasPrefix(entry.Name(), ".") || depth == 0 {
			continue
		}
		below, err := list(fsys, filepath.Join(dir, entry.Name()), depth-1)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return nil, err
		}
		found = append(found, below...)
	}
	return found, nil
}
