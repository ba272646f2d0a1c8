package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	// readBuffer is the size of reads from a file, in bytes.
	readBuffer = 1 << 18
	// maxLine is the maximum length of a row, in bytes. Real rows have a few hundred.
	maxLine = 1 << 20
)

// lines reads the lines of a text one by one.
type lines struct {
	in     *bufio.Reader
	path   string // for errors
	number int    // number of the last line read, from 1
	cut    bool   // a carriage return was removed from its end
	long   []byte // buffer for a line that is longer than the reader's buffer
}

// next returns the next line without its end. It is valid until the next call.
func (l *lines) next() ([]byte, error) {
	line, err := l.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = l.longLine(line)
	}
	if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
		return nil, l.ended(err)
	}
	l.number++
	line = bytes.TrimSuffix(line, []byte("\n"))
	l.cut = bytes.HasSuffix(line, []byte("\r"))
	return bytes.TrimSuffix(line, []byte("\r")), nil
}

func (l *lines) longLine(begin []byte) ([]byte, error) {
	l.long = append(l.long[:0], begin...)
	for {
		more, err := l.in.ReadSlice('\n')
		l.long = append(l.long, more...)
		if len(l.long) > maxLine {
			return nil, l.fault(l.number+1, 0, "", fmt.Sprintf("the line has more than %d bytes", maxLine),
				"check that the file is a trace")
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l.long, err
		}
	}
}

// ended adds the path to a read error. A damaged compressed file is malformed.
func (l *lines) ended(err error) error {
	var known *Error
	switch {
	case errors.Is(err, io.EOF), errors.As(err, &known):
		return err
	case isDamagedGzip(err):
		return l.fault(l.number, 0, "", "the compressed file is damaged after this line: "+err.Error(),
			"download the file again")
	}
	return fmt.Errorf("read %s: %w", l.path, err)
}

func (l *lines) fault(line, column int, field, text, remedy string) error {
	return &Error{Path: l.path, Line: line, Column: column, Field: field, Text: text, Remedy: remedy}
}
