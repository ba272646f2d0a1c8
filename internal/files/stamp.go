package files

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"
)

// deepest limits the depth of folders, because links can form a cycle.
const deepest = 40

// Stamp returns a digest of the names, sizes, times and inodes of files, and the latest time at which one of them was
// modified. If the content of a file changes, so does the stamp; files need not be read. A folder stands for all files
// below it. Links are followed. Paths that do not exist count as absent.
func Stamp(fsys FS, paths ...string) (digest string, latest time.Time, err error) {
	s := &stamp{fsys: fsys, Hash: sha256.New()}
	for _, path := range paths {
		if err := s.add(path, 0); err != nil {
			return "", time.Time{}, fmt.Errorf("list the files of %s: %w", path, err)
		}
	}
	return hex.EncodeToString(s.Sum(nil)), s.latest, nil
}

// stamp is a digest of files.
type stamp struct {
	hash.Hash
	fsys   FS
	latest time.Time
}

func (s *stamp) add(path string, depth int) error {
	info, err := s.fsys.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(s, "%q absent\n", path)
		return nil
	case err != nil:
		return err
	case depth > deepest:
		return fmt.Errorf("%s is more than %d folders deep", path, deepest)
	}
	if info.IsDir() {
		return s.folder(path, depth)
	}
	fmt.Fprintf(s, "%q %d %d", path, info.Size(), info.ModTime().UnixNano())
	if stat, ok := info.Sys().(*syscall.Stat_t); ok { // a copy can preserve the size and the time of a file
		fmt.Fprintf(s, " %d %d %d", stat.Ino, stat.Ctim.Sec, stat.Ctim.Nsec)
	}
	fmt.Fprintln(s)
	if info.ModTime().After(s.latest) {
		s.latest = info.ModTime()
	}
	return nil
}

func (s *stamp) folder(path string, depth int) error {
	entries, err := s.fsys.ReadDir(path)
	if err != nil {
		return err
	}
	fmt.Fprintf(s, "%q %d entries\n", path, len(entries))
	for _, entry := range entries {
		if err := s.add(filepath.Join(path, entry.Name()), depth+1); err != nil {
			return err
		}
	}
	return nil
}
