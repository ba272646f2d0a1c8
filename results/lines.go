package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"graft/internal/files"
)

// Lines is a log of a run with one JSON value per line. Create it with Run.Lines; the zero value is not usable. It is
// safe for concurrent use. After a failed write, all later writes fail, because the file may end in an incomplete line.
type Lines struct{ rows }

// Lines opens a log, NAME.jsonl, and creates it if it is missing. Opening it twice returns the same log.
func (r *Run) Lines(name string) (*Lines, error) {
	a, err := r.appender(name+logSuffix, "")
	if err != nil {
		return nil, fmt.Errorf("open log %s: %w", name, err)
	}
	return &Lines{rows{a}}, nil
}

// Append writes a value as one line, without buffering.
func (l *Lines) Append(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("append to %s: %w", l.a.path, err)
	}
	return l.a.append(append(text, '\n'))
}

// Write adds a line that is already JSON, with a line break if it is missing. Because it has Write and Sync, Lines
// can be the output of a logger.
func (l *Lines) Write(line []byte) (int, error) {
	text := bytes.TrimSuffix(line, []byte("\n"))
	if bytes.IndexByte(text, '\n') >= 0 || !json.Valid(text) {
		return 0, fmt.Errorf("append to %s: %.100q is not a single line of JSON", l.a.path, text)
	}
	if err := l.a.append(append(bytes.Clone(text), '\n')); err != nil {
		return 0, err
	}
	return len(line), nil
}

// ReadJSONLines reads a log. The log may grow during the call: an incomplete last line is skipped. It returns nil if
// there are no lines.
func ReadJSONLines[T any](fsys files.FS, path string) ([]T, error) {
	var values []T
	err := ReadTable(fsys, path, func(r io.Reader) error {
		_, err := EachLine(r, func(n int, line []byte) error {
			var v T
			if err := json.Unmarshal(line, &v); err != nil {
				return fmt.Errorf("%s:%d: %w", path, n, err)
			}
			values = append(values, v)
			return nil
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read log %s: %w", path, err)
	}
	return values, nil
}
