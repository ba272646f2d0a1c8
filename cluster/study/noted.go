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
		f, err := n.FS.Open(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, filepath.Base(path))
		if _, err = io.Copy(h, f); err != nil {
			return "", errors.Join(fmt.Errorf("read %s: %w", path, err), f.Close())
		}
		if err = f.Close(); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
