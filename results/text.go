package results

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"

	"graft/internal/files"
)

const (
	// maxLine limits the bytes of a line of a table or log, and so the memory for a damaged file.
	maxLine = 16 << 20
	// maxTable limits the bytes of a table, log or event file read completely into memory. Real ones are hundreds of
	// times smaller.
	maxTable = 1 << 30
	// readBuffer is the size of a read.
	readBuffer = 1 << 16
)

// ReadTable opens a table or log and passes at most its first maxTable bytes to a callback.
func ReadTable(fsys files.FS, path string, read func(r io.Reader) error) error {
	file, err := fsys.Open(path)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil && info.Size() > maxTable {
		err = fmt.Errorf("%s has %d bytes; the maximum is %d", path, info.Size(), maxTable)
	}
	if err == nil {
		err = read(io.LimitReader(file, maxTable)) // it may grow in the meantime
	}
	return errors.Join(err, file.Close())
}

// EachLine passes each complete line to a callback, until the callback returns an error. The callback receives the
// line's number, counted from 1, and the line with its line break, which is valid only during the call. EachLine
// returns true if an incomplete line follows the last complete line.
func EachLine(r io.Reader, do func(n int, line []byte) error) (torn bool, err error) {
	in := bufio.NewReaderSize(r, readBuffer)
	var long []byte // part of a line that is longer than the buffer
	for n := 1; ; {
		part, err := in.ReadSlice('\n')
		switch {
		case err == nil || errors.Is(err, bufio.ErrBufferFull):
			if len(long)+len(part) > maxLine {
				return false, fmt.Errorf("line %d is longer than %d bytes", n, maxLine)
			}
		case errors.Is(err, io.EOF):
			return len(long)+len(part) > 0, nil
		default:
			return false, err
		}
		if err != nil {
			long = append(long, part...)
			continue
		}
		line := part
		if len(long) > 0 {
			line = append(long, part...)
		}
		if err := do(n, line); err != nil {
			return false, err
		}
		long = long[:0]
		n++
	}
}

// namePattern matches names of tables, logs and checkpoints, which are valid file names on every system.
var namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,99}$`)

// checkName returns an error for names that cannot be file names.
func checkName(name string) error {
	if !namePattern.MatchString(name) {
		return fmt.Errorf("invalid name %q: expected 1 to 100 lower-case letters, digits, '_', '.' and '-', starting "+
			"with a letter or digit", name)
	}
	return nil
}
