package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"graft/files"
	"graft/results/failure"
)

// Line names a folder once, and why it is left out.
func (s SkippedRun) Line() string {
	if strings.Contains(s.Why, s.Path) {
		return s.Why
	}
	return s.Path + ": " + s.Why
}

// SkippedRun is a folder that could not be used, and why.
type SkippedRun struct {
	Path string `json:"path"` // the folder
	Why  string `json:"why"`  // what is wrong with it

	Err error `json:"-"`
}

// OpenAll reads the runs that arguments name: folders of runs, folders in which such
// lie, and patterns. They come in the order of the arguments, each once, and those of a
// folder sorted by path. What cannot be used is beside them.
func OpenAll(fsys files.FS, args []string) (runs []*Run, skipped []SkippedRun) {
	var paths []string
	for _, arg := range args {
		found, err := Find(fsys, arg)
		if err != nil {
			skipped = append(skipped, SkippedRun{arg, err.Error(), err})
		}
		paths = append(paths, found...)
	}
	seen := map[string]bool{}
	paths = slices.DeleteFunc(paths, func(path string) bool {
		twice := seen[path]
		seen[path] = true
		return twice
	})
	all, errs := make([]*Run, len(paths)), make([]error, len(paths))
	Parallel(len(paths), func(k int) { all[k], errs[k] = Open(fsys, paths[k]) })
	for k, err := range errs {
		if err != nil {
			skipped = append(skipped, SkippedRun{paths[k], err.Error(), err})
			continue
		}
		runs = append(runs, all[k])
	}
	return runs, skipped
}

// Parallel does so many things, as many at once as there are processors.
func Parallel(n int, do func(k int)) {
	var wait sync.WaitGroup
	next := make(chan int)
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for k := range next {
				do(k)
			}
		})
	}
	for k := range n {
		next <- k
	}
	close(next)
	wait.Wait()
}

// Find are the folders of runs that an argument stands for. One that is no run's
// and has none beneath it stands for itself: to open it says what is wrong with it.
func Find(fsys files.FS, arg string) ([]string, error) {
	if _, err := View(fsys, arg); err == nil {
		return runsAt(fsys, arg, true)
	} else if !errors.Is(err, fs.ErrNotExist) || !strings.ContainsAny(arg, "*?[") {
		return nil, err
	}
	matches, err := filepath.Glob(arg)
	if err != nil {
		return nil, failure.Usagef("%s: %w", arg, err)
	}
	var found []string
	for _, path := range matches {
		if base := filepath.Base(path); base[0] == '.' && !strings.HasPrefix(filepath.Base(arg), ".") { // as shells do
			continue
		}
		below, err := runsAt(fsys, path, false)
		if err != nil {
			return found, err
		}
		found = append(found, below...)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: no folder fits the pattern: %w", arg, fs.ErrNotExist)
	}
	return found, nil
}

// runsAt are the runs at a path. One that was named stands for itself where it is none.
func runsAt(fsys files.FS, path string, named bool) ([]string, error) {
	f, err := View(fsys, path)
	if err != nil {
		if !named { // a pattern also fits files
			err = nil
		}
		return nil, err
	}
	found := runsBeneath(f, DeepestRun)
	if len(found) == 0 && !f.IsCache() {
		found = []string{f.Path}
	}
	return found, nil
}

// DeepestRun is how many folders deep runs are looked for.
const DeepestRun = 8

// runsBeneath are the runs in a folder, sorted by path: neither in runs, nor in hidden
// folders, nor behind links.
func runsBeneath(f *Folder, depth int) []string {
	if f.IsRun() {
		return []string{f.Path}
	}
	var found []string
	for _, entry := range f.Entries {
		if !entry.IsDir() || strings.HasPrefix(entry.Name(), ".") || depth == 0 || f.IsCache() {
			continue
		}
		if below, err := View(f.Fsys, f.At(entry.Name())); err == nil { // what cannot be looked at has no runs for us
			found = append(found, runsBeneath(below, depth-1)...)
		}
	}
	return found
}

// IsRun says whether the folder is a run's, or was to be one's.
func (f *Folder) IsRun() bool {
	return f.Kind() != nil || f.isBegun()
}

// IsCache knows the folder in which simulations keep what they ran: it lies beside
// theirs, and is no run.
func (f *Folder) IsCache() bool { return f.Has("outcomes") && f.Has("states") }
