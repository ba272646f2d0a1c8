package dataset

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"graft/internal/files"
)

// ErrMissing reports that a dataset, or a part of it, is not at its path.
var ErrMissing = errors.New("dataset not found")

// missing is the error for a kind whose files are not at a path.
func missing(o Options, what ...string) error {
	text := fmt.Sprintf("put %s into %s", strings.Join(what, " and "), o.Path)
	if _, published := published[o.Kind]; published {
		text += fmt.Sprintf(", or run 'graft data fetch %s' and name the folder that it prints", o.Kind)
	}
	return fmt.Errorf("read %s: %w; %s", o.Path, ErrMissing, text)
}

const (
	readBuffer = 1 << 18
	// maxArchive limits the unpacked bytes of an archive. CIFAR takes 185 MB.
	maxArchive = 1 << 30
	// maxEntries limits the files in an archive. CIFAR has fewer than ten.
	maxEntries = 10_000
)

// readers read the files of a dataset by name, each with its size in bytes, in any order. A reader reads the whole file
// or fails.
type readers map[string]func(r io.Reader, size int64) error

func (all readers) names() []string { return slices.Sorted(maps.Keys(all)) }

func (all readers) readFiles(fsys files.FS, folder string) error {
	for _, name := range all.names() {
		if err := readFile(fsys, filepath.Join(folder, name), all[name]); err != nil {
			return err
		}
	}
	return nil
}

func readFile(fsys files.FS, path string, read func(io.Reader, int64) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("read %s: %w", path, err)
		}
	}()
	file, err := fsys.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return damaged(read(bufio.NewReaderSize(file, readBuffer), info.Size()))
}

// readArchive passes each reader its file from a .tar.gz, in any folder of the archive, and returns the names that were
// not found.
func (all readers) readArchive(fsys files.FS, path string) (absent []string, err error) {
	err = readFile(fsys, path, func(r io.Reader, _ int64) error {
		absent, err = all.readTar(r)
		return err
	})
	return absent, err
}

func (all readers) readTar(r io.Reader) (absent []string, err error) {
	unzipped, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("the file is not a .tar.gz archive: %w; %s", err, again)
	}
	bounded := &io.LimitedReader{R: unzipped, N: maxArchive}
	left := maps.Clone(all)
	archive := tar.NewReader(bounded)
	for range maxEntries {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			// The checksum follows the last entry.
			if _, err = io.Copy(io.Discard, bounded); err == nil {
				return left.names(), nil
			}
		}
		if err != nil {
			return nil, archiveFault(bounded, err)
		}
		if err := left.readEntry(archive, header); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("the archive has more than %d entries; expected the published archive", maxEntries)
}

// again is the remedy for a truncated or damaged file.
const again = "download or copy the file again"

func archiveFault(bounded *io.LimitedReader, err error) error {
	if bounded.N == 0 {
		return fmt.Errorf("the archive unpacks to more than %d bytes; expected the published archive", maxArchive)
	}
	return fmt.Errorf("the archive is corrupt: %w; %s", err, again)
}

func (all readers) readEntry(archive io.Reader, header *tar.Header) error {
	name := path.Base(header.Name)
	read, wanted := all[name]
	if !wanted || header.Typeflag != tar.TypeReg {
		return nil
	}
	delete(all, name)
	if err := read(bufio.NewReaderSize(archive, readBuffer), header.Size); err != nil {
		return fmt.Errorf("%s: %w", header.Name, err)
	}
	return nil
}

// unzipped returns r, decompressed if it starts like gzip.
func unzipped(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReaderSize(r, readBuffer)
	start, err := buffered.Peek(2)
	if err != nil || start[0] != 0x1f || start[1] != 0x8b {
		return buffered, nil // reading reports a short file
	}
	return gzip.NewReader(buffered)
}

// isFile reports whether there is a regular file at a path.
func isFile(fsys files.FS, path string) (bool, error) {
	info, err := fsys.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", path, err)
	}
	return info.Mode().IsRegular(), nil
}

// ended returns an error unless the file ends here.
func ended(r io.Reader) error {
	var one [1]byte
	n, err := io.ReadFull(r, one[:])
	if n > 0 {
		return fmt.Errorf("unexpected data after the last image; %s", again)
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// Damage is an error that reports a truncated or altered file, or a file with a wrong name. Damage wraps another error
// and has the text of the wrapped error.
type Damage struct{ error }

// Damaged lets callers recognise the error without importing this package.
func (Damage) Damaged() bool { return true }

// Unwrap returns the wrapped error.
func (d Damage) Unwrap() error { return d.error }

// damaged marks an error of a file's content as Damage, and keeps errors of the file system.
func damaged(err error) error {
	if err == nil || errors.As(err, new(*fs.PathError)) {
		return err
	}
	return Damage{err}
}
