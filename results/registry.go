package results

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"graft/internal/files"
)

// Extensions of files that grow during a run.
const (
	tableSuffix = ".csv"
	logSuffix   = ".jsonl"
	eventSuffix = ".tfevents" // TensorBoard recognises them by it
)

// programLog is the log that Rewind does not cut. Nothing depends on it: a run continues if it cannot be written.
const programLog = "log" + logSuffix

// registry is streams.json. It names the tables, logs and event files of a run, so that no other file is ever cut. A
// name is added before its file is made.
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
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
	}
	slices.Sort(r.Streams)
	return slices.Compact(r.Streams), nil
}

// isEvents reports whether a file holds events for TensorBoard.
func isEvents(file string) bool { return strings.HasSuffix(file, eventSuffix) }

// splitStream returns the name of a table, log or event file, and the number of lines
// before its rows.
func splitStream(file string) (name string, heads int) {
	if name, ok := strings.CutSuffix(file, tableSuffix); ok {
		return name, 1
	}
	return strings.TrimSuffix(strings.TrimSuffix(file, eventSuffix), logSuffix), 0
}

// register adds a name to the registry.
func (r *Run) register(file string) error {
	if err := r.readKnown(); err != nil {
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

// readKnown reads the registry, once.
func (r *Run) readKnown() (err error) {
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

// all opens and returns every table, log and event file of the run except the program's log, by file name. It skips
// registered files that were never made.
func (r *Run) all() (map[string]*appender, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errClosed
	}
	if err := r.readKnown(); err != nil {
		return nil, err
	}
	for _, file := range r.known {
		if file == programLog {
			continue
		}
		if _, err := r.fsys.Stat(r.Path(file)); r.open[file] != nil || errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, err
		}
		if _, err := r.opened(file, ""); err != nil {
			return nil, err
		}
	}
	all := maps.Clone(r.open)
	delete(all, programLog)
	return all, nil
}

// marks syncs all rows of the run and returns the mark of each file.
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
	r.syncProgramLog()
	return marks, nil
}

// syncProgramLog syncs the program's log if possible. Otherwise its writer has received the error.
func (r *Run) syncProgramLog() {
	r.mu.Lock()
	a := r.open[programLog]
	r.mu.Unlock()
	if a != nil {
		_, _ = a.mark()
	}
}
