package tensorboard

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

const (
	headSize = 12 // the length and its checksum
	footSize = 4  // the checksum of the data
	// MaxRecord is the maximum size of a record with its frame in bytes. It bounds the memory for reading a damaged
	// file.
	MaxRecord = 16 << 20
	readSize  = 1 << 16
	// checksumMask is added to checksums, because the CRC of data that contains CRCs is weak.
	checksumMask = 0xa282ead8
)

// ErrDamaged reports that a record was changed after it was written.
var ErrDamaged = errors.New("the record is damaged")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is the masked CRC-32C of data.
func checksum(data []byte) uint32 {
	sum := crc32.Checksum(data, castagnoli)
	return (sum>>15 | sum<<17) + checksumMask
}

// AppendRecord appends data to a file's content as a record.
func AppendRecord(to, data []byte) []byte {
	length := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	to = binary.LittleEndian.AppendUint32(append(to, length...), checksum(length))
	return binary.LittleEndian.AppendUint32(append(to, data...), checksum(data))
}

// EachRecord passes each complete record to a callback, until the callback returns an error. The callback receives the
// record's number, counted from 1, and the record with its header and checksums, which is valid only during the call.
// If the last record is incomplete, EachRecord returns true without an error. At a damaged record, it returns true and
// an error that wraps ErrDamaged.
func EachRecord(r io.Reader, do func(n int, record []byte) error) (torn bool, err error) {
	in := bufio.NewReaderSize(r, readSize)
	var record []byte
	for n := 1; ; n++ {
		record, err = readRecord(in, record[:0])
		switch {
		case errors.Is(err, io.EOF):
			return false, nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return true, nil
		case err != nil:
			return errors.Is(err, ErrDamaged), fmt.Errorf("record %d: %w", n, err)
		}
		if err := do(n, record); err != nil {
			return false, err
		}
	}
}

// readRecord appends the next record to a buffer, with its frame. The error is io.EOF at
// the end of the file, and io.ErrUnexpectedEOF inside a record.
func readRecord(in *bufio.Reader, record []byte) ([]byte, error) {
	record = append(record, make([]byte, headSize)...)
	if _, err := io.ReadFull(in, record); err != nil {
		return record, err
	}
	length := binary.LittleEndian.Uint64(record)
	if binary.LittleEndian.Uint32(record[8:]) != checksum(record[:8]) || length > MaxRecord-headSize-footSize {
		return record, fmt.Errorf("%w: invalid length", ErrDamaged)
	}
	for left := int(length) + footSize; left > 0; { // a damaged length may be larger than the file
		part := min(left, readSize)
		at := len(record)
		record = append(record, make([]byte, part)...)
		if _, err := io.ReadFull(in, record[at:]); err != nil {
			return record, wholly(err)
		}
		left -= part
	}
	data := Data(record)
	if binary.LittleEndian.Uint32(record[headSize+len(data):]) != checksum(data) {
		return record, fmt.Errorf("%w: checksum mismatch", ErrDamaged)
	}
	return record, nil
}

// wholly converts io.EOF to io.ErrUnexpectedEOF.
func wholly(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Data returns the content of a complete record.
func Data(record []byte) []byte { return record[headSize : len(record)-footSize] }
