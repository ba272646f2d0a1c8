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

// Journal says of each stage of a pipeline what it was made from, and what it made. It
// is a file of the run folder. What it does not know is done again: stages are such
// that this costs little where all is there.
type Journal struct {
	Path   string           `json:"-"`
	Files  files.FS         `json:"-"`      // file system of the folder; needed to write and to digest
	Run    results.Manifest `json:"run"`    // as it was run last, and when it first began
	Stages []*Stage         `json:"stages"` // in their order
}

// Stage is a stage, and what has become of it.
type Stage struct {
	Name    string     `json:"stage"`   // what it does, such as learn
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
	StageWaiting StageState = "waits" // not begun yet
	StageRunning StageState = "begun" // and did not end, unless it is under way
	StageDone    StageState = "done"  // ended, by the last run or before it
	stageFailed  StageState = "failed"
)

// largestJournal is above any ledger's size.
const largestJournal = 4 << 20

// OpenJournal reads the ledger of a folder. One that is not there or damaged knows of
// nothing.
func OpenJournal(fsys files.FS, path string) (*Journal, error) {
	l, err := ReadJournal(fsys, path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errJournal) {
		return &Journal{Path: path, Files: fsys}, nil
	}
	return l, err
}

// errJournal says that a ledger is damaged.
var errJournal = errors.New("it is damaged; the same pipeline in the same folder makes it again")

// ReadJournal reads the ledger of a pipeline, also while that runs.
func ReadJournal(fsys files.FS, path string) (*Journal, error) {
	text, err := files.ReadAll(fsys, path, largestJournal)
	if err != nil {
		return nil, err
	}
	l := &Journal{Path: path, Files: fsys}
	if err := json.Unmarshal(text, l); err != nil {
		return nil, fmt.Errorf("reading %s: %w: %w", path, err, errJournal)
	}
	if len(l.Stages) == 0 || slices.Contains(l.Stages, nil) {
		return nil, fmt.Errorf("reading %s: it names no stages: %w", path, errJournal)
	}
	return l, nil
}

// Plan writes down which stages there will be. What is known of them stays known.
func (l *Journal) Plan(m results.Manifest, stages []*Stage) error {
	if !l.Run.Created.IsZero() {
		m.Created = l.Run.Created
	}
	for k, e := range stages {
		if was := l.Entry(e.Name); was != nil {
			now := *was
			now.State, now.Why = StageWaiting, ""
			if !slices.Equal(was.Files, e.Files) {
				now.From, now.Files, now.Parts = "", e.Files, e.Parts
			}
			stages[k] = &now
		}
	}
	l.Run, l.Stages = m, stages
	return l.write()
}

// Entry is a stage; nil where there is none of the name.
func (l *Journal) Entry(stage string) *Stage {
	for _, e := range l.Stages {
		if e.Name == stage {
			return e
		}
	}
	return nil
}

// Made is a digest of what a stage has made. That something is not there is a part of it.
func (l *Journal) Made(e *Stage) (string, error) {
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
func (l *Journal) Holds(e *Stage, from string) bool {
	if e.From == "" || e.From != from {
		return false
	}
	now, err := l.Made(e)
	return err == nil && now == e.Made
}

// Begin writes down that a stage begins.
func (l *Journal) Begin(e *Stage, now time.Time) error {
	e.State, e.Began, e.Why = StageRunning, now.UTC(), ""
	return l.write()
}

// Reuse writes down that a stage was skipped.
func (l *Journal) Reuse(e *Stage) error {
	e.State = StageDone
	e.Reused++
	return l.write()
}

// End writes down that a stage was done.
func (l *Journal) End(e *Stage, from string, seconds float64) error {
	made, err := l.Made(e)
	if err != nil {
		return fmt.Errorf("look at what %s has made: %w", e.Name, err)
	}
	e.State, e.From, e.Made, e.Seconds, e.Reused = StageDone, from, made, seconds, 0
	return l.write()
}

// Fail writes down why a stage has not ended.
func (l *Journal) Fail(e *Stage, why error) error {
	e.State, e.Why = stageFailed, why.Error()
	return l.write()
}

func (l *Journal) write() error {
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
