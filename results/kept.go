package results

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"graft/internal/files"
)

// keptName is the folder of kept checkpoints in a run folder.
const keptName = "kept"

// KeepCheckpoint writes a checkpoint as SaveCheckpoint does, but later checkpoints do not replace it. A run does not
// resume from it; other runs can start from it, with [Run.Fork].
func (r *Run) KeepCheckpoint(name string, parts func(w *CheckpointWriter) error) error {
	r.saving.Lock()
	defer r.saving.Unlock()
	marks, err := r.marks()
	err = errors.Join(checkName(name), err)
	if err == nil {
		err = r.fsys.MkdirAll(r.Path(keptName))
	}
	if err == nil {
		err = files.WriteAtomic(r.fsys, r.Path(filepath.Join(keptName, name+checkpointSuffix)),
			func(w io.Writer) error { return writeCheckpoint(w, marks, parts) })
	}
	if err != nil {
		return fmt.Errorf("keep checkpoint %s: %w", name, err)
	}
	return nil
}

// KeptCheckpoints returns the paths of the kept checkpoints of the run at a path, sorted by name.
func KeptCheckpoints(fsys files.FS, path string) (list []string, err error) {
	entries, err := files.Entries(fsys, filepath.Join(path, keptName))
	if err != nil {
		return nil, fmt.Errorf("list kept checkpoints: %w", err)
	}
	for _, entry := range entries {
		if !entry.IsDir() && strings.HasSuffix(entry.Name(), checkpointSuffix) {
			list = append(list, filepath.Join(path, keptName, entry.Name()))
		}
	}
	slices.SortFunc(list, cmp.Compare[string])
	return list, nil
}

// RemoveKept deletes the kept checkpoints of the run at a path.
func RemoveKept(fsys files.FS, path string) error {
	return files.RemoveAll(fsys, filepath.Join(path, keptName))
}

// Fork copies the tables and logs of another run, up to a checkpoint of that run. Call it before this run opens its
// own. The program's log and event files are not copied.
func (r *Run) Fork(from string, c *Checkpoint) error {
	for _, file := range slices.Sorted(maps.Keys(c.Streams)) {
		if file == programLog || isEvents(file) {
			continue
		}
		if err := r.fork(from, file, c.Streams[file]); err != nil {
			return fmt.Errorf("fork from %s: %w", from, err)
		}
	}
	return nil
}

// HasRows returns an error if the tables and logs of the run at a path lack the rows of a checkpoint.
func HasRows(fsys files.FS, path string, c *Checkpoint) error {
	for _, file := range slices.Sorted(maps.Keys(c.Streams)) {
		if file == programLog || isEvents(file) {
			continue
		}
		if _, err := rowsOf(fsys, path, file, c.Streams[file]); err != nil {
			return fmt.Errorf("checkpoint %s: %w", c.Path, err)
		}
	}
	return nil
}

// rowsOf returns the position after the rows of a mark.
func rowsOf(fsys files.FS, folder, file string, mark Mark) (position, error) {
	path := filepath.Join(folder, file)
	_, heads := splitStream(file)
	at, _, err := measure(fsys, path, heads, mark.Rows)
	if err == nil && (Mark{at.rows, at.digest()}) != mark {
		err = fmt.Errorf("%s: the rows before the checkpoint have changed", path)
	}
	return at, err
}

func (r *Run) fork(from, file string, mark Mark) error {
	path := filepath.Join(from, file)
	at, err := rowsOf(r.fsys, from, file, mark)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[file] != nil {
		return fmt.Errorf("%s is already open", r.Path(file))
	}
	if err := r.register(file); err != nil {
		return err
	}
	return files.WriteAtomic(r.fsys, r.Path(file), func(w io.Writer) error {
		return copyHead(w, r.fsys, path, at.bytes)
	})
}

// copyHead copies the first bytes of a file.
func copyHead(w io.Writer, fsys files.FS, path string, bytes int64) error {
	file, err := fsys.Open(path)
	if err != nil {
		return err
	}
	_, err = io.CopyN(w, onlyReader{file}, bytes)
	return errors.Join(err, file.Close())
}
