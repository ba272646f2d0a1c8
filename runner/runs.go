package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"graft/config"
	"graft/files"
	"graft/results"
)

// runKind is a kind of run folder: how it is known and what is read from it. A new kind
// is a new file and a line in runKinds.
type runKind struct {
	name   string // one word, which reports use
	title  string // what one of them is called, and several
	titles string
	// fits says whether a folder is of this kind, by what lies in it.
	fits func(f *runFolderView) bool
	// read takes what the folder says of itself and what came out: no more than a
	// line for it among a thousand others needs.
	read func(f *runFolderView, r *runData) error
	// series reads all that was measured over time; nil where nothing was.
	series func(r *runData) ([]runSeries, error)
}

// runKinds are asked in this order.
func runKinds() []*runKind {
	return []*runKind{clusterRuns, pipelineRuns, simulationRuns, policiesRuns, policyRuns, jobRuns, evaluationRuns, tableRuns, originalRuns}
}

// runData is a run folder that was read.
type runData struct {
	Path       string
	Kind       *runKind
	Manifest   results.Manifest // zero where the kind has none
	Seeded     bool             // the manifest's seed is that of the run
	Ended      bool             // it has come to its end: the quantities are its outcome, and not where it stands
	Settings   []config.Setting // its configuration, sorted by key; nil where it has none
	Quantities []quantity       // what came out, or where it stands
	Outcome    string           // what came out, as a digest or in full: of two with the same seed and settings it is the same run twice; empty before the end
	Faults     error            // what of it cannot be read, while the rest can; nil for nothing

	fsys files.FS
}

// setting is the value of a key of the configuration.
func (r *runData) setting(key string) (text string, given bool) {
	k, found := slices.BinarySearchFunc(r.Settings, key, func(s config.Setting, key string) int { return strings.Compare(s.Key, key) })
	if !found {
		return "", false
	}
	return r.Settings[k].Text, true
}

// series are all that was measured over time.
func (r *runData) series() ([]runSeries, error) {
	if r.Kind.series == nil {
		return nil, nil
	}
	list, err := r.Kind.series(r)
	return list, damaged(err)
}

// quantity is a named figure of a run, or of several that differ in their seed.
type quantity struct {
	Name   string
	Unit   string  // such as s, nats or points; share is between 0 and 1; empty is a count
	Aim    aim     // which way is better
	Seeds  []int64 // of the values; nil where the value is of no seed
	Values []float64
}

// aim is which way a quantity is better.
type aim int

const (
	noAim aim = iota // neither is
	upward
	downward
)

// Units of quantities.
const (
	unitShare   = "share"
	unitPoints  = "points"
	unitSeconds = "s"
	unitNats    = "nats"
)

// one is a quantity with a value of one seed.
func one(name, unit string, to aim, seed int64, value float64) quantity {
	return quantity{Name: name, Unit: unit, Aim: to, Seeds: []int64{seed}, Values: []float64{value}}
}

// seedless is a quantity whose value is of no seed.
func seedless(name, unit string, to aim, value float64) quantity {
	return quantity{Name: name, Unit: unit, Aim: to, Values: []float64{value}}
}

// runSeries is a table of what was measured over time.
type runSeries struct {
	Name    string // such as epochs
	Columns []runColumn
}

// runColumn is a column of a series: numbers or, where they are nil, texts.
type runColumn struct {
	Name   string
	Unit   string    // empty for none
	Values []float64 // NaN where one is missing
	Texts  []string
}

// column is one of the columns; nil where there is none of the name.
func (s *runSeries) column(name string) *runColumn {
	for k := range s.Columns {
		if s.Columns[k].Name == name {
			return &s.Columns[k]
		}
	}
	return nil
}

// seriesOf makes a series of a table.
func seriesOf(name string, t *results.Table) (runSeries, error) {
	s := runSeries{Name: name}
	for _, c := range t.Columns {
		column := runColumn{Name: c.Name, Unit: c.Unit}
		var err error
		switch c.Kind {
		case results.String:
			column.Texts, err = t.Strings(c.Name)
		case results.Bool:
			continue
		default:
			column.Values, err = t.Floats(c.Name)
		}
		if err != nil {
			return s, err
		}
		s.Columns = append(s.Columns, column)
	}
	return s, nil
}

// streamSeries reads tables of a run folder; one that is not there is left out.
func streamSeries(r *runData, names ...string) ([]runSeries, error) {
	var list []runSeries
	for _, name := range names {
		t, err := results.ReadStream(r.fsys, filepath.Join(r.Path, name+".csv"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		s, err := seriesOf(name, t)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// runFolderView is a folder as it is looked at, to find out what it is.
type runFolderView struct {
	path    string
	fsys    files.FS
	entries []fs.DirEntry
	other   func(folder string) (*runData, error) // opens a run that is a part of this one
}

func (f *runFolderView) has(name string) bool { return files.HasName(f.entries, name) }

func (f *runFolderView) at(name string) string { return filepath.Join(f.path, name) }

// Names in run folders by which they are known.
const (
	manifestFile = "manifest.json"
	outcomeFile  = "outcome.json"
	lockFile     = "lock"
	givenFile    = "config.toml"
	scenarioJSON = "scenario.json"
)

// errForeign says that a folder is no run's.
var errForeign = errors.New("it is no folder of a run: there is nothing in it that graft or the original has written; name the folder of a run, or one in which such lie")

// openRun reads a run folder, whatever kind it is of, also while it is written: nothing
// is locked, written or moved. What is damaged, half-written or foreign is an error,
// whose exit code tells it from a folder that is not there.
func openRun(folder string) (*runData, error) {
	f, err := viewFolder(folder)
	if err != nil {
		return nil, err
	}
	f.other = openRun
	r, err := f.open()
	if err != nil {
		return nil, damaged(fmt.Errorf("%s: %w", f.path, err))
	}
	return r, nil
}

// damaged gives an error the code of files that are not what they claim to be.
func damaged(err error) error {
	var coded *exitError
	if errors.As(err, &coded) {
		return err
	}
	return withCode(exitDamaged, err)
}

func viewFolder(folder string) (*runFolderView, error) {
	f := &runFolderView{path: filepath.Clean(folder), fsys: files.ReadOnly{FS: files.OS{}}}
	var err error
	if f.entries, err = f.fsys.ReadDir(f.path); err != nil {
		return nil, fmt.Errorf("read run: %w; name a folder", err)
	}
	return f, nil
}

// kind is what the folder is one of; nil for none.
func (f *runFolderView) kind() *runKind {
	for _, k := range runKinds() {
		if k.fits(f) {
			return k
		}
	}
	return nil
}

// isBegun says whether graft has begun a run in the folder. Others have files of the
// manifest's name too.
func (f *runFolderView) isBegun() bool {
	if f.has(lockFile) {
		return true
	}
	_, err := results.ReadManifest(f.fsys, f.path)
	return err == nil
}

func (f *runFolderView) open() (*runData, error) {
	r := &runData{Path: f.path, Kind: f.kind(), fsys: f.fsys}
	switch {
	case r.Kind == nil && f.isBegun() && f.has(manifestFile):
		return nil, errors.New("it is half-written: the run began and has written nothing yet; it was killed, or is about to")
	case r.Kind == nil && f.isBegun():
		return nil, fmt.Errorf("it is half-written: %s is missing; the run was killed as it began, or is about to", manifestFile)
	case r.Kind == nil:
		return nil, errForeign
	}
	err := r.Kind.read(f, r)
	if r.Outcome == "" && r.Ended {
		r.Outcome = fmt.Sprint(r.Quantities)
	}
	return r, err
}

// own reads what all of graft's own runs have: the manifest and the configuration, and
// into outcome how it ended, where it has.
func (f *runFolderView) own(r *runData, outcome any) error {
	var err error
	if r.Manifest, err = results.ReadManifest(f.fsys, f.path); err != nil {
		return err
	}
	r.Seeded = true
	if f.has(resolvedFile) {
		if r.Settings, err = config.ReadSettings(f.fsys, f.at(resolvedFile)); err != nil {
			return err
		}
	}
	if !f.has(outcomeFile) {
		return nil
	}
	r.Ended = true
	if outcome == nil {
		return nil
	}
	return results.ReadOutcome(f.fsys, f.path, outcome)
}

// isRunOf says whether a folder has a manifest, and files of these names.
func isRunOf(names ...string) func(*runFolderView) bool {
	return func(f *runFolderView) bool {
		return f.has(manifestFile) && !slices.ContainsFunc(names, func(name string) bool { return !f.has(name) })
	}
}

// finite are quantities without those that have no value.
func finite(list ...quantity) []quantity {
	return slices.DeleteFunc(list, func(q quantity) bool {
		return len(q.Values) == 0 || slices.ContainsFunc(q.Values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	})
}
