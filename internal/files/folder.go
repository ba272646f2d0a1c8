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

// Entries lists the folder at path. A missing folder has no entries; a file at path is an error.
func Entries(fsys FS, path string) ([]fs.DirEntry, error) {
	info, err := fsys.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, errors.New("a file with this name already exists; choose another folder")
	}
	return fsys.ReadDir(path)
}

// HasName reports whether an entry with the given name exists.
func HasName(entries []fs.DirEntry, name string) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
}

// IsLeftover reports whether a file with this name is a temporary file that [WriteAtomic] left behind when its process
// was killed.
func IsLeftover(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, tempSuffix)
}

// RemoveLeftovers deletes the temporary files that [WriteAtomic] left behind in a folder. Errors are ignored, since
// these files are harmless.
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

// IsLeftoverOf reports whether a file with this name is a temporary file that [WriteAtomic] left behind when it wrote
// the given file.
func IsLeftoverOf(name, file string) bool {
	number, ok := strings.CutPrefix(strings.TrimSuffix(name, tempSuffix), "."+file+".")
	_, err := strconv.Atoi(number)
	return ok && IsLeftover(name) && err == nil
}

// Holder returns the text that identifies this process in a lock file.
func Holder() string { return fmt.Sprintf("process %d on host %s", os.Getpid(), Host()) }

// Host returns the name of this machine, or "unknown".
func Host() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		return "unknown"
	}
	return host
}
