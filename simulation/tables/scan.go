package tables

import (
	"bufio"
	"errors"
	"io"
)

// readBuffer is the size of a read, in bytes.
const readBuffer = 1 << 16

// textLine is a line of a file; the last may lack its end.
type textLine struct {
	at    int64  // offset in bytes
	size  int64  // size in the file, with its end
	text  []byte // without its end; at most MaxLine bytes
	ended bool   // false for the text after the last end
}

// cut reports whether the text is only the beginning of the line.
func (l textLine) cut() bool { return l.size > int64(len(l.text))+1 }

// eachLine calls do for each line. The text is valid only during the call.
func eachLine(r io.Reader, do func(textLine) error) error {
	in := bufio.NewReaderSize(r, readBuffer)
	var long []byte // part of the line before the buffer
	var l textLine
	for {
		part, err := in.ReadSlice('\n')
		more := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !more && !errors.Is(err, io.EOF) {
			return err
		}
		l.size += int64(len(part))
		if l.ended = err == nil; l.ended {
			part = part[:len(part)-1]
		}
		if l.text = part; more || len(long) > 0 {
			long = append(long, part[:min(len(part), MaxLine-len(long))]...)
			l.text = long
		}
		if more {
			continue
		}
		if l.size > 0 {
			if err := do(l); err != nil {
				return err
			}
		}
		if !l.ended {
			return nil
		}
		l.at, l.size, long = l.at+l.size, 0, long[:0]
	}
}
