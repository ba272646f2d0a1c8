package results

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"graft/internal/files"
)

// tailBlock is the number of bytes read first from the end of a file.
const tailBlock = 1 << 12

// ReadStreamTail reads the last rows of a table. The field Rows of the result is the number of rows read. The table
// may grow during the call: an incomplete last row is skipped.
func ReadStreamTail(fsys files.FS, path string, rows int) (*Table, error) {
	file, err := fsys.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read table: %w", err)
	}
	t, err := readTail(file, rows)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("read the end of table %s: %w", path, err)
	}
	return t, nil
}

func readTail(file files.File, rows int) (*Table, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	head, err := firstLine(file, info.Size())
	if err != nil {
		return nil, err
	}
	t := &Table{data: map[string]*series{}}
	if err := t.readHead(string(bytes.TrimSuffix(head, []byte("\n")))); err != nil {
		return nil, err
	}
	lines, torn, err := lastLines(file, int64(len(head)), info.Size(), rows)
	if err != nil {
		return nil, err
	}
	t.Torn = torn
	var cells []cell
	for k, line := range lines {
		if cells, err = parseRow(string(line), cells[:0]); err == nil {
			err = t.add(cells)
		}
		if err != nil {
			return nil, fmt.Errorf("row %d from the end: %w", len(lines)-k, err)
		}
	}
	t.settle()
	return t, nil
}

// firstLine returns the line of the columns, with its line break.
func firstLine(file io.ReaderAt, size int64) ([]byte, error) {
	line, err := bufio.NewReader(io.NewSectionReader(file, 0, min(size, maxLine))).ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		err = errors.New("the header line is missing")
	}
	return line, err
}

// lastLines returns the last whole lines between two offsets of a file, without line breaks.
func lastLines(file io.ReaderAt, from, to int64, rows int) (lines [][]byte, torn bool, err error) {
	for block := int64(tailBlock); ; block *= 4 {
		start := max(from, to-block)
		text, err := io.ReadAll(io.NewSectionReader(file, start, to-start)) // shorter if the file was just cut
		if err != nil {
			return nil, false, err
		}
		whole := bytes.LastIndexByte(text, '\n') + 1
		torn := whole < len(text)
		lines := bytes.Split(text[:whole], []byte("\n"))
		lines = lines[:len(lines)-1] // nothing follows the last end
		if start > from && len(lines) > 0 {
			lines = lines[1:] // incomplete
		}
		if len(lines) >= rows || start == from {
			return lines[max(0, len(lines)-rows):], torn, nil
		}
		if block > maxLine*int64(max(rows, 1)) {
			return nil, false, fmt.Errorf("a line is longer than %d bytes", maxLine)
		}
	}
}
