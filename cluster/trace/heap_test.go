package trace_test

import (
	"io/fs"
	"runtime"
	"strings"

	"graft/internal/files"
)

// heap returns the bytes in use on the heap.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// oneFile returns a file system in which every path is a file with the given text.
func oneFile(text string) files.FS { return textFS{text: text} }

type textFS struct {
	files.FS
	text string
}

// Open returns the text as a file.
func (t textFS) Open(string) (files.File, error) {
	return textFile{Reader: strings.NewReader(t.text)}, nil
}

// textFile is an open text for reading only.
type textFile struct {
	*strings.Reader
}

// Write always fails.
func (textFile) Write([]byte) (int, error) { return 0, fs.ErrPermission }

// Close does nothing.
func (textFile) Close() error { return nil }

// Sync does nothing.
func (textFile) Sync() error { return nil }

// Stat always fails.
func (textFile) Stat() (fs.FileInfo, error) { return nil, fs.ErrInvalid }
