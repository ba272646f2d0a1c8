package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"graft/internal/files"
	"graft/results"
)

// Journal records the inputs and outputs of each stage of a pipeline, in a file of its run folder. A stage without an
// entry runs again, and reuses finished work in its folder.
type Journal struct {
	Path   string           `json:"-"`
	Files  files.FS         `json:"-"`      // file system in which the journal is written and outputs are digested
	Run    results.Manifest `json:"run"`    // manifest of the last run, with the start time of the first run
	Stages []*Stage         `json:"stages"` // stages in order
}

// Stage is a stage of a pipeline with its state.
type Stage struct {
	Name    string     `json:"stage"`   // name of the stage, such as learn
	State   StageState `json:"state"`   // state of the stage in the last run of the pipeline
	Parts   []string   `json:"parts"`   // run folders of the stage, in the pipeline's folder
	Files   []string   `json:"files"`   // output files of the stage, in the pipeline's folder
	From    string     `json:"from"`    // digest of options and inputs; empty if the stage has never completed
	Made    string     `json:"made"`    // digest of the outputs
	Began   time.Time  `json:"began"`   // time of the last start; zero if the stage has never started
	Seconds float64    `json:"seconds"` // duration of the last run in the process that completed it, in seconds
	// number of times that the stage was skipped since it last ran, because nothing changed
	Reused int    `json:"reused"`
	Why    string `json:"why"` // reason of the failure; empty if the stage has not failed
}

// StageState is the state of a pipeline's stage.
type StageState string

const (
	StageWaiting StageState = "waits" // not started yet
	StageRunning StageState = "begun" // running, or killed
	StageDone    StageState = "done"  // completed in the last run or in an earlier run
	stageFailed  StageState = "failed"
)

// largestJournal is the maximum size of a journal, in bytes.
const largestJournal = 4 << 20

// OpenJournal opens the journal of a folder. A missing or damaged journal is treated as empty.
func OpenJournal(fsys files.FS, path string) (*Journal, error) {
	l, err := ReadJournal(fsys, path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errJournal) {
		return &Journal{Path: path, Files: fsys}, nil
	}
	return l, err
}

// errJournal reports a damaged journal.
var errJournal = errors.New("the journal is damaged; run the same pipeline in the same folder to rewrite it")

// ReadJournal reads the journal of a pipeline, without a lock.
func ReadJournal(fsys files.FS, path string) (*Journal, error) {
	text, err := files.ReadAll(fsys, path, largestJournal)
	if err != nil {
		return nil, err
	}
	l := &Journal{Path: path, Files: fsys}
	if err := json.Unmarshal(text, l); err != nil {
		return nil, fmt.Errorf("read %s: %w: %w", path, err, errJournal)
	}
	if len(l.Stages) == 0 || slices.Contains(l.Stages, nil) {
		return nil, fmt.Errorf("read %s: no stages found: %w", path, errJournal)
	}
	return l, nil
}

// Plan records the manifest and the planned stages of a run. A stage that is already recorded keeps its entry. If its
// list of output files has changed, the entry takes the new list and forgets its inputs, so that the stage runs again.
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

// Entry returns a stage by name, or nil if there is none.
func (l *Journal) Entry(stage string) *Stage {
	for _, e := range l.Stages {
		if e.Name == stage {
			return e
		}
	}
	return nil
}

// Made returns the digest of a stage's output files. If a file is missing, the digest changes.
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

// Holds reports whether a stage ran on inputs with the digest from, and whether its outputs have not changed since
// then.
func (l *Journal) Holds(e *Stage, from string) bool {
	if e.From == "" || e.From != from {
		return false
	}
	now, err := l.Made(e)
	return err == nil && now == e.Made
}

// Complete reports whether all stages are done, apart from failed scenarios, and no output has changed since.
func (l *Journal) Complete() bool {
	for _, e := range l.Stages {
		if e.State == StageDone && !l.Holds(e, e.From) {
			return false
		}
	}
	return len(l.Stages) > 0 && l.ended()
}

// Restore writes the journal again, in place of the journal of a later run.
func (l *Journal) Restore() error { return l.write() }

// Begin records the start of a stage.
func (l *Journal) Begin(e *Stage, now time.Time) error {
	e.State, e.Began, e.Why = StageRunning, now.UTC(), ""
	return l.write()
}

// Reuse records that a stage was skipped.
func (l *Journal) Reuse(e *Stage) error {
	e.State = StageDone
	e.Reused++
	return l.write()
}

// End records that a stage completed after a number of seconds. The argument from is the digest of the stage's inputs.
func (l *Journal) End(e *Stage, from string, seconds float64) error {
	made, err := l.Made(e)
	if err != nil {
		return fmt.Errorf("inspect the output of stage %s: %w", e.Name, err)
	}
	e.State, e.From, e.Made, e.Seconds, e.Reused = StageDone, from, made, seconds, 0
	return l.write()
}

// Fail records the failure of a stage with its reason.
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
