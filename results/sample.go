package results

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"graft/internal/files"
)

// wholeSample is the size in bytes up to which ReadStreamSample reads a table completely.
const wholeSample = 64 << 10

// sampleBlock is the number of bytes read at each place of a larger table.
const sampleBlock = 1 << 10

// ReadStreamSample reads about n rows, evenly spread over the table, and the last row. It reads a small table
// completely. Rows longer than sampleBlock are skipped. The table may grow during the call.
func ReadStreamSample(fsys files.FS, path string, n int) (*Table, error) {
	file, err := fsys.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read table: %w", err)
	}
	t, err := readSample(file, path, n)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("read a sample of table %s: %w", path, err)
	}
	return t, nil
}

func readSample(file files.File, path string, n int) (*Table, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	t := &Table{data: map[string]*series{}}
	if info.Size() <= wholeSample {
		if err := t.read(io.NewSectionReader(file, 0, wholeSample), path); err != nil {
			return nil, err
		}
		t.settle()
		return t, nil
	}
	head, err := firstLine(file, info.Size())
	if err != nil {
		return nil, err
	}
	if err := t.readHead(string(bytes.TrimSuffix(head, []byte("\n")))); err != nil {
		return nil, err
	}
	for at := range n {
		from := int64(len(head)) + (info.Size()-int64(len(head)))*int64(at)/int64(n)
		if err := t.addAfter(file, from, at == 0); err != nil {
			return nil, err
		}
	}
	last, _, err := lastLines(file, int64(len(head)), info.Size(), 1)
	if err == nil && len(last) == 1 {
		err = t.addLine(last[0])
	}
	t.settle()
	return t, err
}

// addAfter adds the first whole row after a place in a file; none if it is too long. At the start of a row, whole is
// true.
func (t *Table) addAfter(file io.ReaderAt, from int64, whole bool) error {
	block, err := io.ReadAll(io.NewSectionReader(file, from, 2*sampleBlock))
	if err != nil {
		return err
	}
	if !whole {
		_, block, _ = bytes.Cut(block, []byte("\n"))
	}
	line, _, found := bytes.Cut(block, []byte("\n"))
	if !found {
		return nil
	}
	return t.addLine(line)
}

func (t *Table) addLine(line []byte) error {
	cells, err := parseRow(string(line), nil)
	if err != nil {
		return err
	}
	return t.add(cells)
}
