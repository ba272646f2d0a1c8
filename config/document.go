package config

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"unicode/utf8"

	"graft/model"
)

// deepestPlace is how many keys and indices deep places are kept. What lies deeper
// is in no file that is right, and is placed where it begins to.
const deepestPlace = 200

// document is a file's text and where in it keys and values stand.
type document struct {
	file   string
	text   []byte
	starts []int           // of lines
	keys   map[string]span // by path, as model.FormPath writes it
	values map[string]span
	twice  []placed // keys that stand in one JSON object twice
}

// placed is a fault and where it begins; -1 where it is of the whole file.
type placed struct {
	offset int
	fault  Fault
}

// span is a range of bytes.
type span struct{ start, end int }

func newDocument(file string, text []byte) *document {
	d := &document{file: file, text: text, starts: []int{0}, keys: map[string]span{}, values: map[string]span{}}
	for k, c := range text {
		if c == '\n' {
			d.starts = append(d.starts, k+1)
		}
	}
	return d
}

// place keeps where a key or a value stands; of two of one path the first.
func place(in map[string]span, where []any, s span) {
	if len(where) > deepestPlace {
		return
	}
	path := model.FormPath(where)
	if _, has := in[path]; !has {
		in[path] = s
	}
}

// line is the line, from zero, that an offset is in.
func (d *document) line(offset int) int {
	k, exact := slices.BinarySearch(d.starts, offset)
	if exact {
		return k
	}
	return k - 1
}

// fault is one of a range of the text.
func (d *document) fault(s span, text string) Fault {
	line := d.line(s.start)
	start := d.starts[line]
	rest := d.text[start:]
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		rest = rest[:end]
	}
	rest = bytes.TrimSuffix(rest, []byte("\r"))
	from := min(s.start-start, len(rest))
	to := max(min(s.end-start, len(rest)), from)
	return Fault{File: d.file, Line: line + 1, Column: utf8.RuneCount(rest[:from]) + 1,
		Width: max(utf8.RuneCount(rest[from:to]), 1), Text: text, Source: string(rest)}
}

// find is where a fault of a form stands, or the nearest thing around it.
func (d *document) find(f model.FormFault) (span, bool) {
	where := f.Where
	if f.Key {
		if s, ok := d.keys[f.Path()]; ok {
			return s, true
		}
	}
	for ; len(where) > 0; where = where[:len(where)-1] {
		path := model.FormPath(where)
		for _, in := range []map[string]span{d.values, d.keys} {
			if s, ok := in[path]; ok {
				return s, true
			}
		}
	}
	return span{}, false
}

// locate turns the faults of a form, which may be nil, into those of the file.
func (d *document) locate(err error) error {
	var found model.FormFaults
	if err != nil && !errors.As(err, &found) {
		return err
	}
	list := d.twice
	for _, f := range found {
		if s, ok := d.find(f); ok {
			list = append(list, placed{s.start, d.fault(s, f.Text)})
		} else {
			list = append(list, placed{-1, Fault{File: d.file, Text: f.Text}})
		}
	}
	if len(list) == 0 {
		return nil
	}
	slices.SortStableFunc(list, func(a, b placed) int { return cmp.Compare(a.offset, b.offset) })
	faults := make(Faults, len(list))
	for k := range list {
		faults[k] = list[k].fault
	}
	return faults
}
