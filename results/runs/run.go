package runs

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
	"graft/results/document"
	"graft/results/failure"
)

// AsConfigFault gives faults of a file their exit code.
func AsConfigFault(err error) error {
	var faults config.Faults
	if errors.As(err, &faults) {
		return failure.With(failure.Configuration, err)
	}
	return err
}

// Base is the name of a run's folder, which stands in figures: where the folder lies is
// nobody else's business.
func (r *Run) Base() string { return filepath.Base(Absolute(r.Path)) }

// Absolute is a path with a name at its end, which "." has not.
func Absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// Quantity is a figure of the run; false where it has none of the name.
func (r *Run) Quantity(name string) (float64, bool) {
	for _, q := range r.Quantities {
		if q.Name == name && len(q.Values) > 0 {
			return q.Values[0], true
		}
	}
	return 0, false
}

// mostConfiguration is the largest configuration shown, in bytes.
const mostConfiguration = 256 << 10

// Heading is what a run is called in a page.
func (r *Run) Heading() string {
	return strings.ToUpper(r.Kind.Title[:1]) + r.Kind.Title[1:] + " " + document.Printable(r.Path)
}

// Configuration is all that the run was told: its file, or else what was read of it.
func (r *Run) Configuration() string {
	if text, err := files.ReadAll(r.Fsys, filepath.Join(r.Path, ResolvedFile), mostConfiguration); err == nil {
		return document.PrintableLines(string(text))
	}
	var b strings.Builder
	for _, s := range r.Settings {
		fmt.Fprintf(&b, "%s = %s\n", document.Printable(s.Key), document.Printable(s.Text))
	}
	return b.String()
}

// NotThere says whether an error is that something is not there.
func NotThere(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// Kind is a kind of run folder: how it is known and what is read from it. A new kind
// is a new file and a line in runKinds.
type Kind struct {
	Name   string // one word, which reports use
	Title  string // what one of them is called, and several
	Titles string
	// fits says whether a folder is of this kind, by what lies in it.
	fits func(f *Folder) bool
	// read takes what the folder says of itself and what came out: no more than a
	// line for it among a thousand others needs.
	read func(f *Folder, r *Run) error
	// series reads all that was measured over time; nil where nothing was.
	series func(r *Run) ([]Series, error)
}

// Kinds are asked in this order.
func Kinds() []*Kind {
	return []*Kind{ClusterKind, PipelineKind, SimulationKind, PoliciesKind, PolicyKind, JobKind, EvaluationKind, TableKind, OriginalKind}
}

// Run is a run folder that was read.
type Run struct {
	Path       string
	Kind       *Kind
	Manifest   results.Manifest // zero where the kind has none
	Seeded     bool             // the manifest's seed is that of the run
	Ended      bool             // it has come to its end: the quantities are its outcome, and not where it stands
	Settings   []config.Setting // its configuration, sorted by key; nil where it has none
	Quantities []quantity       // what came out, or where it stands
	Outcome    string           // what came out, as a digest or in full: of two with the same seed and settings it is the same run twice; empty before the end
	Faults     error            // what of it cannot be read, while the rest can; nil for nothing

	Fsys files.FS
}

// Setting is the value of a key of the configuration.
func (r *Run) Setting(key string) (text string, given bool) {
	k, found := slices.BinarySearchFunc(r.Settings, key, func(s config.Setting, key string) int { return strings.Compare(s.Key, key) })
	if !found {
		return "", false
	}
	return r.Settings[k].Text, true
}

// Series are all that was measured over time.
func (r *Run) Series() ([]Series, error) {
	if r.Kind.series == nil {
		return nil, nil
	}
	list, err := r.Kind.series(r)
	return list, failure.AsDamage(err)
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

// one is a quantity with a value of one seed.
func one(name, unit string, to aim, seed int64, value float64) quantity {
	return quantity{Name: name, Unit: unit, Aim: to, Seeds: []int64{seed}, Values: []float64{value}}
}

// seedless is a quantity whose value is of no seed.
func seedless(name, unit string, to aim, value float64) quantity {
	return quantity{Name: name, Unit: unit, Aim: to, Values: []float64{value}}
}

// Series is a table of what was measured over time.
type Series struct {
	Name    string // such as epochs
	Columns []Column
}

// Column is a column of a series: numbers or, where they are nil, texts.
type Column struct {
	Name   string
	Unit   string    // empty for none
	Values []float64 // NaN where one is missing
	Texts  []string
}

// Column is one of the columns; nil where there is none of the name.
func (s *Series) Column(name string) *Column {
	for k := range s.Columns {
		if s.Columns[k].Name == name {
			return &s.Columns[k]
		}
	}
	return nil
}

// SeriesOf makes a series of a table.
func SeriesOf(name string, t *results.Table) (Series, error) {
	s := Series{Name: name}
	for _, c := range t.Columns {
		column := Column{Name: c.Name, Unit: c.Unit}
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
func streamSeries(r *Run, names ...string) ([]Series, error) {
	var list []Series
	for _, name := range names {
		t, err := results.ReadStream(r.Fsys, filepath.Join(r.Path, name+".csv"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		s, err := SeriesOf(name, t)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// Folder is a folder as it is looked at, to find out what it is.
type Folder struct {
	Path    string
	Fsys    files.FS
	Entries []fs.DirEntry
	other   func(folder string) (*Run, error) // opens a run that is a part of this one
}

func (f *Folder) Has(name string) bool { return files.HasName(f.Entries, name) }

func (f *Folder) At(name string) string { return filepath.Join(f.Path, name) }

// ErrForeign says that a folder is no run's.
var ErrForeign = errors.New("it is no folder of a run: there is nothing in it that graft or the original has written; name the folder of a run, or one in which such lie")

// Open reads a run folder, whatever kind it is of, also while it is written: nothing
// is locked, written or moved. What is damaged, half-written or foreign is an error,
// whose exit code tells it from a folder that is not there.
func Open(fsys files.FS, folder string) (*Run, error) {
	f, err := View(fsys, folder)
	if err != nil {
		return nil, err
	}
	f.other = func(folder string) (*Run, error) { return Open(fsys, folder) }
	r, err := f.open()
	if err != nil {
		return nil, failure.AsDamage(fmt.Errorf("%s: %w", f.Path, err))
	}
	return r, nil
}

func View(fsys files.FS, folder string) (*Folder, error) {
	f := &Folder{Path: filepath.Clean(folder), Fsys: files.ReadOnly{FS: fsys}}
	var err error
	if f.Entries, err = f.Fsys.ReadDir(f.Path); err != nil {
		return nil, fmt.Errorf("read run: %w; name a folder", err)
	}
	return f, nil
}

// Kind is what the folder is one of; nil for none.
func (f *Folder) Kind() *Kind {
	for _, k := range Kinds() {
		if k.fits(f) {
			return k
		}
	}
	return nil
}

// isBegun says whether graft has begun a run in the folder. Others have files of the
// manifest's name too.
func (f *Folder) isBegun() bool {
	if f.Has(LockFile) {
		return true
	}
	_, err := results.ReadManifest(f.Fsys, f.Path)
	return err == nil
}

func (f *Folder) open() (*Run, error) {
	r := &Run{Path: f.Path, Kind: f.Kind(), Fsys: f.Fsys}
	switch {
	case r.Kind == nil && f.isBegun() && f.Has(ManifestFile):
		return nil, errors.New("it is half-written: the run began and has written nothing yet; it was killed, or is about to")
	case r.Kind == nil && f.isBegun():
		return nil, fmt.Errorf("it is half-written: %s is missing; the run was killed as it began, or is about to", ManifestFile)
	case r.Kind == nil:
		return nil, ErrForeign
	}
	err := r.Kind.read(f, r)
	if r.Outcome == "" && r.Ended {
		r.Outcome = fmt.Sprint(r.Quantities)
	}
	return r, err
}

// own reads what all of graft's own runs have: the manifest and the configuration, and
// into outcome how it ended, where it has.
func (f *Folder) own(r *Run, outcome any) error {
	var err error
	if r.Manifest, err = results.ReadManifest(f.Fsys, f.Path); err != nil {
		return err
	}
	r.Seeded = true
	if f.Has(ResolvedFile) {
		if r.Settings, err = config.ReadSettings(f.Fsys, f.At(ResolvedFile)); err != nil {
			return err
		}
	}
	if !f.Has(OutcomeFile) {
		return nil
	}
	r.Ended = true
	if outcome == nil {
		return nil
	}
	return results.ReadOutcome(f.Fsys, f.Path, outcome)
}

// isRunOf says whether a folder has a manifest, and files of these names.
func isRunOf(names ...string) func(*Folder) bool {
	return func(f *Folder) bool {
		return f.Has(ManifestFile) && !slices.ContainsFunc(names, func(name string) bool { return !f.Has(name) })
	}
}

// finite are quantities without those that have no value.
func finite(list ...quantity) []quantity {
	return slices.DeleteFunc(list, func(q quantity) bool {
		return len(q.Values) == 0 || slices.ContainsFunc(q.Values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	})
}

// OpenPart opens a run that is a part of this one.
func (r *Run) OpenPart(folder string) (*Run, error) { return Open(r.Fsys, folder) }
