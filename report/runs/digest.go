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

// largestDigested limits the size of a digested file, in bytes.
const largestDigested = 1 << 40

// DigestOf returns the SHA-256, in hex, of the given files and of all files in the given folders, except locks.
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
		text, err := files.ReadAll(fsys, path, largestDigested)
		fmt.Fprintf(h, "%s %d\n", there, len(text))
		_, _ = h.Write(text) // a hash never fails
		return err
	}
	entries, err := fsys.ReadDir(path)
	for _, e := range entries {
		if err == nil && !strings.HasSuffix(e.Name(), ".lock") {
			err = digest(fsys, h, root, filepath.Join(there, e.Name()))
		}
	}
	return err
}

// DigestOfTexts returns the SHA-256, in hex, of a list of strings.
func DigestOfTexts(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(h, "%d %s\n", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil))
}
