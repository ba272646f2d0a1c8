package tensorboard

import (
	"encoding/binary"
	"math"
	"time"
)

// Field numbers for writing, by message.
const (
	eventTime, eventStep, eventVersion, eventSummary, eventSession = 1, 2, 3, 5, 7
	sessionStatus                                                  = 1
	summaryValue                                                   = 1
	valueTag, valueSimple, valueTensor, valueMetadata              = 1, 2, 8, 9
	metadataPlugin, pluginName                                     = 1, 1
	tensorType, tensorShape, tensorText                            = 1, 2, 8
	shapeDim, dimSize                                              = 2, 1
)

// Values of fields.
const (
	statusStart = 1 // SessionLog.START
	typeString  = 7 // DT_STRING
	textPlugin  = "text"
)

// Wire types of protocol buffers.
const (
	wireVarint, wireFixed64, wireBytes, wireFixed32 = 0, 1, 2, 5
)

// Append appends an event, encoded as a record, to the content of an event file.
func Append(to []byte, e Event) []byte { return AppendRecord(to, e.message()) }

// message encodes the event as in event.proto.
func (e Event) message() []byte {
	m := appendFixed64(nil, eventTime, math.Float64bits(seconds(e.Time)))
	if e.Step != 0 {
		m = appendVarint(m, eventStep, uint64(e.Step))
	}
	switch {
	case e.Version != "":
		return appendBytes(m, eventVersion, []byte(e.Version))
	case e.Start:
		return appendBytes(m, eventSession, appendVarint(nil, sessionStatus, statusStart))
	}
	var summary []byte
	for _, s := range e.Scalars {
		summary = appendBytes(summary, summaryValue, s.message())
	}
	for _, t := range e.Texts {
		summary = appendBytes(summary, summaryValue, t.message())
	}
	return appendBytes(m, eventSummary, summary)
}

func (s Scalar) message() []byte {
	m := appendBytes(nil, valueTag, []byte(s.Tag))
	return appendFixed32(m, valueSimple, math.Float32bits(s.Value))
}

// message encodes a tensor of one text, for the text plugin.
func (t Text) message() []byte {
	m := appendBytes(nil, valueTag, []byte(t.Tag))
	tensor := appendVarint(nil, tensorType, typeString)
	tensor = appendBytes(tensor, tensorShape, appendBytes(nil, shapeDim, appendVarint(nil, dimSize, 1)))
	tensor = appendBytes(tensor, tensorText, []byte(t.Text))
	m = appendBytes(m, valueTensor, tensor)
	return appendBytes(m, valueMetadata,
		appendBytes(nil, metadataPlugin, appendBytes(nil, pluginName, []byte(textPlugin))))
}

// seconds since 1970; the zero time is zero.
func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMicro()) / 1e6
}

func appendKey(to []byte, field, wire uint64) []byte {
	return binary.AppendUvarint(to, field<<3|wire)
}

func appendVarint(to []byte, field, v uint64) []byte {
	return binary.AppendUvarint(appendKey(to, field, wireVarint), v)
}

func appendFixed64(to []byte, field, v uint64) []byte {
	return binary.LittleEndian.AppendUint64(appendKey(to, field, wireFixed64), v)
}

func appendFixed32(to []byte, field uint64, v uint32) []byte {
	return binary.LittleEndian.AppendUint32(appendKey(to, field, wireFixed32), v)
}

func appendBytes(to []byte, field uint64, v []byte) []byte {
	to = binary.AppendUvarint(appendKey(to, field, wireBytes), uint64(len(v)))
	return append(to, v...)
}
