package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

const (
	// maxHolder limits the bytes of a lock file to read for the name of its holder.
	maxHolder = 200
	// lockTries limits the retries after another process moved the lock file away.
	lockTries = 10
)

// ErrLocked means that another process, or another caller in this process, holds the lock.
var ErrLocked = errors.New("locked")

// Lock acquires an exclusive flock on the file at path, and creates the file if it does not exist. The kernel releases
// the lock when the process ends, so no lock becomes stale. The file is never deleted.
func (OS) Lock(path, holder string) (io.Closer, error) {
	for range lockTries {
		file, err := openOS(path, os.O_RDWR|os.O_CREATE)
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
	return nil, fmt.Errorf("lock %s: another process keeps replacing the file", path)
}

// Locked tries to acquire a shared flock; if this would block, the lock is held.
func (OS) Locked(path string) (bool, error) {
	file, err := openOS(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	held := errors.Is(err, syscall.EWOULDBLOCK)
	if held {
		err = nil
	}
	return held, errors.Join(err, file.Close())
}

// hold locks an open file and writes the holder into it. It returns false without an error if path now names another
// file: the caller tries again.
func hold(file *os.File, path, holder string) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, fmt.Errorf("%s is %w by %s", path, ErrLocked, holderOf(file))
	}
	if err != nil {
		return false, fmt.Errorf("lock %s: %w; if the file system does not support locks, use a folder on another "+
			"file system",
			path, err)
	}
	ours, err := file.Stat()
	if err == nil {
		err = checkRegular(path, ours)
	}
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
	return err == nil, WithRemedy(err)
}

// holderOf reads the holder's name from a lock file.
func holderOf(file *os.File) string {
	text := make([]byte, maxHolder)
	n, _ := file.ReadAt(text, 0) // io.EOF for a short file is not an error
	if line, _, _ := strings.Cut(string(text[:n]), "\n"); line != "" {
		return line
	}
	return "another process"
}
