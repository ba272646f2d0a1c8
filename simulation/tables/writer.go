package tables

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"graft/internal/files"
)

// Writer adds records to a table, in its own file. Create it with Open; the zero value is not usable. Its methods are
// safe for concurrent use.
type Writer struct {
	fsys     files.FS
	dir      string
	lazy     bool
	scenario Scenario
	name     string // name of its file
	lock     io.Closer

	mu     sync.Mutex
	file   files.File // nil at first and after a failure
	failed bool       // the last write may be missing on the disk, or be there only in part
	line   int        // number of the next line
	ended  bool       // the last line is the writer's end
	seen   *seenRecords
	closed bool
}

// ready opens the file, at first and after a failure.
func (w *Writer) ready() error {
	if w.file != nil {
		return nil
	}
	if w.failed {
		if err := w.learn(); err != nil {
			return err
		}
	}
	s := w.segment(w.name)
	if err := s.read(w.fsys, w.dir, 0); err != nil {
		return err
	}
	if err := w.heal(s); err != nil {
		return err
	}
	file, err := w.fsys.Append(filepath.Join(w.dir, w.name))
	if err != nil {
		return err
	}
	w.file, w.failed, w.line, w.ended = file, false, s.next+s.lost, s.closed
	return nil
}

// heal removes a torn line. After a failure it rewrites the whole file, since its content on the disk is unknown.
func (w *Writer) heal(s *segment) error {
	if s.keep == s.size && !s.unended && !w.failed {
		return nil
	}
	path := filepath.Join(w.dir, w.name)
	return files.WriteAtomic(w.fsys, path, func(out io.Writer) error {
		file, err := w.fsys.Open(path)
		if err != nil {
			return err
		}
		_, err = io.CopyN(out, file, s.keep)
		if err == nil && s.unended {
			_, err = out.Write([]byte("\n"))
		}
		return errors.Join(err, file.Close())
	})
}

// Append commits a record under a key, which Cause.Key computes from the run's inputs. If the table already has the
// record, it returns nil and changes nothing. If the table has a different outcome for the same inputs, or the same run
// under a different key, the error wraps ErrConflict.
//
// After any other error the record may or may not be committed. Earlier commits are safe, and Append can be called
// again.
func (w *Writer) Append(key string, r Record) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.append(&Entry{Record: r, Key: key}); err != nil {
		return fmt.Errorf("append sequence %s to table %s: %w", Tuple(r.Sequence), w.dir, err)
	}
	return nil
}

func (w *Writer) append(e *Entry) error {
	if w.closed {
		return errWriterClosed
	}
	if err := w.scenario.admits(e.Key, &e.Record); err != nil {
		return err
	}
	if err := w.ready(); err != nil {
		return err
	}
	known, fault := w.seen.meet(e)
	if fault != nil {
		return fmt.Errorf("%w: %s; find out why this run has two records", ErrConflict, fault.Text)
	}
	if known {
		return nil
	}
	line, err := FormatLine(recordKind, recordLine{Line: w.line, Key: e.Key, Record: e.Record})
	if err == nil {
		err = w.write(line)
	}
	if err == nil {
		e.File, e.Line = w.name, w.line-1
		w.seen.add(e)
	}
	return err
}

func (w *Writer) write(line []byte) error {
	_, err := w.file.Write(line)
	if err == nil && !w.lazy {
		err = w.file.Sync()
	}
	if err != nil {
		return w.fail(err)
	}
	w.line, w.ended = w.line+1, false
	return nil
}

// fail closes the file until it is repaired.
func (w *Writer) fail(err error) error {
	err = errors.Join(err, w.file.Close())
	w.file, w.failed = nil, true
	return fmt.Errorf("%w; fix the cause and try again; committed records are kept", err)
}

func (w *Writer) sync() error {
	if err := w.ready(); err != nil {
		return err
	}
	if err := w.file.Sync(); err != nil {
		return w.fail(err)
	}
	return nil
}

// Close adds an end line to the file, writes all records to stable storage and releases the file for another writer. It
// releases the file even if it returns an error. Later calls do nothing.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	err := w.end()
	if err == nil {
		err = w.sync()
	}
	if w.file != nil {
		err = errors.Join(err, w.file.Close())
	}
	if err = errors.Join(err, w.lock.Close()); err != nil {
		return fmt.Errorf("close table %s: %w", w.dir, err)
	}
	return nil
}

// end writes the line that marks the end of the writer's work.
func (w *Writer) end() error {
	err := w.ready()
	if err != nil || w.ended {
		return err
	}
	line, err := FormatLine(endKind, endLine{Line: w.line})
	if err == nil {
		err = w.write(line)
	}
	return err
}
