package pickle

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	// chunk limits the memory allocated ahead of the bytes read, so a false length costs nothing.
	chunk = 1 << 16
	// maxLine limits a number or a name of the text protocol.
	maxLine = 1 << 12
)

// source is the input of a pickle.
type source interface {
	io.Reader
	io.ByteReader
}

// asSource uses r unbuffered if possible, so nothing beyond the pickle is read.
func asSource(r io.Reader) source {
	if s, ok := r.(source); ok {
		return s
	}
	return bufio.NewReader(r)
}

// readByte reads the next byte. It counts the bytes read, and enforces the limit.
func (m *machine) readByte() byte {
	if m.offset >= m.opt.MaxBytes {
		m.fail(overLimit("bytes", "MaxBytes", m.opt.MaxBytes))
	}
	if m.err != nil {
		return 0
	}
	b, err := m.src.ReadByte()
	if err != nil {
		m.fail(truncated(err))
		return 0
	}
	m.offset++
	return b
}

// read returns the next n bytes in fresh memory.
func (m *machine) read(n uint64) []byte {
	if n > uint64(m.opt.MaxString) {
		m.fail(fmt.Errorf("a string has %d bytes: %w", n, overLimit("bytes", "MaxString", m.opt.MaxString)))
	} else if n > uint64(m.opt.MaxBytes-m.offset) {
		m.fail(overLimit("bytes", "MaxBytes", m.opt.MaxBytes))
	}
	var data []byte
	for m.err == nil && len(data) < int(n) {
		start := len(data)
		data = append(data, make([]byte, min(int(n)-start, max(chunk, start)))...)
		if _, err := io.ReadFull(m.src, data[start:]); err != nil {
			m.fail(truncated(err))
		}
		m.offset += int64(len(data) - start)
	}
	return data
}

// uint reads a little-endian number of 1, 2, 4 or 8 bytes.
func (m *machine) uint(size int) uint64 {
	var number [8]byte
	for i := range size {
		number[i] = m.readByte()
	}
	return binary.LittleEndian.Uint64(number[:])
}

// sized reads bytes that follow their own length.
func (m *machine) sized(lengthSize int) []byte { return m.read(m.uint(lengthSize)) }

// line reads up to a line feed and returns the text before it.
func (m *machine) line(limit int64) string {
	var line []byte
	for m.err == nil {
		b := m.readByte()
		if b == '\n' {
			break
		}
		if int64(len(line)) >= limit {
			m.fail(fmt.Errorf("%w: a line has more than %d bytes", ErrLimit, limit))
		}
		line = append(line, b)
	}
	return string(line)
}

// truncated converts the end of the input into an error with that meaning.
func truncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return malformed("truncated: %w", io.ErrUnexpectedEOF)
	}
	return err
}
