package tables

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"graft/internal/files"
)

// CreateOptions configures the creation of a table's folder. The zero value is ready to use.
type CreateOptions struct {
	// Force moves an existing folder aside, to PATH.1 or the next free number. If Force is false, Create returns an
	// error if the folder exists.
	Force bool
}

// Create creates the folder of a new table, and its parent folders; Open adds records. If the folder is not empty, the
// error wraps ErrExists. While a process writes a table in the folder, the error wraps files.ErrLocked instead. If
// several processes create the same table at once, even on several machines, one of them succeeds.
func Create(fsys files.FS, dir string, s Scenario, o CreateOptions) error {
	dir = filepath.Clean(dir)
	text, err := formatScenario(s)
	if err == nil {
		err = takeable(fsys, dir)
	}
	if o.Force && errors.Is(err, ErrExists) {
		err = moveAside(fsys, dir)
	}
	if err == nil {
		err = fsys.MkdirAll(dir)
	}
	if err == nil {
		err = fsys.SyncDir(filepath.Dir(dir))
	}
	if err == nil {
		err = WriteNew(fsys, filepath.Join(dir, scenarioName), text)
	}
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%w: another process has just created it", ErrExists)
	}
	if err != nil {
		return fmt.Errorf("create table %s: %w", dir, err)
	}
	return nil
}

// WriteNew writes a new file. It returns an error if the file exists.
func WriteNew(fsys files.FS, path string, text []byte) error {
	return files.WriteNew(fsys, path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// takeable returns an error unless Create may use the folder: missing, empty or half created.
func takeable(fsys files.FS, dir string) error {
	entries, err := files.Entries(fsys, dir)
	if err != nil {
		return err
	}
	if files.HasName(entries, scenarioName) {
		return fmt.Errorf("%w: continue the table in this folder, use another folder, or set option \"force\" to move "+
			"the existing folder aside",
			ErrExists)
	}
	for _, entry := range entries {
		if !isLeftover(entry.Name()) {
			return fmt.Errorf("%w and is not a table folder: use another folder, or set option \"force\" to move the "+
				"existing folder aside",
				ErrExists)
		}
	}
	return nil
}

// moveAside renames a folder. It locks its files in the meantime, so no process writes them.
func moveAside(fsys files.FS, dir string) (err error) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != lockSuffix || entry.IsDir() {
			continue
		}
		lock, err := fsys.Lock(filepath.Join(dir, entry.Name()), files.Holder())
		if err != nil {
			return err
		}
		defer func() { _ = lock.Close() }()
	}
	_, err = files.MoveAside(fsys, dir)
	return err
}
