package results

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
)

const (
	// maxLine bounds a line of a table or log, so that a damaged file takes no
	// more memory than a sound one.
	maxLine = 16 << 20
	// readBuffer is what files are read by.
	readBuffer = 1 << 16
)

// eachLine calls do for each whole line, with its end and numbered from 1, until
// do returns an error. It says whether something without an end follows. The
// line is valid during the call only.
func EachLine(r io.Reader, do func(n int, line []byte) error) (torn bool, err error) {
	in := bufio.NewReaderSize(r, readBuffer)
	var long []byte // what a line has beyond the buffer
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

// namePattern is what tables, logs and checkpoints may be called: a file name on
// every system.
var namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,99}$`)

// checkName finds names that may not be one of a file.
func checkName(name string) error {
	if !namePattern.MatchString(name) {
		return fmt.Errorf("%q is no name: use up to 100 small letters, digits and _ . - after a letter or digit", name)
	}
	return nil
}
