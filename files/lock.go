package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

const (
	// maxHolder bounds what is read of a lock file to say who holds it.
	maxHolder = 200
	// lockTries bounds how often a lock file may be moved away under our hands.
	lockTries = 10
)

// ErrLocked says that another holds the lock.
var ErrLocked = errors.New("locked")

// Lock takes the lock that the file at path stands for. It is flock's: the
// kernel gives it back when the process dies, so no lock is ever stale, and a
// process number that is used again misleads nobody. The file stays behind.
func (OS) Lock(path, holder string) (io.Closer, error) {
	for range lockTries {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, filePermissions)
		if err != nil {
			return nil, err
		}
		held, err := hold(file, path, holder)
		if held {
			return file, nil
		}
		if err = errors.Join(err, file.Close()); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("lock %s: another takes it away again and again", path)
}

// hold locks an open file and writes its holder into it. With neither a lock
// nor an error another file has come to be at the path, and is to be tried.
func hold(file *os.File, path, holder string) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, fmt.Errorf("%s is %w by %s", path, ErrLocked, holderOf(file))
	}
	if err != nil {
		return false, fmt.Errorf("lock %s: %w; the file system may have no locks, name a folder on another", path, err)
	}
	ours, err := file.Stat()
	if err != nil {
		return false, err
	}
	if now, err := os.Stat(path); err != nil || !os.SameFile(ours, now) {
		return false, nil
	}
	if err := file.Truncate(0); err != nil {
		return false, err
	}
	_, err = file.WriteAt([]byte(holder+"\n"), 0)
	return err == nil, err
}

// holderOf is what the holder of a lock wrote into it.
func holderOf(file *os.File) string {
	text := make([]byte, maxHolder)
	n, _ := file.ReadAt(text, 0) // at the end of a short file, which is no fault
	if line, _, _ := strings.Cut(string(text[:n]), "\n"); line != "" {
		return line
	}
	return "another process"
}
