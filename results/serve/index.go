package serve

import (
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"graft/files"
	"graft/results/runs"
)

// index is the runs beneath a folder, as they were when they were looked at last. It
// looks when it is asked, and however many ask, at each run no more often than its pace
// says: at one that is being written to every so often, at one that is quiet rarely. No
// file is opened for that.
type index struct {
	fsys      files.FS
	dir       string
	every     time.Duration // between two looks at a run that is written to
	scanEvery time.Duration // between two looks for new runs
	rarely    time.Duration // between two looks at a run that has ended
	now       func() time.Time

	mu      sync.Mutex
	runs    map[string]*entry // by their path beneath dir
	others  []runs.SkippedRun // folders without any run
	over    int               // runs that are too many
	scanned time.Time         // when new runs were looked for last
	fault   error             // why that could not be done
}

// entry is a run as it was looked at last.
type entry struct {
	sighting
	looked time.Time // when
	ended  bool      // it was when it was read last
	line   *runLine  // its line on the list; nil before it is read
	read   uint64    // the tag of what the line is of
}

// sighting is how a run's folder looks from outside.
type sighting struct {
	name    string    // path beneath the gallery's folder, with slashes; "." is that folder
	path    string    // to open it by
	tag     uint64    // of names, sizes and times of its files: with the same tag it is the same
	written time.Time // the latest time of its files
	quiet   bool      // that was long ago
}

const (
	// SurveyPace and rarePace are how much rarer than for changes it is looked for new
	// runs, and at runs that have ended.
	SurveyPace, RarePace = 5, 15
	// calming is what part of the time since a run was written to passes before it is
	// looked at again.
	calming = 10
	// quietAfter is when a run that has not ended is not called running any more.
	quietAfter = 10 * time.Minute
	// mostLookedAt bounds the files of a run whose sizes and times are asked for.
	mostLookedAt = 5000
)

func newIndex(fsys files.FS, dir string, every time.Duration, now func() time.Time) *index {
	return &index{fsys: fsys, dir: filepath.Clean(dir), every: every, scanEvery: SurveyPace * every, rarely: RarePace * every, now: now, runs: map[string]*entry{}}
}

// snapshot is what was seen at once.
type snapshot struct {
	states  []sighting
	missing []string          // of the runs that were asked for
	others  []runs.SkippedRun // folders without any run
	over    int               // runs that are too many to be listed at all
}

// look sees how runs are now: those that are named, or all.
func (g *index) look(names []string, all bool) (*snapshot, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	if now.Sub(g.scanned) >= g.scanEvery || !all && g.unknown(names) && now.Sub(g.scanned) >= g.every {
		g.walk(now)
	}
	if g.fault != nil {
		return nil, g.fault
	}
	if all {
		names = make([]string, 0, len(g.runs))
		for name := range g.runs {
			names = append(names, name)
		}
		slices.Sort(names)
	}
	v := &snapshot{others: g.others, over: g.over}
	for _, name := range names {
		e := g.runs[name]
		if e == nil || !g.refresh(e, now) {
			v.missing = append(v.missing, name)
			continue
		}
		v.states = append(v.states, e.sighting)
	}
	return v, nil
}

func (g *index) unknown(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return g.runs[name] == nil })
}

// walk looks for runs, and forgets those that are not there any more.
func (g *index) walk(now time.Time) {
	root, err := runs.View(g.fsys, g.dir)
	g.scanned, g.fault = now, err
	if err != nil {
		return
	}
	w := &scanner{fsys: g.fsys, known: g.runs, found: map[string]*entry{}}
	w.folder(root, ".", runs.DeepestRun)
	g.runs, g.others, g.over = w.found, w.others, w.over
}

// scanner walks through folders as runsBeneath does, and also notes what is no run's.
type scanner struct {
	fsys         files.FS
	known, found map[string]*entry
	others       []runs.SkippedRun
	over         int
}

// folder says whether there is something of graft's in a folder.
func (w *scanner) folder(f *runs.Folder, name string, depth int) bool {
	switch {
	case f.IsRun():
		w.add(f.Path, name)
		return true
	case f.IsCache():
		return true
	}
	before, some := len(w.others), false
	for _, entry := range f.Entries {
		if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") && depth > 0 {
			some = w.below(f.At(entry.Name()), path.Join(name, entry.Name()), depth-1) || some
		}
	}
	if !some && name != "." { // one line for all that is in it
		w.others = append(w.others[:before], runs.SkippedRun{Path: name, Why: noRun, Err: runs.ErrForeign})
	}
	return some
}

func (w *scanner) below(at, name string, depth int) bool {
	if w.known[name] != nil { // whether it still is one shows when it is looked at
		w.add(at, name)
		return true
	}
	f, err := runs.View(w.fsys, at)
	if err != nil {
		if !runs.NotThere(err) {
			w.others = append(w.others, runs.SkippedRun{Path: name, Why: err.Error(), Err: err})
		}
		return false
	}
	return w.folder(f, name, depth)
}

func (w *scanner) add(at, name string) {
	switch {
	case len(w.found) >= mostServed:
		w.over++
	case w.known[name] != nil:
		w.found[name] = w.known[name]
	default:
		w.found[name] = &entry{sighting: sighting{name: name, path: at}}
	}
}

// refresh looks at a run if it is time to. One that is not there any more is forgotten.
func (g *index) refresh(e *entry, now time.Time) bool {
	e.quiet = now.Sub(e.written) > quietAfter
	if now.Sub(e.looked) < g.paceOf(e, now) {
		return true
	}
	tag, written, err := tagOf(g.fsys, e.path)
	if err != nil {
		delete(g.runs, e.name)
		return false
	}
	e.tag, e.written, e.looked = tag, written, now
	e.quiet = now.Sub(written) > quietAfter
	return true
}

// paceOf is how long it takes until a run is looked at again.
func (g *index) paceOf(e *entry, now time.Time) time.Duration {
	if e.ended {
		return g.rarely
	}
	return min(max(now.Sub(e.written)/calming, g.every), g.rarely)
}

// note keeps what was found out about a run when it was read.
func (g *index) note(name string, tag uint64, ended bool, line *runLine) {
	g.mu.Lock()
	defer g.mu.Unlock()
	e := g.runs[name]
	if e == nil {
		return
	}
	e.ended = ended
	if line != nil {
		e.line, e.read = line, tag
	}
}

// tagOf is a tag of all that lies in a run's folder and in those directly in it, and
// the latest time of its files. What is saved to go on from, and what programs have
// said, is shown on no page; but that something was said is a sign of life.
func tagOf(fsys files.FS, folder string) (uint64, time.Time, error) {
	f, err := runs.View(fsys, folder)
	if err != nil {
		return 0, time.Time{}, err
	}
	s := &tagger{sum: fnv.New64a()}
	s.folder(f)
	for _, entry := range f.Entries {
		if entry.IsDir() && entry.Name() != runs.LogsName && entry.Name() != checkpointsName {
			if below, err := runs.View(f.Fsys, f.At(entry.Name())); err == nil { // else it is as good as not there
				s.folder(below)
			}
		}
	}
	return s.sum.Sum64(), s.latest, nil
}

// What in a run folder is on no page: from where it can go on, and its log.
const (
	checkpointsName = "checkpoints"
	LogFile         = "log.jsonl"
)

type tagger struct {
	sum    hash.Hash64
	latest time.Time
	count  int
}

func (s *tagger) folder(f *runs.Folder) {
	for _, entry := range f.Entries {
		if s.count++; s.count > mostLookedAt {
			return
		}
		if entry.IsDir() {
			fmt.Fprintf(s.sum, "%q/", entry.Name())
			continue
		}
		info, err := entry.Info()
		if err != nil { // it went meanwhile
			continue
		}
		if entry.Name() != LogFile {
			fmt.Fprintf(s.sum, "%q %d %d\n", entry.Name(), info.Size(), info.ModTime().UnixNano())
		}
		if info.ModTime().After(s.latest) {
			s.latest = info.ModTime()
		}
	}
}

// noRun is what is wrong with a folder that lies among runs.
const noRun = "there is no run in it: nothing that graft or the original has written"

// errGone says that a run is not there any more.
var errGone = errors.New("it is not there, or not any more")
