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

	"graft/internal/files"
	"graft/report/runs"
	"graft/results"
)

// index holds the state of the runs in a folder at their last scan. It scans on request, each run at most once per
// interval: often while the run is active, rarely when it is quiet. It lists folders and opens no file.
type index struct {
	fsys       files.FS
	dir        string
	every      time.Duration // minimum time between scans of an active run
	scanEvery  time.Duration // minimum time between searches for new runs
	endedEvery time.Duration // minimum time between scans of a completed run
	now        func() time.Time

	mu      sync.Mutex
	runs    map[string]*indexedRun // runs by their path relative to dir
	others  []runs.SkippedRun      // folders without any run
	over    int                    // number of runs above the limit
	scanned time.Time              // time of the last search for new runs
	fault   error                  // error of that search
}

// indexedRun is a run at its last scan.
type indexedRun struct {
	runState
	looked time.Time // time of the scan
	ended  bool      // completed at the last reading
	line   *runLine  // its line on the list; nil before it is read
	read   uint64    // tag of the content of line

	kind *runs.Kind // nil before the run has a manifest
}

// runState is the state of a run's folder, without reading its files.
type runState struct {
	name    string    // path relative to the served folder, with slashes; "." is that folder
	path    string    // path of the folder
	tag     uint64    // hash of names, sizes and times of its files
	written time.Time // latest modification time of its files
	quiet   bool      // no process writes the run any more
	parent  string    // name of the run that contains the run; empty for none
}

const (
	// ScanFactor and EndedFactor multiply the time between two scans of an active run: ScanFactor gives the time
	// between two searches for new runs, EndedFactor the time between two scans of a completed run.
	ScanFactor, EndedFactor = 5, 15
	// ageDivisor sets the interval of a quiet run: the time since its last write divided by ageDivisor.
	ageDivisor = 10
	// quietAfter is the time without writes after which a run no longer counts as running.
	quietAfter = 10 * time.Minute
	// idleAfter is the time without writes after which a run whose lock is free no longer counts as running. It covers
	// the time between the end of a process and its restart.
	idleAfter = 15 * time.Second
	// maxStatFiles limits the scanned files of a run.
	maxStatFiles = 5000
)

func newIndex(fsys files.FS, dir string, every time.Duration, now func() time.Time) *index {
	return &index{fsys: fsys, dir: filepath.Clean(dir), every: every, scanEvery: ScanFactor * every,
		endedEvery: EndedFactor * every, now: now, runs: map[string]*indexedRun{}}
}

// snapshot is the state of several runs at one time.
type snapshot struct {
	states  []runState
	missing []string          // requested runs that do not exist
	others  []runs.SkippedRun // folders without any run
	over    int               // number of runs above the limit of the list
}

// snapshot returns the state of the named runs, or of all.
func (g *index) snapshot(names []string, all bool) (*snapshot, error) {
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
		v.states = append(v.states, e.runState)
	}
	return v, nil
}

func (g *index) unknown(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return g.runs[name] == nil })
}

// walk searches for runs and drops runs that no longer exist.
func (g *index) walk(now time.Time) {
	root, err := runs.ReadFolder(g.fsys, g.dir)
	g.scanned, g.fault = now, err
	if err != nil {
		return
	}
	w := &scanner{fsys: g.fsys, known: g.runs, found: map[string]*indexedRun{}}
	w.folder(root, ".", runs.MaxDepth)
	w.members()
	g.runs, g.others, g.over = w.found, w.others, w.over
}

// scanner walks through folders as runs.Find does, and also lists folders without runs.
type scanner struct {
	fsys         files.FS
	known, found map[string]*indexedRun
	others       []runs.SkippedRun
	over         int
}

// folder reports whether a folder contains a run or a cache.
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
	if !some && name != "." { // one entry for the whole folder
		w.others = append(w.others[:before], runs.SkippedRun{Path: name, Why: notARun, Err: runs.ErrForeign})
	}
	return some
}

func (w *scanner) below(at, name string, depth int) bool {
	if known := w.known[name]; known != nil && known.parent == "" { // refresh drops it if it no longer exists
		w.add(at, name)
		return true
	}
	f, err := runs.ReadFolder(w.fsys, at)
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
	case len(w.found) >= maxRuns:
		w.over++
	case w.known[name] != nil:
		w.found[name] = w.known[name]
	default:
		w.found[name] = &indexedRun{runState: runState{name: name, path: at}}
	}
}

// members adds the runs inside runs, such as the trials of a sweep, after all others.
func (w *scanner) members() {
	outer := make([]*indexedRun, 0, len(w.found))
	for _, e := range w.found {
		outer = append(outer, e)
	}
	slices.SortFunc(outer, func(a, b *indexedRun) int { return strings.Compare(a.name, b.name) })
	for _, e := range outer {
		if e.kind == nil { // it may have just begun
			f, err := runs.ReadFolder(w.fsys, e.path)
			if err != nil {
				continue
			}
			e.kind, _ = f.Kind() // reading the run reports the error
		}
		if e.kind == nil {
			continue
		}
		for _, pattern := range e.kind.Members() {
			w.inside(e, ".", strings.Split(filepath.ToSlash(pattern), "/"))
		}
	}
}

// inside adds the runs in a run whose paths match a pattern, given as its remaining parts. It does not follow links.
func (w *scanner) inside(e *indexedRun, at string, pattern []string) {
	f, err := runs.ReadFolder(w.fsys, filepath.Join(e.path, filepath.FromSlash(at)))
	if err != nil {
		return
	}
	for _, entry := range f.Entries {
		if fits, _ := path.Match(pattern[0], entry.Name()); !fits || !entry.IsDir() || entry.Name()[0] == '.' {
			continue
		}
		below := path.Join(at, entry.Name())
		if len(pattern) > 1 {
			w.inside(e, below, pattern[1:])
			continue
		}
		w.addMember(e, f.At(entry.Name()), path.Join(e.name, below))
	}
}

// addMember adds a run inside another run. A folder that is not a run is a part of the outer run.
func (w *scanner) addMember(e *indexedRun, at, name string) {
	if w.known[name] == nil {
		if f, err := runs.ReadFolder(w.fsys, at); err != nil || !f.IsRun() {
			return
		}
	}
	w.add(at, name)
	if member := w.found[name]; member != nil {
		member.parent = e.name
	}
}

// refresh scans a run if its interval has passed. It drops a run that no longer exists.
func (g *index) refresh(e *indexedRun, now time.Time) bool {
	e.quiet = g.isQuiet(e, now)
	if now.Sub(e.looked) < g.interval(e, now) {
		return true
	}
	tag, written, err := tagOf(g.fsys, e.path)
	if err != nil {
		delete(g.runs, e.name)
		return false
	}
	e.tag, e.written, e.looked = tag, written, now
	e.quiet = g.isQuiet(e, now)
	return true
}

// isQuiet reports whether no process writes a run any more: its lock is free, or it has not changed for long.
func (g *index) isQuiet(e *indexedRun, now time.Time) bool {
	since := now.Sub(e.written)
	return since > quietAfter || !e.ended && since > idleAfter && g.isFree(filepath.Join(e.path, results.LockFile))
}

// isHeld reports whether a process holds a lock file.
func (g *index) isHeld(path string) bool {
	held, err := g.fsys.Locked(path)
	return err == nil && held
}

// isFree reports whether a lock file exists and no process holds it.
func (g *index) isFree(path string) bool {
	if _, err := g.fsys.Stat(path); err != nil {
		return false
	}
	held, err := g.fsys.Locked(path)
	return err == nil && !held
}

// interval returns the time between scans of a run.
func (g *index) interval(e *indexedRun, now time.Time) time.Duration {
	if e.ended {
		return g.endedEvery
	}
	return min(max(now.Sub(e.written)/ageDivisor, g.every), g.endedEvery)
}

// note stores the results of reading a run.
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

// tagOf hashes the entries of a run's folder and of the folders directly in it, and returns their latest modification
// time. Checkpoints and logs are on no page and are not hashed; the time of the log counts.
func tagOf(fsys files.FS, folder string) (uint64, time.Time, error) {
	f, err := runs.ReadFolder(fsys, folder)
	if err != nil {
		return 0, time.Time{}, err
	}
	s := &tagger{sum: fnv.New64a()}
	s.folder(f)
	for _, entry := range f.Entries {
		if entry.IsDir() && entry.Name() != runs.LogsFolder && entry.Name() != checkpointsName {
			// unreadable folders count as missing
			if below, err := runs.ReadFolder(f.Files, f.At(entry.Name())); err == nil {
				s.folder(below)
			}
		}
	}
	return s.sum.Sum64(), s.latest, nil
}

// Names in a run folder whose content is not shown on pages.
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
		if s.count++; s.count > maxStatFiles {
			return
		}
		if entry.IsDir() {
			fmt.Fprintf(s.sum, "%q/", entry.Name())
			continue
		}
		info, err := entry.Info()
		if err != nil { // just deleted
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

// notARun describes a folder without runs among runs.
const notARun = "no run in this folder: no files of graft or the original"

// errMissing reports a run that does not exist (any more).
var errMissing = errors.New("the folder does not exist")
