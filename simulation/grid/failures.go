package grid

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"graft/internal/files"
	"graft/simulation/tables"
	"graft/trainer"
)

// Failures records failed attempts at segments in a shared folder, one file per attempt.
type Failures struct {
	fsys files.FS
	dir  string
}

// Failure is a failed attempt at a segment.
type Failure struct {
	Key      string   `json:"key"`      // key of the segment
	Sequence []string `json:"sequence"` // actions of the segment
	Seed     int64    `json:"seed"`     // seed of the segment
	Attempt  int      `json:"attempt"`  // number of the attempt, from 1
	Why      string   `json:"why"`      // reason of the failure
	// Diverged reports that training diverged, so the segment fails again.
	Diverged bool `json:"diverged,omitempty"`
}

// mostAttempts limits the attempts that are counted.
const mostAttempts = 1000

// OpenFailures opens the failures folder, and creates it if it is missing.
func OpenFailures(fsys files.FS, dir string) (*Failures, error) {
	if err := fsys.MkdirAll(dir); err != nil {
		return nil, fmt.Errorf("create the failures folder: %w", err)
	}
	return &Failures{fsys, dir}, nil
}

func (t *Failures) path(key string, attempt int) string {
	return filepath.Join(t.dir, fmt.Sprintf("%s-%d.json", key, attempt))
}

// Count returns the number of failed attempts at a segment.
func (t *Failures) Count(key string) int {
	n := 0
	for n < mostAttempts {
		if _, err := t.fsys.Stat(t.path(key, n+1)); err != nil {
			break
		}
		n++
	}
	return n
}

// Add records a failed attempt.
func (t *Failures) Add(key string, segment Segment, why error) error {
	for attempt := t.Count(key) + 1; ; attempt++ {
		text, err := json.MarshalIndent(Failure{key, segment.Sequence, segment.Seed, attempt, why.Error(),
			errors.Is(why, trainer.ErrDiverged)}, "", "  ")
		if err != nil {
			return err
		}
		err = tables.WriteNew(t.fsys, t.path(key, attempt), append(text, '\n'))
		if !errors.Is(err, fs.ErrExist) || attempt > mostAttempts {
			return err
		}
	}
}

// List returns all failed attempts, in the order of file names.
func (t *Failures) List() ([]Failure, error) {
	entries, err := t.fsys.ReadDir(t.dir)
	var list []Failure
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") || filepath.Ext(entry.Name()) != ".json" {
			continue
		}
		text, err := files.ReadAll(t.fsys, filepath.Join(t.dir, entry.Name()), largestResult)
		if err != nil {
			return list, err
		}
		var one Failure
		if err := json.Unmarshal(text, &one); err != nil {
			one = Failure{Why: fmt.Sprintf("cannot read the failure record %s: %v", entry.Name(), err)}
		}
		list = append(list, one)
	}
	return list, err
}

// Clear deletes the records of failures, so that failed segments run again.
func (t *Failures) Clear() error {
	entries, err := t.fsys.ReadDir(t.dir)
	for _, entry := range entries {
		err = errors.Join(err, t.fsys.Remove(filepath.Join(t.dir, entry.Name())))
	}
	return err
}
