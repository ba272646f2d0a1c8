package pickle

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	// chunk bounds the memory allocated ahead of the bytes read, so that a
	// false length costs nothing.
	chunk = 1 << 16
	// maxLine bounds a number or a name of the text protocol.
	maxLine = 1 << 12
)

// source is the input of a pickle.
type source interface {
	io.Reader
	io.ByteReader
}

// asSource uses r unbuffered if possible, so that nothing beyond the pickle is read.
func asSource(r io.Reader) source {
	if s, ok := r.(source); ok {
		return s
	}
	return bufio.NewReader(r)
}

// input counts and bounds the bytes that are read.
type input struct {
	src    source
	offset int64
	opt    Options
}

func (in *input) readByte() (byte, error) {
	if in.offset >= in.opt.MaxBytes {
		return 0, overLimit("bytes", "MaxBytes", in.opt.MaxBytes)
	}
	b, err := in.src.ReadByte()
	if err != nil {
		return 0, truncated(err)
	}
	in.offset++
	return b, nil
}

// read returns the next n bytes in fresh memory.
func (in *input) read(n uint64) ([]byte, error) {
	if n > uint64(in.opt.MaxString) {
		return nil, fmt.Errorf("a string of %d bytes: %w", n,
			overLimit("bytes", "MaxString", in.opt.MaxString))
	}
	if n > uint64(in.opt.MaxBytes-in.offset) {
		return nil, overLimit("bytes", "MaxBytes", in.opt.MaxBytes)
	}
	var data []byte
	for left := int(n); left > 0; left = int(n) - len(data) {
		grow := min(left, max(chunk, len(data)))
		start := len(data)
		data = append(data, make([]byte, grow)...)
		if _, err := io.ReadFull(in.src, data[start:]); err != nil {
			return nil, truncated(err)
		}
		in.offset += int64(grow)
	}
	return data, nil
}

// uint reads a little-endian number of 1, 2, 4 or 8 bytes.
func (in *input) uint(size int) (uint64, error) {
	var number [8]byte
	for i := range size {
		b, err := in.readByte()
		if err != nil {
			return 0, err
		}
		number[i] = b
	}
	return binary.LittleEndian.Uint64(number[:]), nil
}

// sized reads bytes that follow their own length.
func (in *input) sized(lengthSize int) ([]byte, error) {
	n, err := in.uint(lengthSize)
	if err != nil {
		return nil, err
	}
	return in.read(n)
}

// line reads up to a line feed and returns what stands before it.
func (in *input) line(limit int64) (string, error) {
	var line []byte
	for {
		b, err := in.readByte()
		if err != nil {
			return "", err
		}
		if b == '\n' {
			return string(line), nil
		}
		if int64(len(line)) >= limit {
			return "", fmt.Errorf("%w: a line of more than %d bytes", ErrLimit, limit)
		}
		line = append(line, b)
	}
}

// truncated turns the end of the input into an error that says so.
func truncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return malformed("it ends in the middle: %w", io.ErrUnexpectedEOF)
	}
	return err
}
