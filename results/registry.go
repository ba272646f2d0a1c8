package results

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"graft/files"
)

// Extensions of the files that grow.
const (
	tableSuffix = ".csv"
	logSuffix   = ".jsonl"
	eventSuffix = ".tfevents" // by which TensorBoard finds them
)

// diary is the log that a resumed run does not take back. Nothing depends on it: a
// run goes on without it where it cannot be written.
const diary = "log" + logSuffix

// registry is streams.json. It names the tables, logs and event files of a run, so that no
// other file in the folder is taken for one and cut. A name comes here before
// its file comes to be.
type registry struct {
	Streams []string `json:"streams"`
}

// readRegistry returns the names of all tables and logs, sorted.
func readRegistry(fsys files.FS, path string) ([]string, error) {
	name := filepath.Join(path, registryName)
	var r registry
	if err := readJSON(fsys, name, &r); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, stream := range r.Streams {
		base, _ := splitStream(stream)
		if err := checkName(base); err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
	}
	slices.Sort(r.Streams)
	return slices.Compact(r.Streams), nil
}

// isEvents says whether a file is one of events for TensorBoard.
func isEvents(file string) bool { return strings.HasSuffix(file, eventSuffix) }

// splitStream gives the name of a table, log or event file and how many lines its file
// has before the rows.
func splitStream(file string) (name string, heads int) {
	if name, ok := strings.CutSuffix(file, tableSuffix); ok {
		return name, 1
	}
	return strings.TrimSuffix(strings.TrimSuffix(file, eventSuffix), logSuffix), 0
}

// register adds a name to the registry.
func (r *Run) register(file string) error {
	if err := r.learn(); err != nil {
		return err
	}
	if slices.Contains(r.known, file) {
		return nil
	}
	known := append(slices.Clone(r.known), file)
	slices.Sort(known)
	if err := writeJSON(r.fsys, r.Path(registryName), registry{known}); err != nil {
		return err
	}
	r.known = known
	return nil
}

// learn reads the registry, once.
func (r *Run) learn() (err error) {
	if r.known == nil {
		r.known, err = readRegistry(r.fsys, r.path)
	}
	return err
}

// appender opens a table or log by the name of its file, once.
func (r *Run) appender(file, head string) (*appender, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errClosed
	}
	name, _ := splitStream(file)
	if err := checkName(name); err != nil {
		return nil, err
	}
	if err := r.register(file); err != nil {
		return nil, err
	}
	return r.opened(file, head)
}

func (r *Run) opened(file, head string) (*appender, error) {
	if a := r.open[file]; a != nil {
		return a, a.checkHead(head)
	}
	_, heads := splitStream(file)
	a, err := openAppender(r.fsys, r.Path(file), heads, head)
	if err != nil {
		return nil, err
	}
	r.open[file] = a
	return a, nil
}

// all returns every table and log of the run but the diary, by file name, and opens
// those that are not open. One that was registered and never made is left out.
func (r *Run) all() (map[string]*appender, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errClosed
	}
	if err := r.learn(); err != nil {
		return nil, err
	}
	for _, file := range r.known {
		if file == diary {
			continue
		}
		if _, err := r.fsys.Stat(r.Path(file)); r.open[file] != nil || errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, err
		}
		_, heads := splitStream(file)
		a, err := openAppender(r.fsys, r.Path(file), heads, "")
		if err != nil {
			return nil, err
		}
		r.open[file] = a
	}
	all := maps.Clone(r.open)
	delete(all, diary)
	return all, nil
}

// marks brings all rows of the run to stable storage and says how many each
// table and log has.
func (r *Run) marks() (map[string]Mark, error) {
	all, err := r.all()
	if err != nil {
		return nil, err
	}
	marks := make(map[string]Mark, len(all))
	for _, file := range slices.Sorted(maps.Keys(all)) {
		if marks[file], err = all[file].mark(); err != nil {
			return nil, err
		}
	}
	r.syncDiary()
	return marks, nil
}

// syncDiary brings the diary to stable storage if that can be done. Whoever writes it
// has been told if it cannot.
func (r *Run) syncDiary() {
	r.mu.Lock()
	a := r.open[diary]
	r.mu.Unlock()
	if a != nil {
		_, _ = a.mark()
	}
}
