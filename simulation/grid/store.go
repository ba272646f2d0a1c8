package grid

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"

	"graft/internal/files"
	"graft/results"
	"graft/simulation/tables"
	"graft/trainer"
)

// Store holds the outcomes of segments, and the states of jobs between segments. Each key is a digest of the inputs
// that determine the content. A segment that ran for one scenario is available to all other scenarios. Several
// processes on several machines may use the same store. An outcome is committed once: it is written under a temporary
// name, synced and linked to its final name, which a second outcome cannot replace.
type Store struct {
	fsys files.FS
	dir  string
}

// Folders of a store, and suffixes of its files.
const (
	outcomesName  = "outcomes"
	statesName    = "states"
	outcomeSuffix = ".json"
	stateSuffix   = ".state"   // a job before a decision
	stoppedSuffix = ".stopped" // a job that was stopped before its next decision
	largestResult = tables.MaxLine + 1
)

// OpenStore opens a store, and creates its missing folders.
func OpenStore(fsys files.FS, dir string) (*Store, error) {
	for _, name := range []string{outcomesName, statesName} {
		if err := fsys.MkdirAll(filepath.Join(dir, name)); err != nil {
			return nil, fmt.Errorf("open the cache %s: %w; set simulate.cache to a writable folder",
				dir, err)
		}
	}
	return &Store{fsys, dir}, nil
}

// place is the path of a key's file. Subfolders named by two digits keep folders small.
func (s *Store) place(kind, key, suffix string) string {
	return filepath.Join(s.dir, kind, key[:2], key+suffix)
}

// Outcome reads the outcome with the given key. If the outcome is missing, the error wraps fs.ErrNotExist. An outcome
// that is damaged, or that does not match the argument want, is moved aside and treated as missing.
func (s *Store) Outcome(key string, want Expected) (*Outcome, error) {
	path := s.place(outcomesName, key, outcomeSuffix)
	text, err := files.ReadAll(s.fsys, path, largestResult)
	if err != nil {
		return nil, err
	}
	o, err := parseOutcome(text, key)
	if err == nil {
		err = o.check(want)
	}
	if err == nil {
		return o, nil
	}
	aside, moving := files.MoveAside(s.fsys, path)
	if moving != nil && !errors.Is(moving, fs.ErrNotExist) { // otherwise another process was faster
		return nil, fmt.Errorf("read outcome %s: %w; %w", path, err, moving)
	}
	return nil, fmt.Errorf("read outcome %s: %w; the file was moved to %s: %w", path, err, aside, fs.ErrNotExist)
}

// Commit stores an outcome. It does not replace an existing outcome.
func (s *Store) Commit(o *Outcome) error {
	text, err := formatOutcome(o)
	if err != nil {
		return fmt.Errorf("commit %s: %w", o.Segment(), err)
	}
	path := s.place(outcomesName, o.Key, outcomeSuffix)
	if err := s.fsys.MkdirAll(filepath.Dir(path)); err != nil {
		return fmt.Errorf("commit %s: %w", o.Segment(), err)
	}
	if err = tables.WriteNew(s.fsys, path, text); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("commit %s: %w", o.Segment(), err)
	}
	return nil
}

// state is the checkpoint of a job before a decision, or of a stopped job.
type state map[string][]byte

// saveState saves a job's state under the suffix for a segment's end or for a stopped job.
func (s *Store) saveState(key, suffix string, st state) error {
	path := s.place(statesName, key, suffix)
	if err := s.fsys.MkdirAll(filepath.Dir(path)); err != nil {
		return fmt.Errorf("save the state of a job: %w", err)
	}
	return results.WriteCheckpoint(s.fsys, path, func(w *results.CheckpointWriter) error {
		for _, name := range slices.Sorted(maps.Keys(st)) {
			if err := w.Bytes(name, st[name]); err != nil {
				return err
			}
		}
		return nil
	})
}

// state reads a job's state; nil if it is missing or incomplete.
func (s *Store) state(key, suffix string) (state, error) {
	c, err := results.ReadCheckpoint(s.fsys, s.place(statesName, key, suffix))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, results.ErrDamaged) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	return trainer.ReadSections(c)
}

// dropState deletes a job's state. A failed deletion is harmless.
func (s *Store) dropState(key, suffix string) {
	_ = s.fsys.Remove(s.place(statesName, key, suffix))
}

// asidePattern matches the name of an outcome that was moved aside.
var asidePattern = regexp.MustCompile(`\.json\.[1-9][0-9]*$`)

// Damaged lists the outcomes that were moved aside.
func (s *Store) Damaged() ([]string, error) {
	var found []string
	folders, err := s.fsys.ReadDir(filepath.Join(s.dir, outcomesName))
	for _, folder := range folders {
		entries, err := s.fsys.ReadDir(filepath.Join(s.dir, outcomesName, folder.Name()))
		if err != nil {
			return found, err
		}
		for _, entry := range entries {
			if asidePattern.MatchString(entry.Name()) {
				found = append(found, filepath.Join(s.dir, outcomesName, folder.Name(), entry.Name()))
			}
		}
	}
	return found, err
}
