package tables

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
)

// mark is a digest for comparisons.
type mark [16]byte

func markOf(text []byte) mark {
	sum := sha256.Sum256(text)
	return mark(sum[:16])
}

// outcome is a digest of a record's results for some seeds, without versions.
func (r *Record) outcome(accuracy []float64, seeds []int64) mark {
	b := r.appendRun(make([]byte, 0, 512), seeds)
	for _, list := range [][]float64{r.Left, accuracy} {
		for _, f := range list {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(f+0)) // both zeros are equal
		}
	}
	return markOf(appendTexts(appendTexts(b, r.Networks), []string{r.Profile}))
}

// appendRun adds the identity of runs: sequence and seeds.
func (r *Record) appendRun(b []byte, seeds []int64) []byte {
	b = appendTexts(b, r.Sequence)
	for _, seed := range seeds {
		b = binary.LittleEndian.AppendUint64(b, uint64(seed))
	}
	return b
}

func appendTexts(b []byte, texts []string) []byte {
	for _, text := range texts {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	return b
}

// seenRecords indexes records by the values that must be unique. It holds no pointers except file names, so it stays
// cheap for many records.
type seenRecords struct {
	records []seenRecord
	runs    []seenRun
	byKey   map[[sha256.Size]byte]int32 // indices in records
	byRun   map[mark]int32              // indices in runs, by sequence and seed
	files   []string
}

// seenRecord is a record that was read.
type seenRecord struct {
	outcome mark
	file    int32 // index in files
	line    int32
	refuted bool // another record contradicts it
}

// seenRun holds the outcome of one seed of a record.
type seenRun struct {
	outcome mark
	record  int32
}

func newSeenRecords() *seenRecords {
	return &seenRecords{byKey: map[[sha256.Size]byte]int32{}, byRun: map[mark]int32{}}
}

// place returns the file and line of a record.
func (s *seenRecords) place(record int32) (file string, line int32) {
	r := s.records[record]
	return s.files[r.file], r.line
}

// meet compares a record with all earlier ones, and reports whether it is already known. A fault describes a conflict
// of two records; the first of the two is then refuted.
func (s *seenRecords) meet(e *Entry) (known bool, fault *Fault) {
	if k, ok := s.byKey[e.key()]; ok {
		if s.records[k].outcome == e.outcome(e.Accuracy, e.Seeds) {
			return true, nil
		}
		s.records[k].refuted = true
		file, line := s.place(k)
		return true, e.fault(Disagree, "sequence %s: %s:%d has the same key, but a different outcome",
			Tuple(e.Sequence),
			file, line)
	}
	for k, seed := range e.Seeds {
		if n, ok := s.byRun[e.run(k)]; ok {
			return true, s.twice(e, s.runs[n], e.outcome(e.Accuracy[k:k+1], e.Seeds[k:k+1]), seed)
		}
	}
	return false, nil
}

// twice returns the fault of a run with two keys.
func (s *seenRecords) twice(e *Entry, before seenRun, now mark, seed int64) *Fault {
	file, line := s.place(before.record)
	if before.outcome == now {
		return e.fault(Doubled, "sequence %s, seed %d: %s:%d has the same outcome under another key",
			Tuple(e.Sequence), seed, file, line)
	}
	s.records[before.record].refuted = true
	return e.fault(Disagree, "sequence %s, seed %d: %s:%d has a different outcome under another key",
		Tuple(e.Sequence), seed, file, line)
}

// add stores a new record, and returns its number.
func (s *seenRecords) add(e *Entry) int32 {
	if n := len(s.files); n == 0 || s.files[n-1] != e.File {
		s.files = append(s.files, e.File)
	}
	number := int32(len(s.records))
	r := seenRecord{outcome: e.outcome(e.Accuracy, e.Seeds), file: int32(len(s.files) - 1), line: int32(e.Line)}
	s.records = append(s.records, r)
	s.byKey[e.key()] = number
	for k := range e.Seeds {
		one := r.outcome
		if len(e.Seeds) > 1 {
			one = e.outcome(e.Accuracy[k:k+1], e.Seeds[k:k+1])
		}
		s.byRun[e.run(k)] = int32(len(s.runs))
		s.runs = append(s.runs, seenRun{one, number})
	}
	return number
}

func (e *Entry) key() (key [sha256.Size]byte) {
	_, _ = hex.Decode(key[:], []byte(e.Key)) // checkKey has validated it
	return key
}

// run is the identity of the run of the k-th seed.
func (e *Entry) run(k int) mark {
	return markOf(e.appendRun(make([]byte, 0, 256), e.Seeds[k:k+1]))
}

func (e *Entry) fault(kind FaultKind, format string, args ...any) *Fault {
	f := NewFault(kind, format, args...).of(e.File)
	f.Line, f.Offset = e.Line, e.Offset
	return &f
}
