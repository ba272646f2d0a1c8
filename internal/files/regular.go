package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrNotRegular means that a path is not a regular file. Reading such a file could block or never end.
var ErrNotRegular = errors.New("not a regular file")

// openRegular opens a path that stat reports as a regular file or as missing. It checks the path before opening,
// because opening alone affects devices and FIFOs, and checks the open file afterwards, because the path may have
// changed in between.
func openRegular(path string, stat func(string) (fs.FileInfo, error), open func() (*os.File, error)) (File, error) {
	if info, err := stat(path); err == nil {
		if err := checkRegular(path, info); err != nil {
			return nil, err
		}
	}
	file, err := open()
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = checkRegular(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func checkRegular(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("the path is a %s, %w", kindOf(info.Mode()),
		ErrNotRegular)}
}

// kindOf names the type of a file that is not regular.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "folder"
	case mode&fs.ModeNamedPipe != 0:
		return "FIFO"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}
