package onnx

import (
	"encoding/binary"
	"math"
)

// message is an encoded protocol buffer: a sequence of fields, each a number and a value
// (https://protobuf.dev/programming-guides/encoding).
type message []byte

func (m *message) key(field, wire int) { *m = binary.AppendUvarint(*m, uint64(field<<3|wire)) }

// number adds an integer or an enumeration.
func (m *message) number(field int, v int64) {
	m.key(field, 0)
	*m = binary.AppendUvarint(*m, uint64(v))
}

// real adds a float32.
func (m *message) real(field int, v float64) {
	m.key(field, 5)
	*m = binary.LittleEndian.AppendUint32(*m, math.Float32bits(float32(v)))
}

// bytes adds a string, raw bytes or a message within this one.
func (m *message) bytes(field int, v []byte) {
	m.key(field, 2)
	*m = binary.AppendUvarint(*m, uint64(len(v)))
	*m = append(*m, v...)
}

func (m *message) text(field int, v string) { m.bytes(field, []byte(v)) }
