package team

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
)

// Maximum lengths of lines in bytes, since a line is held in memory until its end.
const (
	greetLine  = 4096
	jobLine    = 16 << 20
	answerLine = 4 << 20   // a follower's line, with a value of the store in base64
	orderLine  = 256 << 20 // a leader's line, with the network's form
)

var errLongLine = errors.New("the message exceeds the maximum length")

// readLine reads a line of a limited length, without its end.
func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > most+1 {
			return nil, errLongLine
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// readJSON reads a value from a line of a limited length.
func readJSON(r *bufio.Reader, most int, v any) error {
	line, err := readLine(r, most)
	if err != nil {
		return err
	}
	return json.Unmarshal(line, v)
}
