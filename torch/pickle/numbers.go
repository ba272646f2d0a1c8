package pickle

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// maxLong limits the bytes of a binary int: reading a decimal takes time quadratic in its length, and no weight file
// holds large ints.
const maxLong = 1024

var textNumbers = map[byte]func(*machine){
	'I': func(m *machine) { m.push(m.parseInt(m.line(maxLine))) },   // INT
	'L': func(m *machine) { m.push(m.parseLong(m.line(maxLine))) },  // LONG
	'F': func(m *machine) { m.push(m.parseFloat(m.line(maxLine))) }, // FLOAT
}

var binaryNumbers = map[byte]func(*machine){
	'N':  func(m *machine) { m.push(nil) },                             // NONE
	0x88: func(m *machine) { m.push(true) },                            // NEWTRUE
	0x89: func(m *machine) { m.push(false) },                           // NEWFALSE
	'J':  func(m *machine) { m.push(int64(int32(uint32(m.uint(4))))) }, // BININT
	'K':  func(m *machine) { m.push(int64(m.uint(1))) },                // BININT1
	'M':  func(m *machine) { m.push(int64(m.uint(2))) },                // BININT2
	'G':  (*machine).binFloat,                                          // BINFLOAT
	0x8a: func(m *machine) { m.binLong(m.uint(1)) },                    // LONG1
	0x8b: func(m *machine) { m.binLong(m.uint(4)) },                    // LONG4
}

// parseInt also reads the bools of protocol 0, which are "00" and "01".
func (m *machine) parseInt(line string) any {
	switch line {
	case "00":
		return false
	case "01":
		return true
	}
	return m.parseLong(line)
}

func (m *machine) parseLong(line string) any {
	line = strings.TrimSuffix(line, "L")
	if n, err := strconv.ParseInt(line, 10, 64); err == nil {
		return n
	}
	n, ok := new(big.Int).SetString(line, 10)
	if !ok {
		m.malformed("%q is not an int", line)
	}
	return n
}

func (m *machine) parseFloat(line string) any {
	value, err := strconv.ParseFloat(line, 64)
	if err != nil {
		m.malformed("%q is not a float", line)
	}
	return value
}

// binFloat reads a float, the only big-endian number in a pickle.
func (m *machine) binFloat() {
	if data := m.read(8); m.err == nil {
		m.push(math.Float64frombits(binary.BigEndian.Uint64(data)))
	}
}

func (m *machine) binLong(n uint64) {
	if n > maxLong {
		m.malformed("an int has %d bytes, expected at most %d", n, maxLong)
		return
	}
	m.push(decodeLong(m.read(n)))
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

// narrow returns an int64 if the number fits.
func narrow(n *big.Int) any {
	if n.IsInt64() {
		return n.Int64()
	}
	return n
}
