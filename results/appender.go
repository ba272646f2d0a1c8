package results

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"sync"

	"graft/internal/files"
	"graft/results/tensorboard"
)

// appender is a file that grows by rows: whole lines, or records of event files. A table has one line before its rows.
// It is safe for concurrent use.
type appender struct {
	fsys  files.FS
	path  string
	heads int // lines before the rows: 0 or 1

	mu      sync.Mutex
	file    files.File
	at      position
	buffer  []byte // rows not yet written
	waiting int    // number of rows in buffer
	every   int    // rows per write; below 2 each row is written at once
	err     error  // the first error; after it nothing is written
}

// rows holds the methods that tables and logs share.
type rows struct{ a *appender }

// Rows returns the number of rows in the table, or of lines in the log.
func (r rows) Rows() int { return r.a.now().Rows }

// Digest returns the SHA-256 of all rows, in hexadecimal. Files with equal digests and equal columns are bit-identical.
func (r rows) Digest() string { return r.a.now().SHA256 }

// Truncate keeps the given number of rows from the start and drops all later rows, atomically. It returns an error if
// there are fewer rows.
func (r rows) Truncate(rows int) error { return r.a.truncate(rows, "") }

// Sync writes all rows to stable storage.
func (r rows) Sync() error {
	_, err := r.a.mark()
	return err
}

// position is a position between two rows, with the content before it.
type position struct {
	head  string // the line before the rows, with its end; empty if there is none
	first string // the first row; empty if there is none
	rows  int
	bytes int64
	sum   hash.Hash // of the rows
}

// openAppender opens a file to append rows, cuts off a torn one, and makes the file if absent. A new table needs a
// head; for an existing one an empty head matches any.
func openAppender(fsys files.FS, path string, heads int, head string) (*appender, error) {
	a := &appender{fsys: fsys, path: path, heads: heads}
	at, torn, err := measure(fsys, path, heads, -1)
	a.at = at
	if errors.Is(err, fs.ErrNotExist) || err == nil && heads == 1 && a.at.head == "" {
		err = a.begin(head)
	} else if err == nil && torn {
		err = a.cut(a.at)
	}
	if err != nil {
		return nil, err
	}
	if head != "" {
		if err := a.checkHead(head); err != nil {
			return nil, err
		}
	}
	a.file, err = fsys.Append(path)
	return a, err
}

// ErrColumns reports that an existing table has different columns.
var ErrColumns = errors.New("continue with the version of graft that wrote the run, or start another run")

// checkHead compares the line before the rows.
func (a *appender) checkHead(head string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.at.head == head {
		return nil
	}
	return fmt.Errorf("%s:1: the columns are %q, expected %q: %w", a.path, a.at.head, head, ErrColumns)
}

// begin makes the file without rows.
func (a *appender) begin(head string) error {
	a.at = position{head: head, bytes: int64(len(head)), sum: sha256.New()}
	return writeBytes(a.fsys, a.path, []byte(head))
}

// measure reads up to a number of rows of a file; a negative number reads all.
func measure(fsys files.FS, path string, heads, rows int) (position, bool, error) {
	at := position{sum: sha256.New()}
	file, err := fsys.Open(path)
	if err != nil {
		return at, false, err
	}
	more, err := eachRow(path)(file, func(n int, line []byte) error {
		if n > heads && at.rows == rows {
			return errEnough
		}
		at.pass(line, n <= heads)
		return nil
	})
	if errors.Is(err, errEnough) || errors.Is(err, tensorboard.ErrDamaged) {
		more, err = true, nil // a power failure may leave a damaged last record
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return at, false, fmt.Errorf("read %s: %w", path, err)
	}
	return at, more, nil
}

// eachRow returns the function that splits a file into rows.
func eachRow(path string) func(io.Reader, func(n int, row []byte) error) (torn bool, err error) {
	if isEvents(path) {
		return tensorboard.EachRecord
	}
	return EachLine
}

// errEnough stops a reading early.
var errEnough = errors.New("reading stopped before the end of the file")

// pass moves the position past a line.
func (p *position) pass(line []byte, isHead bool) {
	p.bytes += int64(len(line))
	if isHead {
		p.head = string(line)
		return
	}
	if p.rows == 0 {
		p.first = string(bytes.TrimSuffix(line, []byte("\n")))
	}
	p.rows++
	p.sum.Write(line)
}

func (p *position) digest() string { return hex.EncodeToString(p.sum.Sum(nil)) }

// cut removes what follows a position, atomically.
func (a *appender) cut(at position) error {
	err := files.WriteAtomic(a.fsys, a.path, func(w io.Writer) error {
		file, err := a.fsys.Open(a.path)
		if err != nil {
			return err
		}
		_, err = io.CopyN(w, file, at.bytes)
		return errors.Join(err, file.Close())
	})
	if err == nil {
		a.at = at
	}
	return err
}

// append adds a row, a line with its end.
func (a *appender) append(line []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err != nil {
		return a.err
	}
	if len(line) > maxLine {
		return fmt.Errorf("append to %s: a row has %d bytes; the maximum is %d", a.path, len(line), maxLine)
	}
	a.buffer = append(a.buffer, line...)
	a.at.pass(line, false)
	a.waiting++
	if a.waiting < a.every {
		return nil
	}
	return a.flush()
}

// flush writes the buffered rows in one call. After an error the file may end in a torn row, so nothing is written
// until it is opened again.
func (a *appender) flush() error {
	if a.err != nil || len(a.buffer) == 0 {
		return a.err
	}
	_, err := a.file.Write(a.buffer)
	a.buffer, a.waiting = a.buffer[:0], 0
	return a.fail(err)
}

// fail keeps the first error.
func (a *appender) fail(err error) error {
	if err != nil && a.err == nil {
		a.err = fmt.Errorf("append to %s: %w; further writes are disabled: fix the cause and resume the run",
			a.path, files.WithRemedy(err))
	}
	return a.err
}

// group sets the number of rows per write.
func (a *appender) group(rows int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.every = rows
	return a.flush()
}

// mark syncs all rows and returns their number and digest.
func (a *appender) mark() (Mark, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.flush(); err != nil {
		return Mark{}, err
	}
	if err := a.fail(a.file.Sync()); err != nil {
		return Mark{}, err
	}
	return Mark{Rows: a.at.rows, SHA256: a.at.digest()}, nil
}

// now returns the number of rows so far and their digest.
func (a *appender) now() Mark {
	a.mu.Lock()
	defer a.mu.Unlock()
	return Mark{Rows: a.at.rows, SHA256: a.at.digest()}
}

// truncate keeps the first rows. Unless sum is empty, they must have that digest; otherwise the file is unchanged.
func (a *appender) truncate(rows int, sum string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.flush(); err != nil {
		return err
	}
	at, more, err := measure(a.fsys, a.path, a.heads, rows)
	switch {
	case err != nil:
		return fmt.Errorf("truncate %s: %w", a.path, err)
	case rows < 0 || at.rows < rows:
		return fmt.Errorf("truncate %s to %d rows: the file has only %d, so rows were lost; "+
			"restore a copy of the run, or start another run", a.path, rows, at.rows)
	case sum != "" && at.digest() != sum:
		return fmt.Errorf("truncate %s to %d rows: the rows have changed since they were written; "+
			"restore a copy of the run, or start another run", a.path, rows)
	case !more:
		return nil
	}
	return a.replace(at)
}

// replace cuts the file and opens the new one.
func (a *appender) replace(at position) error {
	err := errors.Join(a.file.Close(), a.cut(at))
	if err == nil {
		a.file, err = a.fsys.Append(a.path)
	}
	if err != nil {
		a.file = nil
	}
	return a.fail(err)
}

// close syncs all rows and closes the file.
func (a *appender) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if errors.Is(a.err, errClosed) {
		return nil
	}
	err := a.flush()
	if a.file != nil {
		if err == nil {
			err = a.file.Sync()
		}
		err = errors.Join(err, a.file.Close())
	}
	a.err = fmt.Errorf("append to %s: %w", a.path, errClosed)
	return err
}
