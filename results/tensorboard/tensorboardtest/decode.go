// Package tensorboardtest reads event files, so that tests can check their content.
package tensorboardtest

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"time"

	"graft/results/tensorboard"
)

// Field numbers for reading, by message, as in event.proto, summary.proto and tensor.proto.
const (
	eventTime, eventStep, eventVersion, eventSummary, eventSession = 1, 2, 3, 5, 7
	sessionStatus, statusStart                                     = 1, 1
	summaryValue                                                   = 1
	valueTag, valueSimple, valueTensor, valueMetadata              = 1, 2, 8, 9
	tensorText                                                     = 8
)

// Wire types of protocol buffers.
const (
	wireVarint, wireFixed64, wireBytes, wireFixed32 = 0, 1, 2, 5
)

// Read reads an event file. The file may grow during the call: an incomplete last record is skipped. It skips unknown
// fields. If it returns an error, it also returns the events before the invalid record.
func Read(r io.Reader) ([]tensorboard.Event, error) {
	var events []tensorboard.Event
	_, err := tensorboard.EachRecord(r, func(n int, record []byte) error {
		e, err := decode(tensorboard.Data(record))
		if err != nil {
			return fmt.Errorf("record %d: %w", n, err)
		}
		events = append(events, e)
		return nil
	})
	if err != nil {
		return events, fmt.Errorf("read events: %w", err)
	}
	return events, nil
}

// field is a field of a message.
type field struct {
	number, wire uint64
	bits         uint64 // value of a number
	bytes        []byte // value of any other type
}

var errMessage = fmt.Errorf("%w: the record does not contain an event", tensorboard.ErrDamaged)

// eachField calls do for each field of a message.
func eachField(m []byte, do func(f field) error) error {
	for len(m) > 0 {
		key, n := binary.Uvarint(m)
		if n <= 0 {
			return errMessage
		}
		f := field{number: key >> 3, wire: key & 7}
		var err error
		if m, err = f.read(m[n:]); err != nil {
			return err
		}
		if err := do(f); err != nil {
			return err
		}
	}
	return nil
}

// read parses the value of a field and returns the rest of the message.
func (f *field) read(m []byte) ([]byte, error) {
	switch {
	case f.wire == wireFixed64 && len(m) >= 8:
		f.bits = binary.LittleEndian.Uint64(m)
		return m[8:], nil
	case f.wire == wireFixed32 && len(m) >= 4:
		f.bits = uint64(binary.LittleEndian.Uint32(m))
		return m[4:], nil
	case f.wire != wireVarint && f.wire != wireBytes:
		return nil, errMessage
	}
	v, n := binary.Uvarint(m)
	if n <= 0 || f.wire == wireBytes && v > uint64(len(m)-n) {
		return nil, errMessage
	}
	if m = m[n:]; f.wire == wireVarint {
		f.bits = v
		return m, nil
	}
	f.bytes = m[:v]
	return m[v:], nil
}

// is compares number and wire type.
func (f field) is(number, wire uint64) bool { return f.number == number && f.wire == wire }

func decode(m []byte) (e tensorboard.Event, err error) {
	err = eachField(m, func(f field) error {
		switch {
		case f.is(eventTime, wireFixed64):
			e.Time = moment(math.Float64frombits(f.bits))
		case f.is(eventStep, wireVarint):
			e.Step = int64(f.bits)
		case f.is(eventVersion, wireBytes):
			e.Version = string(f.bytes)
		case f.is(eventSession, wireBytes):
			return eachField(f.bytes, func(f field) error {
				e.Start = e.Start || f.is(sessionStatus, wireVarint) && f.bits == statusStart
				return nil
			})
		case f.is(eventSummary, wireBytes):
			return eachField(f.bytes, func(f field) error {
				if !f.is(summaryValue, wireBytes) {
					return nil
				}
				return addValue(&e, f.bytes)
			})
		}
		return nil
	})
	return e, err
}

// moment converts seconds since 1970 to a time; a value out of range gives the zero time.
func moment(seconds float64) time.Time {
	if !(seconds > 0 && seconds < 1e11) {
		return time.Time{}
	}
	return time.UnixMicro(int64(math.Round(seconds * 1e6))).UTC()
}

// addValue adds a scalar or a text to an event.
func addValue(e *tensorboard.Event, m []byte) error {
	tag, text, simple := "", "", float32(0)
	isText, isScalar := false, false
	err := eachField(m, func(f field) error {
		switch {
		case f.is(valueTag, wireBytes):
			tag = string(f.bytes)
		case f.is(valueSimple, wireFixed32):
			isScalar, simple = true, math.Float32frombits(uint32(f.bits))
		case f.is(valueTensor, wireBytes):
			return eachField(f.bytes, func(f field) error {
				if f.is(tensorText, wireBytes) {
					isText, text = true, string(f.bytes)
				}
				return nil
			})
		case f.is(valueMetadata, wireBytes):
			return eachField(f.bytes, func(field) error { return nil })
		}
		return nil
	})
	if isScalar {
		e.Scalars = append(e.Scalars, tensorboard.Scalar{Tag: tag, Value: simple})
	}
	if isText {
		e.Texts = append(e.Texts, tensorboard.Text{Tag: tag, Text: text})
	}
	return err
}
