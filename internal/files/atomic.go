package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
)

const (
	// writeBuffer combines small writes into few large ones.
	writeBuffer = 1 << 16
	// maxTempNames limits the search for a free temporary name. Only kills leave such files behind, so more than a few
	// indicate a problem.
	maxTempNames = 1000
	// tempSuffix is the suffix of temporary files, whose names begin with a dot.
	tempSuffix = ".tmp"
)

// ErrNotDurable means that a file was written completely but its folder could not be synced, so the old file may be
// back after a power failure.
var ErrNotDurable = errors.New("the file was written, but may be lost in a power failure")

// WriteAtomic replaces the content of the file at path with the output of the callback. The bytes are written to a
// temporary file in the same folder, which is synced and then renamed. At every moment path is either the complete old
// file or the complete new file.
//
// On an error the old file is unchanged and the temporary file is removed, with one exception: an [ErrNotDurable] error
// occurs after the rename. The name of the temporary file starts with a dot and ends with ".tmp"; such a file, left by
// a killed process, can be deleted. A symbolic link at path is replaced, not followed.
func WriteAtomic(fsys FS, path string, write func(io.Writer) error) error {
	return replace(fsys, path, write, fsys.Create, fsys.Rename)
}

// WritePrivate is like [WriteAtomic], but only the current user can read the file.
func WritePrivate(fsys FS, path string, write func(io.Writer) error) error {
	return replace(fsys, path, write, fsys.CreatePrivate, fsys.Rename)
}

// WriteNew creates either the complete file or no file. If path exists, the error wraps fs.ErrExist. If several
// processes, on one or several machines, write the same path, only one succeeds, except on a file system without hard
// links, where two concurrent writers can both succeed. Other errors are the same as for [WriteAtomic].
func WriteNew(fsys FS, path string, write func(io.Writer) error) error {
	return replace(fsys, path, write, fsys.Create, func(temp, path string) error {
		err := fsys.Link(temp, path)
		if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
			return renameNew(fsys, temp, path)
		}
		if err == nil {
			_ = fsys.Remove(temp) // a leftover does no harm
		}
		return err
	})
}

// NeedFolder returns an error that names the folder of path if that folder does not exist. If the folder exists, it
// returns the given error instead.
func NeedFolder(fsys FS, path string, otherwise error) error {
	folder := filepath.Dir(path)
	if _, err := fsys.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("folder %s does not exist; create it, or choose another: %w", folder, fs.ErrNotExist)
	}
	return otherwise
}

// tryBytes is the size of the file that TryWrite writes: a block of usual file systems, so that it notices a full disk.
const tryBytes = 4096

// TryWrite returns the error that WriteAtomic of a small file at path would return. It writes a temporary file into the
// folder of path and deletes it; a file at path is unchanged.
func TryWrite(fsys FS, path string) error {
	temp, file, err := createTemp(path, fsys.Create)
	if err == nil {
		err = fill(file, func(w io.Writer) error {
			_, err := w.Write(make([]byte, tryBytes))
			return err
		})
		err = errors.Join(err, fsys.Remove(temp))
	}
	if err != nil {
		return WithRemedy(fmt.Errorf("write %s: %w", path, err))
	}
	return nil
}

// renameNew replaces Link on file systems without hard links; it is not atomic.
func renameNew(fsys FS, temp, path string) error {
	_, err := fsys.Stat(path)
	switch {
	case err == nil:
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return fsys.Rename(temp, path)
}

// replace writes a temporary file and puts it in its place.
func replace(fsys FS, path string, write func(io.Writer) error, create func(string) (File, error),
	put func(temp, path string) error) (err error) {
	defer func() { err = WithRemedy(err) }()
	temp, file, err := createTemp(path, create)
	if errors.Is(err, fs.ErrNotExist) {
		err = NeedFolder(fsys, path, err)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	placed := false
	defer func() {
		if !placed { // also if write panics
			_ = fsys.Remove(temp)
		}
	}()
	if err := fill(file, write); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := put(temp, path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	placed = true
	if err := fsys.SyncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("write %s: %w: %w", path, ErrNotDurable, err)
	}
	return nil
}

// createTemp makes a new file with a free name in the folder of path.
func createTemp(path string, create func(string) (File, error)) (string, File, error) {
	dir, base := filepath.Split(path)
	for i := range maxTempNames {
		temp := filepath.Join(dir, "."+base+"."+strconv.Itoa(i)+tempSuffix)
		file, err := create(temp)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		return temp, file, err
	}
	return "", nil, fmt.Errorf("%d temporary files already exist: delete %s",
		maxTempNames, filepath.Join(dir, "."+base+".*"+tempSuffix))
}

// fill writes, syncs and closes the file, also on errors.
func fill(file File, write func(io.Writer) error) (err error) {
	defer func() { err = errors.Join(err, file.Close()) }()
	buffer := bufio.NewWriterSize(file, writeBuffer)
	if err := write(buffer); err != nil {
		return err
	}
	if err := buffer.Flush(); err != nil {
		return err
	}
	return file.Sync()
}

// ReadAll returns the content of a file; limit is the maximum size of the file in bytes. A larger file causes an error
// before anything is read. A limit of zero allows only an empty file.
func ReadAll(fsys FS, path string, limit int64) ([]byte, error) {
	file, err := fsys.Open(path)
	if err != nil {
		return nil, err // the error has the path
	}
	data, err := readAtMost(file, limit)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}

func readAtMost(file File, limit int64) ([]byte, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("the file has %d bytes; the maximum is %d", info.Size(), limit)
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1)) // it may grow in the meantime
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("the file has more than the maximum of %d bytes", limit)
	}
	return data, err
}
