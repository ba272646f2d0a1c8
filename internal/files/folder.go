package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Entries lists the folder at path; a missing one has no entries. A file in its
// place is an error.
func Entries(fsys FS, path string) ([]fs.DirEntry, error) {
	info, err := fsys.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, errors.New("there is a file of this name: name another folder")
	}
	return fsys.ReadDir(path)
}

// HasName says whether one of the entries has this name.
func HasName(entries []fs.DirEntry, name string) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
}

// IsLeftover recognises the temporary files that [WriteAtomic] leaves when killed.
func IsLeftover(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, tempSuffix)
}

// RemoveLeftovers deletes the leftovers in a folder. Errors are ignored: leftovers do no harm.
func RemoveLeftovers(fsys FS, dir string) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if IsLeftover(e.Name()) {
			_ = fsys.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// IsLeftoverOf recognises the temporary files of one file.
func IsLeftoverOf(name, file string) bool {
	number, ok := strings.CutPrefix(strings.TrimSuffix(name, tempSuffix), "."+file+".")
	_, err := strconv.Atoi(number)
	return ok && IsLeftover(name) && err == nil
}

// Holder names this process in a lock file.
func Holder() string { return fmt.Sprintf("process %d on host %s", os.Getpid(), Host()) }

// Host is the name of this machine, or "unknown".
func Host() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		return "unknown"
	}
	return host
}
