package reader

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// field is a field of a message in the wire format of protocol buffers.
type field struct {
	number int
	kind   int    // wire type
	value  uint64 // value of a number
	data   []byte // content of a text, a message or a packed list
}

// Wire types that ONNX models use.
const (
	varint  = 0
	eight   = 1
	counted = 2
	four    = 5
)

// Limits of a model. A field or a number takes up to some hundred bytes in memory, but only one or two bytes in the
// file. A network of a thousand layers has some ten thousand fields; each of its weights is one field.
const (
	mostFields  = 2 << 20
	mostNumbers = 32 << 20 // total numbers in lists of whole numbers
)

// budget counts the parts of a model read so far.
type budget struct{ fields, numbers int }

// each calls a function for each field of a message. Nothing is copied.
func (b *budget) each(data []byte, visit func(f field) error) error {
	for len(data) > 0 {
		key, n := binary.Uvarint(data)
		if n <= 0 || key>>3 == 0 || key>>3 > math.MaxInt32 {
			return errors.New("a message is truncated or not a protocol buffer")
		}
		data = data[n:]
		f := field{number: int(key >> 3), kind: int(key & 7)}
		size, err := f.read(data)
		if err != nil {
			return err
		}
		data = data[size:]
		if b.fields++; b.fields > mostFields {
			return fmt.Errorf("the model has more than %d fields", mostFields)
		}
		if err := visit(f); err != nil {
			return err
		}
	}
	return nil
}

// read reads the value and returns the number of bytes that it takes.
func (f *field) read(data []byte) (int, error) {
	cut := fmt.Errorf("field %d of a message is truncated", f.number)
	switch f.kind {
	case varint:
		value, n := binary.Uvarint(data)
		if n <= 0 {
			return 0, cut
		}
		f.value = value
		return n, nil
	case eight:
		if len(data) < 8 {
			return 0, cut
		}
		f.value = binary.LittleEndian.Uint64(data)
		return 8, nil
	case four:
		if len(data) < 4 {
			return 0, cut
		}
		f.value = uint64(binary.LittleEndian.Uint32(data))
		return 4, nil
	case counted:
		size, n := binary.Uvarint(data)
		if n <= 0 || size > uint64(len(data)-n) {
			return 0, cut
		}
		f.data = data[n:][:size]
		return n + int(size), nil
	}
	return 0, fmt.Errorf("field %d of a message has unknown kind %d", f.number, f.kind)
}

// whole appends the numbers of a repeated field, packed or not.
func (b *budget) whole(f field, to []int64) ([]int64, error) {
	if f.kind == varint {
		return append(to, int64(f.value)), nil
	}
	for data := f.data; len(data) > 0; {
		value, n := binary.Uvarint(data)
		if n <= 0 {
			return nil, fmt.Errorf("the list in field %d is truncated", f.number)
		}
		if b.numbers++; b.numbers > mostNumbers {
			return nil, fmt.Errorf("the model has more than %d integers in lists; store tensors as raw data",
				mostNumbers)
		}
		to, data = append(to, int64(value)), data[n:]
	}
	return to, nil
}

// reals appends the float32 numbers of a repeated field, packed or not.
func (f field) reals(to []float32) []float32 {
	if f.kind == four {
		return append(to, math.Float32frombits(uint32(f.value)))
	}
	for data := f.data; len(data) >= 4; data = data[4:] {
		to = append(to, math.Float32frombits(binary.LittleEndian.Uint32(data)))
	}
	return to
}
