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

// Store keeps the outcomes of segments, and the states of jobs in between, by the keys of
// their causes: what was run once for one scenario is there for every other. Several
// processes may use it, on several machines. An outcome is committed once: it is
// written under another name, synced and linked to its own, which a second cannot take
// from it.
type Store struct {
	fsys files.FS
	dir  string
}

// The folders of a store, and what its files end in.
const (
	outcomesName  = "outcomes"
	statesName    = "states"
	outcomeSuffix = ".json"
	stateSuffix   = ".state"   // of a job before a decision
	stoppedSuffix = ".stopped" // of one that was stopped on its way there
	largestResult = tables.MaxLine + 1
)

// OpenStore makes a store's folders where they are not there.
func OpenStore(fsys files.FS, dir string) (*Store, error) {
	for _, name := range []string{outcomesName, statesName} {
		if err := fsys.MkdirAll(filepath.Join(dir, name)); err != nil {
			return nil, fmt.Errorf("open the cache %s: %w; name a folder that can be written with simulate.cache",
				dir, err)
		}
	}
	return &Store{fsys, dir}, nil
}

// place is the path of a key's file. Folders of two digits keep each of them short.
func (s *Store) place(kind, key, suffix string) string {
	return filepath.Join(s.dir, kind, key[:2], key+suffix)
}

// Outcome reads the outcome of a key; an error that wraps fs.ErrNotExist where there is
// none. An outcome that is damaged or impossible is moved aside, and there is none then.
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
	if moving != nil && !errors.Is(moving, fs.ErrNotExist) { // else another process was quicker
		return nil, fmt.Errorf("read outcome %s: %w; %w", path, err, moving)
	}
	return nil, fmt.Errorf("read outcome %s: %w; it was moved to %s: %w", path, err, aside, fs.ErrNotExist)
}

// Commit keeps an outcome. Where there is one already, it stays.
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

// saveState keeps a job's state under the suffix of a segment's end or of a stopped job.
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

// state reads a job's state; nil where there is none, or none that is whole.
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

// dropState deletes a job's state. A state that cannot be deleted does no harm.
func (s *Store) dropState(key, suffix string) {
	_ = s.fsys.Remove(s.place(statesName, key, suffix))
}

// asidePattern is the name of an outcome that was moved aside.
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
