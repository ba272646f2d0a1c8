package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Standing is what stands in a folder that somebody wants to fill: nothing where
// nothing is at path. A file in its place is an error.
func Standing(fsys FS, path string) ([]fs.DirEntry, error) {
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

// HasName says whether one of the entries has a name.
func HasName(entries []fs.DirEntry, name string) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
}

// IsLeftover knows the names of the files that [WriteAtomic] leaves when it is killed.
func IsLeftover(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, tempSuffix)
}

// Holder is what this process says of itself in a lock.
func Holder() string { return fmt.Sprintf("process %d on host %s", os.Getpid(), Host()) }

// Host is the name of this machine, or unknown.
func Host() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		return "unknown"
	}
	return host
}
