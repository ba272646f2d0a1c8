package pickle

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxWriteDepth is below the depth limit of Python's reader, and ends the walk of a list that contains itself.
	maxWriteDepth = 200
	// maxWriteValues ends the walk of values that contain each other many times.
	maxWriteValues = 1 << 22
)

// Reduce makes Write emit a call: on reading, Python creates the value as Callable(*Args). Read never returns a Reduce.
// The zero value has no callable and cannot be written.
type Reduce struct {
	Callable Global
	Args     Tuple
}

// Persistent makes Write emit a reference to an object outside the pickle. Read never returns a Persistent. The zero
// value has the id None.
type Persistent struct {
	ID any
}

// Write writes one pickle of protocol 2. Every Python since 2.3 can read it, and PyTorch's restricted reader
// (weights_only) accepts it. The value can contain the plain values that Read returns, except sets, and also Reduce,
// Persistent and int. All other types cause an error. The State of a Dict is not written. Equal values produce equal
// bytes. Nothing is memoized: a value that occurs twice is written twice.
func Write(w io.Writer, value any) error {
	out := &writer{w: bufio.NewWriter(w)}
	out.bytes(0x80, 2)
	if err := out.value(value, 0); err != nil {
		return fmt.Errorf("write a pickle: %w", err)
	}
	out.bytes('.')
	if err := out.w.Flush(); err != nil {
		return fmt.Errorf("write a pickle: %w", err)
	}
	return nil
}

// writer relies on bufio.Writer to keep the first error until Flush.
type writer struct {
	w      *bufio.Writer
	values int
}

func (o *writer) bytes(b ...byte) { _, _ = o.w.Write(b) }

// value writes opcodes that leave the value on top of the reader's stack.
func (o *writer) value(value any, depth int) error {
	if o.values++; o.values > maxWriteValues || depth > maxWriteDepth {
		return fmt.Errorf("%w: the data has more than %d values or %d levels; the cause may be a value that "+
			"contains itself",
			ErrLimit, maxWriteValues, maxWriteDepth)
	}
	switch v := value.(type) {
	case Tuple:
		return o.tuple(v, depth)
	case *List:
		return o.list(v, depth)
	case *Dict:
		return o.dict(v, depth)
	case Reduce:
		return o.reduce(v, depth)
	case Persistent:
		if err := o.value(v.ID, depth+1); err != nil {
			return err
		}
		o.bytes('Q')
		return nil
	}
	return o.plain(value, depth)
}

func (o *writer) plain(value any, depth int) error {
	switch v := value.(type) {
	case nil:
		o.bytes('N')
	case bool:
		o.bool(v)
	case int:
		o.int(int64(v))
	case int64:
		o.int(v)
	case *big.Int:
		return o.long(v)
	case float64:
		o.bytes('G')
		o.bytes(binary.BigEndian.AppendUint64(nil, math.Float64bits(v))...)
	case string:
		return o.text(v)
	case []byte:
		args := Tuple{latin1ToUTF8(string(v)), "latin1"}
		return o.reduce(Reduce{Callable: Global{"_codecs", "encode"}, Args: args}, depth)
	case Global:
		return o.global(v)
	default:
		return fmt.Errorf("cannot write a %T", value)
	}
	return nil
}

func (o *writer) bool(v bool) {
	if v {
		o.bytes(0x88)
	} else {
		o.bytes(0x89)
	}
}

// int uses the shortest opcode, as Python does.
func (o *writer) int(v int64) {
	switch {
	case v >= 0 && v <= math.MaxUint8:
		o.bytes('K', byte(v))
	case v >= 0 && v <= math.MaxUint16:
		o.bytes('M', byte(v), byte(v>>8))
	case v >= math.MinInt32 && v <= math.MaxInt32:
		o.bytes('J')
		o.bytes(binary.LittleEndian.AppendUint32(nil, uint32(int32(v)))...)
	default:
		o.bytes(0x8a, 8)
		o.bytes(binary.LittleEndian.AppendUint64(nil, uint64(v))...)
	}
}

// long writes two's complement in the minimum number of bytes for the number and its sign.
func (o *writer) long(v *big.Int) error {
	size := v.BitLen()/8 + 1
	if size > math.MaxUint8 {
		return fmt.Errorf("%w: an int has %d bytes", ErrLimit, size)
	}
	n := v
	if v.Sign() < 0 {
		n = new(big.Int).Add(v, new(big.Int).Lsh(big.NewInt(1), uint(8*size)))
	}
	data := n.FillBytes(make([]byte, size))
	slices.Reverse(data)
	o.bytes(0x8a, byte(size))
	o.bytes(data...)
	return nil
}

func (o *writer) text(v string) error {
	if len(v) > math.MaxInt32 {
		return fmt.Errorf("%w: a string has %d bytes", ErrLimit, len(v))
	}
	if !utf8.ValidString(v) {
		return malformed("the text %.40q is not UTF-8: write it as []byte", v)
	}
	o.bytes('X')
	o.bytes(binary.LittleEndian.AppendUint32(nil, uint32(len(v)))...)
	_, _ = o.w.WriteString(v)
	return nil
}

func (o *writer) global(v Global) error {
	if v.Module == "" || v.Name == "" || strings.ContainsAny(v.Module+v.Name, "\r\n") {
		return fmt.Errorf("%q is not the name of a class or function", v)
	}
	_, _ = o.w.WriteString("c" + v.Module + "\n" + v.Name + "\n")
	return nil
}

func (o *writer) items(items []any, depth int) error {
	for _, item := range items {
		if err := o.value(item, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (o *writer) tuple(v Tuple, depth int) error {
	if len(v) == 0 {
		o.bytes(')')
		return nil
	}
	o.bytes('(')
	err := o.items(v, depth)
	o.bytes('t')
	return err
}

func (o *writer) list(v *List, depth int) error {
	o.bytes(']', '(')
	err := o.items(v.Items, depth)
	o.bytes('e')
	return err
}

func (o *writer) reduce(v Reduce, depth int) error {
	if err := o.global(v.Callable); err != nil {
		return err
	}
	err := o.tuple(v.Args, depth)
	o.bytes('R')
	return err
}

func (o *writer) dict(v *Dict, depth int) error {
	if v.Ordered {
		if err := o.reduce(Reduce{Callable: Global{"collections", "OrderedDict"}}, depth); err != nil {
			return err
		}
	} else {
		o.bytes('}')
	}
	o.bytes('(')
	for key, value := range v.All() {
		if err := o.items([]any{key, value}, depth); err != nil {
			return err
		}
	}
	o.bytes('u')
	return nil
}
