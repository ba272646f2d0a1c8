package results

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"graft/internal/files"
)

const (
	checkpointSuffix = ".ckpt"
	// defaultKeep is two, so that one remains if the newest is damaged.
	defaultKeep = 2
)

// Errors about the checkpoints of a run.
var (
	// ErrNoCheckpoint reports that a run has no checkpoint yet, not even a damaged one.
	ErrNoCheckpoint = errors.New("the run has no checkpoint")
	// ErrNotPruned reports that a checkpoint was saved, but older checkpoints could not be deleted. The next
	// SaveCheckpoint tries again.
	ErrNotPruned = errors.New("the checkpoint is saved, but older ones could not be deleted")
)

// CheckpointInfo describes a checkpoint file by its name and size.
type CheckpointInfo struct {
	Number int    // number of the checkpoint in its run, from 1; zero if the file name has no number
	Name   string // name that was passed to SaveCheckpoint
	Path   string // path of the file
	Bytes  int64  // size of the file
}

// checkpointInfo reads a file name such as 000012-epoch-3.ckpt.
func checkpointInfo(path string) CheckpointInfo {
	base := strings.TrimSuffix(filepath.Base(path), checkpointSuffix)
	number, name, _ := strings.Cut(base, "-")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return CheckpointInfo{Name: base, Path: path}
	}
	return CheckpointInfo{Number: n, Name: name, Path: path}
}

// listCheckpoints returns the checkpoints of the run at path, oldest first.
func listCheckpoints(fsys files.FS, path string) ([]CheckpointInfo, error) {
	dir := filepath.Join(path, checkpointsName)
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list []CheckpointInfo
	for _, entry := range entries {
		info := checkpointInfo(filepath.Join(dir, entry.Name()))
		if entry.IsDir() || info.Number == 0 || filepath.Ext(info.Path) != checkpointSuffix {
			continue
		}
		if file, err := entry.Info(); err == nil { // it may have just been deleted
			info.Bytes = file.Size()
			list = append(list, info)
		}
	}
	slices.SortFunc(list, func(a, b CheckpointInfo) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Name, b.Name))
	})
	return list, nil
}

// WriteCheckpoint atomically writes a checkpoint that does not belong to a run folder. ReadCheckpoint reads it.
func WriteCheckpoint(fsys files.FS, path string, parts func(w *CheckpointWriter) error) error {
	err := files.WriteAtomic(fsys, path, func(w io.Writer) error { return writeCheckpoint(w, nil, parts) })
	if err != nil {
		return fmt.Errorf("write checkpoint %s: %w", path, err)
	}
	return nil
}

// SaveCheckpoint syncs all rows of the run and then atomically writes a checkpoint. The checkpoint holds the number of
// rows in each table and log, and the sections that the callback writes. Once the checkpoint is durable, SaveCheckpoint
// deletes all checkpoints except the newest intact ones; Run.Keep sets how many it keeps.
//
// Rows that are appended during the call may or may not be counted. The callback should therefore write the state as of
// the start of the call.
func (r *Run) SaveCheckpoint(name string, parts func(w *CheckpointWriter) error) error {
	r.saving.Lock()
	defer r.saving.Unlock()
	err := r.save(name, parts)
	if err != nil {
		return fmt.Errorf("save checkpoint %s: %w", name, err)
	}
	return nil
}

func (r *Run) save(name string, parts func(w *CheckpointWriter) error) error {
	if err := checkName(name); err != nil {
		return err
	}
	marks, err := r.marks()
	if err != nil {
		return err
	}
	list, err := listCheckpoints(r.fsys, r.path)
	if err != nil {
		return err
	}
	next := 1
	if len(list) > 0 {
		next = list[len(list)-1].Number + 1
	}
	path := r.Path(filepath.Join(checkpointsName, fmt.Sprintf("%06d-%s%s", next, name, checkpointSuffix)))
	err = files.WriteAtomic(r.fsys, path, func(w io.Writer) error { return writeCheckpoint(w, marks, parts) })
	if err != nil {
		return err
	}
	r.good[path] = true
	return r.prune(append(list, checkpointInfo(path)))
}

// prune deletes all checkpoints except the last good ones.
func (r *Run) prune(list []CheckpointInfo) error {
	keep := r.Keep
	if keep < 1 {
		keep = defaultKeep
	}
	good := 0
	var faults []error
	for _, c := range slices.Backward(list) {
		switch {
		case good >= keep:
			if err := r.fsys.Remove(c.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				faults = append(faults, err)
			}
		case r.isGood(c.Path):
			good++
		}
	}
	if len(faults) > 0 {
		return fmt.Errorf("%w: %w", ErrNotPruned, errors.Join(faults...))
	}
	return nil
}

// isGood reports whether a checkpoint is intact. It reads each only once.
func (r *Run) isGood(path string) bool {
	good, known := r.good[path]
	if !known {
		c, err := ReadCheckpoint(r.fsys, path)
		good = err == nil && c.Close() == nil
		r.good[path] = good
	}
	return good
}

// LoadCheckpoint opens the newest intact checkpoint; the caller closes it. The checkpoint's field Damaged explains the
// skipped checkpoints. If there is no checkpoint, the error wraps ErrNoCheckpoint and the run may start from the
// beginning. If all checkpoints are unreadable, the error explains each of them.
func (r *Run) LoadCheckpoint() (*Checkpoint, error) {
	r.saving.Lock()
	defer r.saving.Unlock()
	list, err := listCheckpoints(r.fsys, r.path)
	if err != nil {
		return nil, fmt.Errorf("load checkpoint: %w", err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("load checkpoint of %s: %w", r.path, ErrNoCheckpoint)
	}
	var damaged []error
	for _, info := range slices.Backward(list) {
		c, err := ReadCheckpoint(r.fsys, info.Path)
		if err == nil {
			r.good[info.Path] = true
			c.Damaged = damaged
			return c, nil
		}
		damaged = append(damaged, err)
	}
	return nil, fmt.Errorf("load checkpoint of %s: all %d checkpoints are unreadable (try again, or delete them to "+
		"restart): %w", r.path, len(list), errors.Join(damaged...))
}

// Rewind drops the rows after a checkpoint from each table and log, except the program's log. It returns an error if
// rows that the checkpoint counts are missing from a file, or if rows have changed since the checkpoint. A nil
// checkpoint means the beginning of the run; all rows are dropped. Rewind may be repeated after a crash.
func (r *Run) Rewind(c *Checkpoint) error {
	var marks map[string]Mark
	if c != nil {
		marks = c.Streams
	}
	all, err := r.all()
	if err != nil {
		return fmt.Errorf("rewind %s: %w", r.path, err)
	}
	for _, file := range slices.Sorted(maps.Keys(marks)) {
		if all[file] == nil && marks[file].Rows > 0 && !isEvents(file) { // users may delete event files
			return fmt.Errorf("rewind %s: file %s is missing, but the checkpoint counts %d rows in it; restore a "+
				"copy of the run, or start another run",
				r.path, file, marks[file].Rows)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(all)) {
		if err := all[file].truncate(marks[file].Rows, marks[file].SHA256); err != nil {
			return fmt.Errorf("rewind: %w", err)
		}
	}
	return nil
}
