package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"graft/files"
)

// ledger says of each stage of a pipeline what it was made from, and what it made. It
// is a file of the run folder. What it does not know is done again: stages are such
// that this costs little where all is there.
type ledger struct {
	path   string
	stages map[string]entry
}

// entry is a stage that was done. All are digests.
type entry struct {
	From string `json:"from"` // options and what was read
	Made string `json:"made"` // the files that were written
}

// largestLedger is above any ledger's size.
const largestLedger = 4 << 20

// openLedger reads the ledger of a folder. One that is not there or damaged knows of
// nothing.
func openLedger(path string) (*ledger, error) {
	l := &ledger{path: path, stages: map[string]entry{}}
	text, err := files.ReadAll(files.OS{}, path, largestLedger)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(text, &l.stages) != nil || l.stages == nil {
		l.stages = map[string]entry{}
	}
	return l, nil
}

// holds says whether a stage was made from this and nothing of it has changed since.
func (l *ledger) holds(stage, from string, made func() (string, error)) bool {
	e, known := l.stages[stage]
	if !known || e.From != from {
		return false
	}
	now, err := made()
	return err == nil && now == e.Made
}

// note writes down that a stage was done.
func (l *ledger) note(stage, from string, made func() (string, error)) error {
	now, err := made()
	if err != nil {
		return fmt.Errorf("look at what %s has made: %w", stage, err)
	}
	l.stages[stage] = entry{from, now}
	text, err := json.MarshalIndent(l.stages, "", "  ")
	if err != nil {
		return err
	}
	return files.WriteAtomic(files.OS{}, l.path, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}

// digestOf is a digest of the contents of files, and of all files in folders but for
// locks, which say nothing.
func digestOf(paths ...string) (string, error) {
	h := sha256.New()
	for _, root := range paths {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(path, ".lock") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			there, err := filepath.Rel(root, path)
			fmt.Fprintf(h, "%s %d\n", there, len(text))
			_, _ = h.Write(text) // a hash takes everything
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// digestOfTexts is a digest of texts.
func digestOfTexts(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(h, "%d %s\n", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil))
}
