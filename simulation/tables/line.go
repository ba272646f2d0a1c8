package tables

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
)

// Parts of the beginning of every line: sumHead, eight digits, sumTail.
const (
	sumHead   = `{"sum":"`
	sumTail   = `",`
	sumDigits = 8
	bodyAt    = len(sumHead) + sumDigits + len(sumTail)
	// MaxLine is the maximum length of a line in bytes. It bounds the memory for reading a damaged file.
	MaxLine = 1 << 20
)

// castagnoli is the polynomial that processors have an instruction for.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Kinds of lines, by the beginning of their body.
const (
	headKind   = `"head":`
	recordKind = `"record":`
	endKind    = `"end":`
)

// headLine is the first line of a file of records.
type headLine struct {
	Line int    `json:"line"`
	File string `json:"file"` // original name of the file
	scenarioFile
}

type recordLine struct {
	Line int    `json:"line"`
	Key  string `json:"key"`
	Record
}

// endLine means that the writer has closed the file.
type endLine struct {
	Line int `json:"line"`
}

// FormatLine returns a line with its checksum and its line break.
func FormatLine(kind string, value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	body := kind + string(text) + "}"
	line := fmt.Appendf(nil, "%s%08x%s%s\n", sumHead, crc32.Checksum([]byte(body), castagnoli), sumTail, body)
	if len(line) > MaxLine {
		return nil, fmt.Errorf("the line has %d bytes; must be at most %d", len(line), MaxLine)
	}
	return line, nil
}

// LineBody returns the part of a line after its checksum, without the line break, and false if the checksum is wrong.
func LineBody(line []byte) ([]byte, bool) {
	if len(line) < bodyAt || !bytes.HasPrefix(line, []byte(sumHead)) ||
		string(line[bodyAt-len(sumTail):bodyAt]) != sumTail {
		return nil, false
	}
	var sum [4]byte
	digits := line[len(sumHead) : len(sumHead)+sumDigits]
	if _, err := hex.Decode(sum[:], digits); err != nil || bytes.ContainsAny(digits, "ABCDEF") {
		return nil, false
	}
	at := line[bodyAt:]
	want := uint32(sum[0])<<24 | uint32(sum[1])<<16 | uint32(sum[2])<<8 | uint32(sum[3])
	return at, crc32.Checksum(at, castagnoli) == want
}

// couldBeTorn reports whether a kill can leave these bytes of a line: its beginning.
func couldBeTorn(tail []byte) bool {
	n := min(len(tail), len(sumHead))
	return len(tail) < MaxLine && string(tail[:n]) == sumHead[:n] &&
		bytes.IndexFunc(tail, func(r rune) bool { return r < ' ' }) < 0
}

// piece is a part of the text between two line ends, usually a line.
type piece struct {
	text []byte
	at   int    // offset
	body []byte // nil if the checksum is wrong
	junk bool   // followed by a byte that belongs to no line
}

// pieces divides the text between two line ends. That is one line, unless an end was damaged or lost; the lines around
// it are still recovered.
func pieces(text []byte) []piece {
	if b, ok := LineBody(text); ok {
		return []piece{{text: text, body: b}}
	}
	var found []piece
	for from := 0; from < len(text); {
		to := len(text)
		if next := bytes.Index(text[from+1:], []byte(sumHead)); next >= 0 {
			to = from + 1 + next
		}
		found = append(found, newPiece(text[from:to], from))
		from = to
	}
	return found
}

// newPiece makes a piece of a line whose end may be damaged.
func newPiece(text []byte, at int) piece {
	if b, ok := LineBody(text); ok {
		return piece{text: text, at: at, body: b}
	}
	if b, ok := LineBody(text[:len(text)-1]); ok {
		return piece{text: text[:len(text)-1], at: at, body: b, junk: true}
	}
	return piece{text: text, at: at}
}
