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

// AsConfigFault gives configuration faults the exit code Configuration.
func AsConfigFault(err error) error {
	var faults config.Faults
	if errors.As(err, &faults) {
		return failure.With(failure.Configuration, err)
	}
	return err
}

// Base is the name of the run's folder without its path, for figures that others may see.
func (r *Run) Base() string { return filepath.Base(Absolute(r.Path)) }

// Absolute makes a path absolute, so that it ends in a name even for ".".
func Absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// Quantity returns the first value of a quantity; false where the run has none of the name.
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

// Heading is the title of the run on a page.
func (r *Run) Heading() string {
	return strings.ToUpper(r.Kind.Title[:1]) + r.Kind.Title[1:] + " " + document.Printable(r.Path)
}

// Configuration is the text of the resolved configuration file, else the settings that were read.
func (r *Run) Configuration() string {
	if text, err := files.ReadAll(r.Files, filepath.Join(r.Path, ResolvedFile), mostConfiguration); err == nil {
		return document.PrintableLines(string(text))
	}
	var b strings.Builder
	for _, s := range r.Settings {
		fmt.Fprintf(&b, "%s = %s\n", document.Printable(s.Key), document.Printable(s.Text))
	}
	return b.String()
}

// NotThere reports whether an error says that a file does not exist.
func NotThere(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// Kind is a kind of run folder: how it is recognised and read. A new kind is a new file and a
// line in [Kinds].
type Kind struct {
	Name   string // one word, which reports use
	Title  string // singular, for headings
	Titles string // plural, for headings
	// matches recognises a folder of this kind by its files.
	matches func(f *Folder) bool
	// read fills in a run from a folder. It reads no more than a line in a list of a thousand
	// runs needs.
	read func(f *Folder, r *Run) error
	// series reads the time series; nil for a kind without any.
	series func(r *Run) ([]Series, error)
}

// Kinds lists all kinds; the first that matches a folder is its kind.
func Kinds() []*Kind {
	return []*Kind{ClusterKind, PipelineKind, SimulationKind, PoliciesKind, PolicyKind, JobKind, EvaluationKind, TableKind, OriginalKind}
}

// Run holds what was read from a run folder.
type Run struct {
	Path       string
	Kind       *Kind
	Manifest   results.Manifest // zero where the kind has none
	Seeded     bool             // the manifest's seed is that of the run
	Ended      bool             // the run is complete, and the quantities are its outcome
	Settings   []config.Setting // configuration, sorted by key; nil where it has none
	Quantities []Quantity       // outcome, or the progress of a run that has not ended
	Outcome    string           // digest or text of the outcome, by which copies of a run are recognised; empty before the end
	Faults     error            // parts that cannot be read; nil for none

	Files files.FS // file system of the folder, read-only
}

// Setting is the value of a configuration key.
func (r *Run) Setting(key string) (text string, given bool) {
	k, found := slices.BinarySearchFunc(r.Settings, key, func(s config.Setting, key string) int { return strings.Compare(s.Key, key) })
	if !found {
		return "", false
	}
	return r.Settings[k].Text, true
}

// Series reads the time series of the run; nil where its kind has none.
func (r *Run) Series() ([]Series, error) {
	if r.Kind.series == nil {
		return nil, nil
	}
	list, err := r.Kind.series(r)
	return list, failure.AsDamage(err)
}

// Quantity is a named result with one value, or with one for each seed.
type Quantity struct {
	Name   string
	Unit   string    // such as s, nats or points; share is between 0 and 1; empty is a count
	Better Direction // direction of improvement
	Seeds  []int64   // of the values; nil where the value is of no seed
	Values []float64
}

// Direction is the direction in which a quantity improves.
type Direction int

const (
	Neutral Direction = iota // neither is better
	Higher                   // larger values are better
	Lower                    // smaller values are better
)

// seeded is a quantity with the value of one seed.
func seeded(name, unit string, to Direction, seed int64, value float64) Quantity {
	return Quantity{Name: name, Unit: unit, Better: to, Seeds: []int64{seed}, Values: []float64{value}}
}

// seedless is a quantity whose value belongs to no seed.
func seedless(name, unit string, to Direction, value float64) Quantity {
	return Quantity{Name: name, Unit: unit, Better: to, Values: []float64{value}}
}

// Series is a table of measurements over time.
type Series struct {
	Name    string // such as epochs
	Columns []Column
}

// Column is a column of numbers; of texts where Values is nil.
type Column struct {
	Name   string
	Unit   string    // empty for none
	Values []float64 // NaN where one is missing
	Texts  []string
}

// Column returns a column by name; nil where there is none.
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

// streamSeries reads tables of a run folder; missing ones are left out.
func streamSeries(r *Run, names ...string) ([]Series, error) {
	var list []Series
	for _, name := range names {
		t, err := results.ReadStream(r.Files, filepath.Join(r.Path, name+".csv"))
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

// Folder is the listing of a folder, from which its kind is recognised.
type Folder struct {
	Path    string
	Files   files.FS
	Entries []fs.DirEntry
	openRun func(folder string) (*Run, error) // opens a run that is a part of this one
}

// Has reports whether the folder has an entry of this name.
func (f *Folder) Has(name string) bool { return files.HasName(f.Entries, name) }

// At is the path of an entry.
func (f *Folder) At(name string) string { return filepath.Join(f.Path, name) }

// ErrForeign reports a folder that is no run folder.
var ErrForeign = errors.New("it is not a run folder: it contains nothing that graft or the original has written; name a run folder, or a folder of run folders")

// Open reads a run folder of any kind, also while it is written. It locks, writes and moves
// nothing. A damaged, half-written or foreign folder is an error with the exit code Damaged; a
// missing one has none.
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

// ReadFolder lists a folder, read-only.
func ReadFolder(fsys files.FS, folder string) (*Folder, error) {
	f := &Folder{Path: filepath.Clean(folder), Files: files.ReadOnly{FS: fsys}}
	var err error
	if f.Entries, err = f.Files.ReadDir(f.Path); err != nil {
		return nil, fmt.Errorf("read run: %w; name a folder", err)
	}
	return f, nil
}

// Kind is the kind of the folder; nil for none.
func (f *Folder) Kind() *Kind {
	for _, k := range Kinds() {
		if k.matches(f) {
			return k
		}
	}
	return nil
}

// isBegun reports whether graft has begun a run in the folder. Other programs write files named
// manifest.json too, so its content is read.
func (f *Folder) isBegun() bool {
	if f.Has(LockFile) {
		return true
	}
	_, err := results.ReadManifest(f.Files, f.Path)
	return err == nil
}

func (f *Folder) open() (*Run, error) {
	r := &Run{Path: f.Path, Kind: f.Kind(), Files: f.Files}
	switch {
	case r.Kind == nil && f.isBegun() && f.Has(ManifestFile):
		return nil, errors.New("it is half-written: the run began and has written nothing yet; it was killed, or is starting")
	case r.Kind == nil && f.isBegun():
		return nil, fmt.Errorf("it is half-written: %s is missing; the run was killed as it began, or is starting", ManifestFile)
	case r.Kind == nil:
		return nil, ErrForeign
	}
	err := r.Kind.read(f, r)
	if r.Outcome == "" && r.Ended {
		r.Outcome = fmt.Sprint(r.Quantities)
	}
	return r, err
}

// readOwn reads the files that all of graft's own runs have: manifest, configuration and, after
// the end, the outcome. A nil outcome is not read.
func (f *Folder) readOwn(r *Run, outcome any) error {
	var err error
	if r.Manifest, err = results.ReadManifest(f.Files, f.Path); err != nil {
		return err
	}
	r.Seeded = true
	if f.Has(ResolvedFile) {
		if r.Settings, err = config.ReadSettings(f.Files, f.At(ResolvedFile)); err != nil {
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
	return results.ReadOutcome(f.Files, f.Path, outcome)
}

// hasManifestAnd matches folders with a manifest and files of these names.
func hasManifestAnd(names ...string) func(*Folder) bool {
	return func(f *Folder) bool {
		return f.Has(ManifestFile) && !slices.ContainsFunc(names, func(name string) bool { return !f.Has(name) })
	}
}

// finite drops quantities without values or with one that is not finite.
func finite(list ...Quantity) []Quantity {
	return slices.DeleteFunc(list, func(q Quantity) bool {
		return len(q.Values) == 0 || slices.ContainsFunc(q.Values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	})
}

// OpenPart opens a run that is a part of this one, such as a stage of a pipeline.
func (r *Run) OpenPart(folder string) (*Run, error) { return Open(r.Files, folder) }
