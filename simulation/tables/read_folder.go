package tables

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"graft/internal/files"
)

// Extensions of a writer's files.
const (
	segmentSuffix = ".jsonl"
	lockSuffix    = ".lock"
)

// segmentPattern matches the names of files of records: a writer's name and a number.
var segmentPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,99}-[1-9][0-9]{0,5}$`)

// Errors about a folder as a whole.
var (
	// ErrNoTable reports that a folder does not contain a table.
	ErrNoTable = errors.New("the folder is not a table folder")
	// ErrExists reports that the folder for a new table is not empty.
	ErrExists = errors.New("the folder already exists")
)

// reading is the state of reading a table's folder.
type reading struct {
	fsys  files.FS
	dir   string
	visit func(e *Entry, number int32, f *Fault) // receives records and faults

	scenario Scenario
	digest   string // digest of the scenario; empty if unknown
	parser   parser
	seen     *seenRecords
	files    []FileInfo
}

// FileInfo describes a file of records.
type FileInfo struct {
	Name    string `json:"name"`    // name of the file in the folder
	Records int    `json:"records"` // number of records that match the scenario
	Closed  bool   `json:"closed"`  // the writer closed the file; false while it runs, and after a kill
}

func newReading(fsys files.FS, dir string, visit func(e *Entry, number int32, f *Fault)) *reading {
	return &reading{fsys: fsys, dir: filepath.Clean(dir), visit: visit, seen: newSeenRecords()}
}

// all reads the folder. Only a folder without a table is an error; everything else is a fault.
func (r *reading) all() error {
	entries, err := r.fsys.ReadDir(r.dir)
	if err != nil {
		return fmt.Errorf("read table: %w", err)
	}
	segments, strange := sortOut(entries)
	if len(segments) == 0 && !files.HasName(entries, scenarioName) {
		return fmt.Errorf("read table %s: %w: %s is missing; expected a table folder", r.dir, ErrNoTable,
			scenarioName)
	}
	for _, f := range strange {
		r.fault(f)
	}
	if r.digest == "" {
		r.learn(segments)
	}
	for _, name := range segments {
		if r.digest != "" {
			r.file(name)
		}
	}
	return nil
}

// sortOut finds the files of records, and the faults of all other files.
func sortOut(entries []fs.DirEntry) (segments []string, strange []Fault) {
	for _, entry := range entries {
		name := entry.Name()
		base, isSegment := strings.CutSuffix(name, segmentSuffix)
		lock, isLock := strings.CutSuffix(name, lockSuffix)
		switch {
		case entry.IsDir():
			strange = append(strange, NewFault(Foreign, "unexpected folder").of(name))
		case name == scenarioName, isLeftover(name):
		case isSegment && segmentPattern.MatchString(base):
			segments = append(segments, name)
		case isLock && segmentPattern.MatchString(lock):
			if !files.HasName(entries, lock+segmentSuffix) {
				strange = append(strange, NewFault(Missing, "the lock %s exists, but not the file that it locks: the "+
					"file was removed, or its writer was killed at the start", name).of(lock+segmentSuffix))
			}
		default:
			strange = append(strange, NewFault(Foreign, "unexpected file").of(name))
		}
	}
	return segments, strange
}

// isLeftover reports whether files.WriteAtomic or a network file system left this file behind.
func isLeftover(name string) bool {
	return files.IsLeftover(name) || strings.HasPrefix(name, ".nfs")
}

func (r *reading) fault(f Fault) { r.visit(nil, 0, &f) }

// learn reads the scenario, or takes it from the heads of files if they agree.
func (r *reading) learn(segments []string) {
	s, err := readScenario(r.fsys, r.dir)
	if err == nil {
		r.scenario, r.digest = s, s.Digest()
		return
	}
	var f Fault
	if !errors.As(err, &f) {
		f = unreadable(err, scenarioName)
		if errors.Is(err, fs.ErrNotExist) {
			f = NewFault(Missing, "the file is missing").of(scenarioName)
		}
	}
	if f.Kind == Future {
		r.fault(f)
		return
	}
	heads := r.heads(segments)
	f.Remedy = "restore the file from a copy"
	if len(heads) == 1 {
		r.scenario, r.digest = heads[0].Scenario, heads[0].SHA256
		f.Remedy = fmt.Sprintf("the record files contain the scenario; "+
			"write a repaired table with 'graft table convert %s --out NEW'", r.dir)
	}
	r.fault(f)
}

// heads returns the different scenarios in the heads of files of records.
func (r *reading) heads(segments []string) []scenarioFile {
	var found []scenarioFile
	digests := map[string]bool{}
	for _, name := range segments {
		s := segment{name: name, parser: &r.parser, visit: func(*Entry, *Fault) bool { return true }}
		_ = s.read(r.fsys, r.dir, 1) // its faults are reported later
		if s.head.check() == nil && !digests[s.head.SHA256] {
			digests[s.head.SHA256] = true
			found = append(found, s.head)
		}
	}
	return found
}

func (r *reading) file(name string) {
	s := segment{name: name, parser: &r.parser, scenario: r.scenario, digest: r.digest}
	s.visit = func(e *Entry, f *Fault) bool {
		if f != nil {
			r.fault(*f)
		} else {
			r.entry(e)
		}
		return true
	}
	err := s.read(r.fsys, r.dir, 0)
	if err != nil && !errors.Is(err, errEnough) {
		r.fault(unreadable(err, name))
	}
	r.files = append(r.files, FileInfo{Name: name, Records: s.records, Closed: s.closed})
}

// entry passes on a record that is new.
func (r *reading) entry(e *Entry) {
	known, fault := r.seen.meet(e)
	switch {
	case fault != nil:
		r.fault(*fault)
	case !known:
		r.visit(e, r.seen.add(e), nil)
	}
}
