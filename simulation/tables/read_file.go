package tables

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"graft/internal/files"
)

// Entry is a record with its location in a table's folder.
type Entry struct {
	Record
	Key    string // key of the record, as Cause.Key returns it
	File   string // name of the file in the folder
	Line   int    // line of the record, from 1
	Offset int64  // byte offset of the line in the file
}

// segment is a file of records that is read line by line.
type segment struct {
	name     string
	parser   *parser
	scenario Scenario                      // scenario that records must match
	digest   string                        // digest of the scenario
	visit    func(e *Entry, f *Fault) bool // receives records and faults; false ends the reading

	head    scenarioFile // content of the first line; zero if it is unreadable
	ours    bool         // the head has this scenario and format
	line    int          // current line, from 1
	at      int64        // its offset
	next    int          // expected number of the next line
	lost    int          // damaged lines since the last whole one
	records int          // valid records
	closed  bool         // the last line is the writer's end
	size    int64        // bytes read
	keep    int64        // bytes that a continuing writer keeps
	unended bool         // the kept part lacks a line end
}

// errEnough ends a reading early.
var errEnough = errors.New("reading stopped before the end of the file")

// read reads a number of lines of a file of records; zero means all.
func (s *segment) read(fsys files.FS, dir string, lines int) error {
	file, err := fsys.Open(filepath.Join(dir, s.name))
	if err != nil {
		return err
	}
	return errors.Join(s.readFrom(file, lines), file.Close())
}

func (s *segment) readFrom(r io.Reader, lines int) error {
	s.next = 1
	err := eachLine(r, func(l textLine) error {
		if err := s.takeLine(l); err != nil || s.line != lines {
			return err
		}
		return errEnough
	})
	if err == nil && s.line == 0 {
		err = s.fault(Missing, "the file is empty; expected a header line")
	}
	return err
}

func (s *segment) fault(kind FaultKind, format string, args ...any) error {
	f := NewFault(kind, format, args...)
	return s.found(f, s.at)
}

func (s *segment) found(f Fault, at int64) error {
	f.File, f.Line, f.Offset = s.name, max(s.line, 1), at
	if !s.visit(nil, &f) {
		return errEnough
	}
	return nil
}

// takeLine processes the text between two line ends; the last may lack its end.
func (s *segment) takeLine(l textLine) error {
	s.line, s.at, s.size = s.line+1, l.at, l.at+l.size
	if len(l.text) == 0 {
		s.lost++
		s.keep, s.unended = l.at+l.size, false
		return s.fault(Damaged, "the line is empty")
	}
	parts := pieces(l.text)
	for k, part := range parts {
		s.at = l.at + int64(part.at)
		last := k == len(parts)-1
		if err := s.takePiece(part, last, l.ended); err != nil {
			return err
		}
		s.settle(part, last, l)
	}
	return nil
}

// settle determines how much of the file a continuing writer keeps: everything except a torn line. Damaged text is
// kept, and gets a line end of its own.
func (s *segment) settle(part piece, last bool, l textLine) {
	switch {
	case last && (l.ended || l.cut()):
		s.keep, s.unended = l.at+l.size, !l.ended
	case last && part.body == nil && couldBeTorn(part.text): // it is removed
	default:
		s.keep, s.unended = s.at+int64(len(part.text)), true
	}
}

func (s *segment) takePiece(part piece, last, ended bool) error {
	if part.body == nil {
		return s.takeDamaged(part, last && !ended)
	}
	var err error
	switch {
	case part.junk || !last:
		err = s.fault(Damaged, "the line is complete, but its line ending is damaged")
	case !ended:
		err = s.fault(Torn, "the line is complete, but has no line ending")
	}
	if err != nil {
		return err
	}
	return s.takeBody(part.body)
}

func (s *segment) takeDamaged(part piece, unended bool) error {
	if unended && couldBeTorn(part.text) {
		return s.fault(Torn, "the file ends after the first %d bytes of a line", len(part.text))
	}
	s.lost++
	return s.fault(Damaged, "checksum mismatch")
}

// takeBody processes a line with a valid checksum.
func (s *segment) takeBody(text []byte) error {
	kind, rest, err := kindOf(text)
	if err != nil {
		s.lost++
		return s.fault(Damaged, "%v", err)
	}
	switch kind {
	case headKind:
		return s.takeHead(rest)
	case endKind:
		return s.takeEnd(rest)
	}
	return s.takeRecord(text)
}

// kindOf splits a body into its first key and the value.
func kindOf(text []byte) (kind string, value []byte, err error) {
	for _, kind := range []string{recordKind, headKind, endKind} {
		if value, ok := bytes.CutPrefix(text, []byte(kind)); ok && len(value) > 0 {
			return kind, value[:len(value)-1], nil
		}
	}
	return "", nil, fmt.Errorf("the checksum is valid, but the line is not a table line: %.40q", text)
}

// number checks a line's number, and reports whether the line is new.
func (s *segment) number(n int) (first bool, err error) {
	if n < s.next {
		return false, s.fault(Doubled, "duplicate line %d", n)
	}
	if gap := n - s.next - s.lost; gap > 0 {
		err = s.fault(Missing, "gap before line number %d: %s", n, counted(gap, "line is missing", "lines are missing"))
	}
	s.next, s.lost, s.closed = n+1, 0, false
	return true, err
}

// counted formats a number with its singular or plural noun.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func (s *segment) takeHead(text []byte) error {
	var h headLine
	if err := json.Unmarshal(text, &h); err != nil {
		s.lost++
		return s.fault(Damaged, "the checksum is valid, but the line is not a header: %v", err)
	}
	first, err := s.number(h.Line)
	if !first || err != nil {
		return err
	}
	if err := h.check(); err != nil {
		return s.reject(err)
	}
	s.head = h.scenarioFile
	if s.digest != "" && h.SHA256 != s.digest {
		return s.reject(NewFault(Changed, "the records belong to another scenario, %s with digest %.12s; "+
			"the table's scenario has digest %.12s", h.Scenario.Name, h.SHA256, s.digest))
	}
	if h.File != s.name {
		f := NewFault(Foreign, "the file was written as %s, and then copied or renamed", h.File)
		f.Remedy = "restore the file name, or remove the file if it is a copy; the records count once"
		return s.found(f, s.at)
	}
	s.ours = true
	return nil
}

// reject reports why no record of the file is used.
func (s *segment) reject(err error) error {
	var f Fault
	if errors.As(err, &f) {
		err = s.found(f, s.at)
	}
	return errors.Join(err, errEnough)
}

func (s *segment) takeEnd(text []byte) error {
	var e endLine
	if err := json.Unmarshal(text, &e); err != nil {
		s.lost++
		return s.fault(Damaged, "the checksum is valid, but the line is not an end line: %v", err)
	}
	first, err := s.number(e.Line)
	s.closed = s.closed || first
	return err
}

func (s *segment) takeRecord(text []byte) error {
	r, err := s.parser.parseRecord(text)
	if err != nil {
		s.lost++
		return s.fault(Damaged, "the checksum is valid, but the line is not a record: %v", err)
	}
	first, err := s.number(r.Line)
	if !first || err != nil {
		return err
	}
	if err := s.scenario.admits(r.Key, &r.Record); err != nil {
		return s.fault(Stranger, "sequence %s: %v", Tuple(r.Sequence), err)
	}
	s.records++
	if !s.visit(&Entry{Record: r.Record, Key: r.Key, File: s.name, Line: s.line, Offset: s.at}, nil) {
		return errEnough
	}
	return nil
}
