package runs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"graft/files"
	"graft/results"
)

// Ledger says of each stage of a pipeline what it was made from, and what it made. It
// is a file of the run folder. What it does not know is done again: stages are such
// that this costs little where all is there.
type Ledger struct {
	Path  string           `json:"-"`
	Files files.FS         `json:"-"`      // file system of the folder; needed to write and to digest
	Run   results.Manifest `json:"run"`    // as it was run last, and when it first began
	All   []*StageEntry    `json:"stages"` // in their order
}

// StageEntry is a stage, and what has become of it.
type StageEntry struct {
	Stage   string     `json:"stage"`   // what it does, such as learn
	State   StageState `json:"state"`   // of the last run of the pipeline
	Parts   []string   `json:"parts"`   // folders of the runs that it leaves, in the pipeline's
	Files   []string   `json:"files"`   // what it makes, in the pipeline's folder
	From    string     `json:"from"`    // digest of options and what was read; empty was never done
	Made    string     `json:"made"`    // digest of the files
	Began   time.Time  `json:"began"`   // when it was last begun; zero is never
	Seconds float64    `json:"seconds"` // that it took when it was last done, in the process that ended it
	Reused  int        `json:"reused"`  // how often it was skipped since, as nothing had changed
	Why     string     `json:"why"`     // it failed; empty where it has not
}

// StageState is how far a stage is.
type StageState string

const (
	StageWaits  StageState = "waits" // not begun yet
	StageBegun  StageState = "begun" // and did not end, unless it is under way
	StageDone   StageState = "done"  // ended, by the last run or before it
	stageFailed StageState = "failed"
)

// largestLedger is above any ledger's size.
const largestLedger = 4 << 20

// OpenLedger reads the ledger of a folder. One that is not there or damaged knows of
// nothing.
func OpenLedger(fsys files.FS, path string) (*Ledger, error) {
	l, err := ReadLedger(fsys, path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errLedger) {
		return &Ledger{Path: path, Files: fsys}, nil
	}
	return l, err
}

// errLedger says that a ledger is damaged.
var errLedger = errors.New("it is damaged; the same pipeline in the same folder makes it again")

// ReadLedger reads the ledger of a pipeline, also while that runs.
func ReadLedger(fsys files.FS, path string) (*Ledger, error) {
	text, err := files.ReadAll(fsys, path, largestLedger)
	if err != nil {
		return nil, err
	}
	l := &Ledger{Path: path, Files: fsys}
	if err := json.Unmarshal(text, l); err != nil {
		return nil, fmt.Errorf("reading %s: %w: %w", path, err, errLedger)
	}
	if len(l.All) == 0 || slices.Contains(l.All, nil) {
		return nil, fmt.Errorf("reading %s: it names no stages: %w", path, errLedger)
	}
	return l, nil
}

// Plan writes down which stages there will be. What is known of them stays known.
func (l *Ledger) Plan(m results.Manifest, stages []*StageEntry) error {
	if !l.Run.Created.IsZero() {
		m.Created = l.Run.Created
	}
	for k, e := range stages {
		if was := l.Entry(e.Stage); was != nil {
			now := *was
			now.State, now.Why = StageWaits, ""
			if !slices.Equal(was.Files, e.Files) {
				now.From, now.Files, now.Parts = "", e.Files, e.Parts
			}
			stages[k] = &now
		}
	}
	l.Run, l.All = m, stages
	return l.write()
}

// Entry is a stage; nil where there is none of the name.
func (l *Ledger) Entry(stage string) *StageEntry {
	for _, e := range l.All {
		if e.Stage == stage {
			return e
		}
	}
	return nil
}

// Made is a digest of what a stage has made. That something is not there is a part of it.
func (l *Ledger) Made(e *StageEntry) (string, error) {
	var all []string
	for _, name := range e.Files {
		digest, err := DigestOf(l.Files, filepath.Join(filepath.Dir(l.Path), name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		all = append(all, digest)
	}
	return DigestOfTexts(all...), nil
}

// Holds says whether a stage was made from this and nothing of it has changed since.
func (l *Ledger) Holds(e *StageEntry, from string) bool {
	if e.From == "" || e.From != from {
		return false
	}
	now, err := l.Made(e)
	return err == nil && now == e.Made
}

// Begin writes down that a stage begins.
func (l *Ledger) Begin(e *StageEntry, now time.Time) error {
	e.State, e.Began, e.Why = StageBegun, now.UTC(), ""
	return l.write()
}

// Reuse writes down that a stage was skipped.
func (l *Ledger) Reuse(e *StageEntry) error {
	e.State = StageDone
	e.Reused++
	return l.write()
}

// End writes down that a stage was done.
func (l *Ledger) End(e *StageEntry, from string, seconds float64) error {
	made, err := l.Made(e)
	if err != nil {
		return fmt.Errorf("look at what %s has made: %w", e.Stage, err)
	}
	e.State, e.From, e.Made, e.Seconds, e.Reused = StageDone, from, made, seconds, 0
	return l.write()
}

// Fail writes down why a stage has not ended.
func (l *Ledger) Fail(e *StageEntry, why error) error {
	e.State, e.Why = stageFailed, why.Error()
	return l.write()
}

func (l *Ledger) write() error {
	text, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	return files.WriteAtomic(l.Files, l.Path, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}

// largestDigested is in bytes, above the size of any file of a run.
const largestDigested = 1 << 40

// DigestOf is a SHA-256 in hex of the contents of files, and of all files in folders but
// for locks, which say nothing.
func DigestOf(fsys files.FS, paths ...string) (string, error) {
	h := sha256.New()
	for _, root := range paths {
		if err := digest(fsys, h, root, "."); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// digest adds a file, or all files of a folder in the order of their names. Each counts
// with its path from the root.
func digest(fsys files.FS, h hash.Hash, root, there string) error {
	path := filepath.Join(root, there)
	info, err := fsys.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		text, err := files.ReadAll(fsys, path, largestDigested)
		fmt.Fprintf(h, "%s %d\n", there, len(text))
		_, _ = h.Write(text) // a hash takes everything
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

// DigestOfTexts is a digest of texts.
func DigestOfTexts(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(h, "%d %s\n", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil))
}
