// Package faults injects errors into a file system.
//
// A test runs an operation once to count its file system calls, then once for each call with a fault injected there,
// and checks the files that remain.
package faults

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"syscall"

	"graft/internal/files"
)

// ErrInjected is wrapped by every injected error.
var ErrInjected = errors.New("injected fault")

// Kind selects the kind of fault to inject. The zero value is Fail.
type Kind int

const (
	// Fail makes one operation fail. It has no effect on files.
	Fail Kind = iota
	// Torn makes one write fail after half of its bytes are written. Any other operation fails as with Fail.
	Torn
	// DiskFull makes this operation and every later write, create, link and sync fail with ENOSPC; a write fails after
	// half of its bytes. Other operations succeed.
	DiskFull
	// Crash makes this and every later operation fail without an effect on files, as if the process had been killed; a
	// write fails after half of its bytes.
	Crash
)

// String returns the name of the kind, for test output.
func (k Kind) String() string {
	switch k {
	case Fail:
		return "fail"
	case Torn:
		return "torn"
	case DiskFull:
		return "disk full"
	case Crash:
		return "crash"
	}
	return fmt.Sprintf("Kind(%d)", int(k))
}

// Op records one operation on a file system. The zero value means no operation.
type Op struct {
	Name string // name of the operation, such as "write" or "rename"
	Path string // path given to the operation; the old path of a rename or link
}

// String returns the operation and its path.
func (o Op) String() string { return o.Name + " " + o.Path }

// FS wraps another file system, counts its operations from 1, and injects a fault into one of them. New creates it; the
// zero value cannot be used. It is safe for concurrent use.
type FS struct {
	inner files.FS
	at    int
	kind  Kind

	mu  sync.Mutex
	ops []Op
}

var _ files.FS = (*FS)(nil)

// New wraps a file system and injects a fault of the given kind into one operation. The argument at is the number of
// this operation, counted from 1; with zero, operations are counted but no fault is injected.
func New(inner files.FS, at int, kind Kind) *FS {
	return &FS{inner: inner, at: at, kind: kind}
}

// Ops returns the operations so far in order, including failed ones.
func (f *FS) Ops() []Op {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]Op(nil), f.ops...)
}

// Fired reports whether the fault has occurred.
func (f *FS) Fired() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at > 0 && len(f.ops) >= f.at
}

// needsSpace lists the operations that a full disk refuses.
var needsSpace = map[string]bool{
	"create": true, "append": true, "write": true, "sync": true, "mkdirall": true, "mkdirtemp": true, "lock": true,
	"link": true,
}

// step counts an operation and returns the fault injected there, if any.
func (f *FS) step(name, path string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	op := Op{Name: name, Path: path}
	f.ops = append(f.ops, op)
	n := len(f.ops)
	switch {
	case f.at <= 0 || n < f.at:
		return nil
	case f.kind == DiskFull && needsSpace[name]:
		return fmt.Errorf("%s (operation %d): %w: %w", op, n, ErrInjected, syscall.ENOSPC)
	case f.kind == Crash, f.kind != DiskFull && n == f.at:
		return fmt.Errorf("%s (operation %d): %w", op, n, ErrInjected)
	}
	return nil
}

// do counts an operation, and runs it unless a fault is injected there.
func do[T any](f *FS, name, path string, operation func() (T, error)) (result T, err error) {
	if err := f.step(name, path); err != nil {
		return result, err
	}
	return operation()
}

// Open opens a file for reading.
func (f *FS) Open(path string) (files.File, error) { return f.open("open", path, f.inner.Open) }

// Create creates a new file.
func (f *FS) Create(path string) (files.File, error) { return f.open("create", path, f.inner.Create) }

// CreatePrivate creates a new file that only the current user can read.
func (f *FS) CreatePrivate(path string) (files.File, error) {
	return f.open("create", path, f.inner.CreatePrivate)
}

// Append opens a file for writing at its end.
func (f *FS) Append(path string) (files.File, error) { return f.open("append", path, f.inner.Append) }

func (f *FS) open(name, path string, open func(string) (files.File, error)) (files.File, error) {
	inner, err := do(f, name, path, func() (files.File, error) { return open(path) })
	if err != nil {
		return nil, err
	}
	return &file{inner: inner, fs: f, path: path}, nil
}

// Rename moves a file.
func (f *FS) Rename(from, to string) error {
	_, err := do(f, "rename", from, func() (any, error) { return nil, f.inner.Rename(from, to) })
	return err
}

// Link creates a hard link: a second name for a file.
func (f *FS) Link(from, to string) error {
	_, err := do(f, "link", from, func() (any, error) { return nil, f.inner.Link(from, to) })
	return err
}

// Remove deletes a file.
func (f *FS) Remove(path string) error {
	_, err := do(f, "remove", path, func() (any, error) { return nil, f.inner.Remove(path) })
	return err
}

// MkdirAll creates a folder.
func (f *FS) MkdirAll(path string) error {
	_, err := do(f, "mkdirall", path, func() (any, error) { return nil, f.inner.MkdirAll(path) })
	return err
}

// MkdirTemp creates a temporary folder.
func (f *FS) MkdirTemp(parent, prefix string) (string, error) {
	return do(f, "mkdirtemp", parent, func() (string, error) { return f.inner.MkdirTemp(parent, prefix) })
}

// ReadDir lists a folder.
func (f *FS) ReadDir(path string) ([]fs.DirEntry, error) {
	return do(f, "readdir", path, func() ([]fs.DirEntry, error) { return f.inner.ReadDir(path) })
}

// Stat returns information about a path.
func (f *FS) Stat(path string) (fs.FileInfo, error) {
	return do(f, "stat", path, func() (fs.FileInfo, error) { return f.inner.Stat(path) })
}

// SyncDir syncs a folder to the disk.
func (f *FS) SyncDir(path string) error {
	_, err := do(f, "syncdir", path, func() (any, error) { return nil, f.inner.SyncDir(path) })
	return err
}

// Lock acquires the lock of a file. Releasing the lock is not counted as an operation, since a crash releases it as
// well.
func (f *FS) Lock(path, holder string) (io.Closer, error) {
	return do(f, "lock", path, func() (io.Closer, error) { return f.inner.Lock(path, holder) })
}

// Locked reports whether a lock is held.
func (f *FS) Locked(path string) (bool, error) {
	return do(f, "locked", path, func() (bool, error) { return f.inner.Locked(path) })
}

// file counts the operations on an open file.
type file struct {
	inner files.File
	fs    *FS
	path  string
}

func (f *file) Read(p []byte) (int, error) {
	if err := f.fs.step("read", f.path); err != nil {
		return 0, err
	}
	return f.inner.Read(p)
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if err := f.fs.step("readat", f.path); err != nil {
		return 0, err
	}
	return f.inner.ReadAt(p, off)
}

func (f *file) Write(p []byte) (int, error) {
	err := f.fs.step("write", f.path)
	if err == nil {
		return f.inner.Write(p)
	}
	if f.fs.kind == Fail {
		return 0, err
	}
	n, werr := f.inner.Write(p[:len(p)/2])
	return n, errors.Join(err, werr, io.ErrShortWrite)
}

func (f *file) Stat() (fs.FileInfo, error) {
	if err := f.fs.step("fstat", f.path); err != nil {
		return nil, err
	}
	return f.inner.Stat()
}

func (f *file) Sync() error {
	if err := f.fs.step("sync", f.path); err != nil {
		return err
	}
	return f.inner.Sync()
}

// Close closes the inner file even if a fault is injected, so that tests leak no descriptors.
func (f *file) Close() error {
	err := f.fs.step("close", f.path)
	return errors.Join(err, f.inner.Close())
}
