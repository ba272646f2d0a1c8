package runs

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/document"
	"graft/results"
)

// AsConfigFault gives configuration errors the exit code Configuration.
func AsConfigFault(err error) error {
	var faults config.Faults
	if errors.As(err, &faults) {
		return failure.With(failure.Configuration, err)
	}
	return err
}

// Base returns the name of the run's folder without its path, so that figures do not reveal paths on this machine.
func (r *Run) Base() string { return filepath.Base(Absolute(r.Path)) }

// mostConfiguration is the maximum size of a displayed configuration, in bytes.
const mostConfiguration = 256 << 10

// Heading returns the title of the run on a page.
func (r *Run) Heading() string {
	switch s := r.Selected; {
	case s.Job != "":
		return document.Printable("Job " + s.Job + " in " + r.Path)
	case s.Node != "":
		return document.Printable("Node " + s.Node + " in " + r.Path)
	}
	return strings.ToUpper(r.Kind.Title[:1]) + r.Kind.Title[1:] + " " + document.Printable(r.Path)
}

// Configuration returns the text of the resolved configuration file or, if it is missing or too large, one line per
// setting.
func (r *Run) Configuration() string {
	if text := r.folder.configuration(ResolvedFile).Text(); text != "" && len(text) <= mostConfiguration {
		return document.PrintableLines(text)
	}
	var b strings.Builder
	for _, s := range r.Settings {
		fmt.Fprintf(&b, "%s = %s\n", document.Printable(s.Key), document.Printable(s.Text))
	}
	return b.String()
}

// Run holds the content of a run folder.
type Run struct {
	Path       string
	Kind       *Kind
	Manifest   results.Manifest // manifest of the run; zero if the kind of run has none
	Seeded     bool             // the seed in the manifest is the seed of the whole run
	Ended      bool             // the run is complete, and the quantities are its outcome
	Begun      bool             // the run has no results yet, since it is starting or was killed at its start
	Settings   []config.Setting // configuration, sorted by key; nil without a configuration
	Quantities []Quantity       // quantities of the outcome or, for an incomplete run, of its progress
	// digest or text of the outcome, which identifies copies of the same run; empty before the run ends
	Outcome string
	Faults  error // errors about unreadable parts; nil if there are none
	// part of a single simulation that its report is about; zero for the whole simulation and for other runs
	Selected Selection

	Files files.FS // file system of the folder, read-only

	live   string // changes of devices outside of the timeline of a job, such as over HTTP; empty for none
	folder *Folder
}

// Setting returns the value of a configuration key.
func (r *Run) Setting(key string) (text string, given bool) {
	k, found := slices.BinarySearchFunc(r.Settings, key,
		func(s config.Setting, key string) int { return strings.Compare(s.Key, key) })
	if !found {
		return "", false
	}
	return r.Settings[k].Text, true
}

// ErrBegun reports that a run has begun but has no files besides its manifest yet.
var ErrBegun = errors.New("the run has no files yet: it is starting, or was killed while starting")

// Open reads a run folder of any kind, without a lock and without changing it. For a damaged folder, for a folder that
// graft did not write, and for a run that was killed before its manifest was written, the error has the exit code
// Damaged. For a missing folder, the error has no exit code.
func Open(fsys files.FS, folder string) (*Run, error) {
	f, err := ReadFolder(fsys, folder)
	if err != nil {
		return nil, err
	}
	f.openRun = func(folder string) (*Run, error) { return Open(fsys, folder) }
	r, err := f.open()
	if err != nil {
		return nil, failure.AsDamage(fmt.Errorf("%s: %w", f.Path, err))
	}
	return r, nil
}

func (f *Folder) open() (*Run, error) {
	kind, err := f.Kind()
	if err != nil {
		return nil, err
	}
	r := &Run{Path: f.Path, Kind: kind, Files: f.Files, folder: f}
	switch {
	case r.Kind == nil && f.isBegun() && f.Has(ManifestFile):
		return nil, fmt.Errorf("the folder is incomplete: %w", ErrBegun)
	case r.Kind == nil && f.isBegun():
		return nil, fmt.Errorf(
			"the folder is incomplete: %s is missing; the run is starting, or was killed while starting",
			ManifestFile)
	case r.Kind == nil:
		return nil, ErrForeign
	case !kind.matches(f) && !f.Has(OutcomeFile):
		r.Begun = true
		return r, f.readOwn(r, nil)
	}
	err = kind.read(f, r)
	if r.Outcome == "" && r.Ended {
		r.Outcome = fmt.Sprint(r.Quantities)
	}
	return r, err
}

// OutcomeOf returns the outcome of a run, or nil before the run ends. T must be the outcome type of the run's kind.
// Callers share the result and must not change it.
func OutcomeOf[T any](r *Run) (*T, error) {
	if !r.Ended {
		return nil, nil
	}
	o, err := keep(&r.folder.kept, OutcomeFile, func() (any, error) {
		o := new(T)
		return o, results.ReadOutcome(r.Files, r.Path, o)
	})
	if err != nil {
		return nil, err
	}
	typed, ok := o.(*T)
	if !ok {
		return nil, fmt.Errorf("the outcome of a %s has type %T; expected %T", r.Kind.Name, o, typed)
	}
	return typed, nil
}

// Journal returns the journal of a pipeline.
func (r *Run) Journal() (*Journal, error) { return r.folder.readJournal() }

// Parts lists the runs of a pipeline's stages. The error lists the runs that are missing, unreadable or incomplete.
func (r *Run) Parts() (all []Part, faults error) {
	return keep(&r.folder.kept, "parts", func() ([]Part, error) {
		l, err := r.Journal()
		if err != nil {
			return nil, err
		}
		return l.Parts(r.folder.openRun)
	})
}

// Learning returns the table of learning metrics.
func (r *Run) Learning() (*results.Table, error) {
	return keep(&r.folder.kept, LearningFile, func() (*results.Table, error) {
		return results.ReadStream(r.Files, filepath.Join(r.Path, LearningFile))
	})
}

// OpenPart opens a run in the folder of this run, such as a stage of a pipeline.
func (r *Run) OpenPart(folder string) (*Run, error) { return Open(r.Files, folder) }
