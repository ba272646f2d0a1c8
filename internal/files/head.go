package files

import (
	"errors"
	"fmt"
	"io"
)

// headBytes is the number of bytes that identify the format of a file.
const headBytes = 512

// Head returns the first bytes of a file, from which its format can be detected.
func Head(fsys FS, path string) ([]byte, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, headBytes)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return head[:n], nil
}
