package pickle

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// maxLong bounds the bytes of a binary int: reading a decimal takes time that
// grows with the square of its length, and no weight file holds large ints.
const maxLong = 1024

var textNumbers = map[byte]func(*machine) error{
	'I': func(m *machine) error { return m.pushLine(parseInt) },   // INT
	'L': func(m *machine) error { return m.pushLine(parseLong) },  // LONG
	'F': func(m *machine) error { return m.pushLine(parseFloat) }, // FLOAT
}

var binaryNumbers = map[byte]func(*machine) error{
	'N':  func(m *machine) error { return m.push(nil) },   // NONE
	0x88: func(m *machine) error { return m.push(true) },  // NEWTRUE
	0x89: func(m *machine) error { return m.push(false) }, // NEWFALSE
	'J':  (*machine).binInt,                               // BININT
	'K':  func(m *machine) error { return m.binUint(1) },  // BININT1
	'M':  func(m *machine) error { return m.binUint(2) },  // BININT2
	'G':  (*machine).binFloat,                             // BINFLOAT
	0x8a: func(m *machine) error { return m.binLong(1) },  // LONG1
	0x8b: func(m *machine) error { return m.binLong(4) },  // LONG4
}

func (m *machine) pushLine(parse func(string) (any, error)) error {
	line, err := m.in.line(maxLine)
	if err != nil {
		return err
	}
	value, err := parse(line)
	if err != nil {
		return err
	}
	return m.push(value)
}

// parseInt also reads the bools of protocol 0, which are "00" and "01".
func parseInt(line string) (any, error) {
	switch line {
	case "00":
		return false, nil
	case "01":
		return true, nil
	}
	return parseLong(line)
}

func parseLong(line string) (any, error) {
	line = strings.TrimSuffix(line, "L")
	if n, err := strconv.ParseInt(line, 10, 64); err == nil {
		return n, nil
	}
	n, ok := new(big.Int).SetString(line, 10)
	if !ok {
		return nil, malformed("%q is no int", line)
	}
	return n, nil
}

func parseFloat(line string) (any, error) {
	value, err := strconv.ParseFloat(line, 64)
	if err != nil {
		return nil, malformed("%q is no float", line)
	}
	return value, nil
}

func parseIndex(line string) (uint64, error) {
	at, err := strconv.ParseUint(line, 10, 32)
	if err != nil {
		return 0, malformed("%q is no memo number", line)
	}
	return at, nil
}

func (m *machine) binInt() error {
	bits, err := m.in.uint(4)
	if err != nil {
		return err
	}
	return m.push(int64(int32(uint32(bits))))
}

func (m *machine) binUint(size int) error {
	bits, err := m.in.uint(size)
	if err != nil {
		return err
	}
	return m.push(int64(bits))
}

// binFloat reads the one number that is big-endian in a pickle.
func (m *machine) binFloat() error {
	data, err := m.in.read(8)
	if err != nil {
		return err
	}
	return m.push(math.Float64frombits(binary.BigEndian.Uint64(data)))
}

func (m *machine) binLong(lengthSize int) error {
	n, err := m.in.uint(lengthSize)
	if err != nil {
		return err
	}
	if n > maxLong {
		return malformed("an int of %d bytes, where %d are allowed", n, maxLong)
	}
	data, err := m.in.read(n)
	if err != nil {
		return err
	}
	return m.push(decodeLong(data))
}

// decodeLong reads a little-endian two's complement number of any size.
func decodeLong(data []byte) any {
	slices.Reverse(data)
	n := new(big.Int).SetBytes(data)
	if len(data) > 0 && data[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(data))))
	}
	return narrow(n)
}

// narrow returns an int64 where the number fits.
func narrow(n *big.Int) any {
	if n.IsInt64() {
		return n.Int64()
	}
	return n
}
