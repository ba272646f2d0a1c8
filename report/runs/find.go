package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/parallel"
)

// Line returns a line with the folder's path and the reason for skipping it. If the reason contains the path, the line
// is the reason alone.
func (s SkippedRun) Line() string {
	if strings.Contains(s.Why, s.Path) {
		return s.Why
	}
	return s.Path + ": " + s.Why
}

// SkippedRun is a folder that could not be read.
type SkippedRun struct {
	Path string `json:"path"` // path of the folder
	Why  string `json:"why"`  // reason for skipping it

	Err error `json:"-"`
}

// OpenAll reads the runs at the given paths. Each argument is a run folder, a folder that contains run folders, or a
// glob pattern. The runs are in the order of the arguments, without duplicates. The runs inside a folder are sorted by
// path. Unreadable folders are skipped.
func OpenAll(fsys files.FS, args []string) (runs []*Run, skipped []SkippedRun) {
	var paths []string
	for _, arg := range args {
		found, err := Find(fsys, arg)
		if err != nil {
			skipped = append(skipped, SkippedRun{arg, err.Error(), err})
		}
		paths = append(paths, found...)
	}
	paths = distinct(fsys, paths)
	all, errs := make([]*Run, len(paths)), make([]error, len(paths))
	parallel.Do(len(paths), 0, func(k int) { all[k], errs[k] = Open(fsys, paths[k]) })
	for k, err := range errs {
		if err != nil {
			skipped = append(skipped, SkippedRun{paths[k], err.Error(), err})
			continue
		}
		runs = append(runs, all[k])
	}
	if len(runs) > mostKept {
		for _, r := range runs {
			r.folder.kept.drop()
		}
	}
	return runs, skipped
}

// distinct removes paths of folders that earlier paths name in another way, such as ./run for run, or a symbolic link.
// Otherwise a run that is named twice counts as a repetition.
func distinct(fsys files.FS, paths []string) []string {
	var known []fs.FileInfo
	return slices.DeleteFunc(Unique(paths), func(path string) bool {
		info, err := fsys.Stat(path)
		if err != nil {
			return false // Open reports the error
		}
		again := slices.ContainsFunc(known, func(earlier fs.FileInfo) bool { return os.SameFile(earlier, info) })
		known = append(known, info)
		return again
	})
}

// mostKept is the maximum number of runs for which decoded files are kept in memory. With more runs, only the
// quantities are compared.
const mostKept = 12

// Unique returns a list without duplicate strings.
func Unique(list []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(text string) bool {
		again := seen[text]
		seen[text] = true
		return again
	})
}

// Find lists the run folders that an argument names. If a folder contains no run, Find lists the folder itself, so that
// opening it returns the error.
func Find(fsys files.FS, arg string) ([]string, error) {
	if _, err := ReadFolder(fsys, arg); err == nil {
		return runsAt(fsys, arg, true)
	} else if !errors.Is(err, fs.ErrNotExist) || !strings.ContainsAny(arg, "*?[") {
		return nil, err
	}
	matches, err := fs.Glob(files.IOFS(fsys), arg)
	if err != nil {
		return nil, failure.Usagef("%s: %w", arg, err)
	}
	var found []string
	for _, path := range matches {
		if base := filepath.Base(path); base[0] == '.' && !strings.HasPrefix(filepath.Base(arg), ".") { // like shells
			continue
		}
		below, err := runsAt(fsys, path, false)
		if err != nil {
			return found, err
		}
		found = append(found, below...)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: no folder matches the pattern: %w", arg, fs.ErrNotExist)
	}
	return found, nil
}

// runsAt lists the runs at a path. A named folder without runs is listed itself.
func runsAt(fsys files.FS, path string, named bool) ([]string, error) {
	f, err := ReadFolder(fsys, path)
	if err != nil {
		if !named { // a pattern also matches files
			err = nil
		}
		return nil, err
	}
	found := runsBeneath(f, MaxDepth)
	if len(found) == 0 && !f.IsCache() {
		found = []string{f.Path}
	}
	return found, nil
}

// MaxDepth is the maximum folder depth of a search for runs.
const MaxDepth = 8

// runsBeneath lists the runs in a folder, sorted by path. It does not enter runs, hidden folders
// or symbolic links.
func runsBeneath(f *Folder, depth int) []string {
	if f.IsRun() {
		return []string{f.Path}
	}
	var found []string
	for _, entry := range f.Entries {
		if !entry.IsDir() || strings.HasPrefix(entry.Name(), ".") || depth == 0 || f.IsCache() {
			continue
		}
		// unreadable entries count as having no runs
		if below, err := ReadFolder(f.Files, f.At(entry.Name())); err == nil {
			found = append(found, runsBeneath(below, depth-1)...)
		}
	}
	return found
}
