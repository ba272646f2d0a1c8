package study

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"graft/internal/files"
)

// Noted is a file system that records the files that were opened, for a digest of their contents.
type Noted struct {
	files.FS
	paths []string
}

// Open opens a file and records it.
func (n *Noted) Open(path string) (files.File, error) {
	f, err := n.FS.Open(path)
	if err == nil {
		n.paths = append(n.paths, path)
	}
	return f, err
}

// Digest returns the SHA-256, in hex, of the names and contents of all opened files.
func (n *Noted) Digest() (string, error) {
	h := sha256.New()
	for _, path := range n.paths {
		fmt.Fprintln(h, filepath.Base(path))
		if err := addFile(h, n.FS, path); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// addFile adds the contents of a file to a digest.
func addFile(h io.Writer, fsys files.FS, path string) error {
	f, err := fsys.Open(path)
	if err != nil {
		return err
	}
	if _, err = io.Copy(h, f); err != nil {
		return errors.Join(fmt.Errorf("read %s: %w", path, err), f.Close())
	}
	return f.Close()
}
