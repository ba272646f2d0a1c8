package files

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
)

// maxAside limits the numbered copies of one name.
const maxAside = 10_000

// MoveAside renames the file or folder at path to the first unused PATH.NUMBER, counted from 1, and returns the new
// path.
func MoveAside(fsys FS, path string) (string, error) {
	aside, err := freeName(fsys, path)
	if err == nil {
		err = fsys.Rename(path, aside)
	}
	if err == nil {
		err = fsys.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		return "", fmt.Errorf("move %s aside: %w", path, err)
	}
	return aside, nil
}

func freeName(fsys FS, path string) (string, error) {
	for n := 1; n <= maxAside; n++ {
		name := path + "." + strconv.Itoa(n)
		_, err := fsys.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return name, nil
		}
		if err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("%[1]s.1 to %[1]s.%[2]d all exist; delete some of them", path, maxAside)
}
