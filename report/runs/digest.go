package runs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"graft/internal/files"
	"hash"
	"path/filepath"
	"strings"
)

// DigestOf returns the hexadecimal SHA-256 hash of files and folders. Lock files in folders are ignored.
func DigestOf(fsys files.FS, paths ...string) (string, error) {
	h := sha256.New()
	for _, root := range paths {
		if err := digest(fsys, h, root, "."); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// digest hashes a file, or all files of a folder by name, each with its path relative to the root.
func digest(fsys files.FS, h hash.Hash, root, there string) error {
	path := filepath.Join(root, there)
	info, err := fsys.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		fmt.Fprintf(h, "%s %d\n", there, info.Size())
		return files.CopyTo(h, fsys, path)
	}
	entries, err := fsys.ReadDir(path)
	for _, e := range entries {
		if err == nil && !strings.HasSuffix(e.Name(), ".lock") {
			err = digest(fsys, h, root, filepath.Join(there, e.Name()))
		}
	}
	return err
}

// DigestOfTexts returns the hexadecimal SHA-256 hash of a list of strings.
func DigestOfTexts(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(h, "%d %s\n", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil))
}
