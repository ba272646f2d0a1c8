package decode

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Document is the text of a configuration file with the positions of its keys and values.
type Document struct {
	OldNames bool // whether old names of keys are accepted
	// sentence about an unknown key that other documents have, by its full name; nil or an empty text means no sentence
	Elsewhere func(name string) string

	file   string
	text   string
	starts []int // starts of lines
	places places
	twice  []placed       // duplicate keys
	before string         // the expressions before a syntax error; empty without one
	more   int            // faults counted without details
	work   int            // keys and values visited, for tests of how the work grows
	top    map[string]any // what LooseTOML returned for Has; nil before
}

// placed is a fault's text and its span; a start of -1 means the whole file.
type placed struct {
	span
	text string
}

// NewDocument creates a document from the text of a file.
func NewDocument(file string, text []byte) *Document {
	d := &Document{file: file, text: string(text), starts: []int{0}}
	for k := range len(d.text) {
		if d.text[k] == '\n' {
			d.starts = append(d.starts, k+1)
		}
	}
	return d
}

// Text returns the content of the file as read.
func (d *Document) Text() string { return d.text }

// Fresh returns an unparsed copy of the document.
func (d *Document) Fresh() *Document { return &Document{file: d.file, text: d.text, starts: d.starts} }

// line returns the line, from zero, of an offset.
func (d *Document) line(offset int) int {
	k, exact := slices.BinarySearch(d.starts, offset)
	if exact {
		return k
	}
	return k - 1
}

// offset returns the offset of a line and a column in bytes, both from 1.
func (d *Document) offset(line, column int) int {
	start := d.starts[min(max(line-1, 0), len(d.starts)-1)]
	return min(start+max(column-1, 0), len(d.text))
}

// FaultAt returns a fault that marks part of a line; width is the length of this part in bytes. Lines and columns
// are counted from 1, and columns are in bytes.
func (d *Document) FaultAt(line, column, width int, text string) Fault {
	at := d.offset(line, column)
	return d.fault(placed{span{at, at + width}, text})
}

func (d *Document) fault(p placed) Fault {
	if p.start < 0 {
		return Fault{File: d.file, Text: p.text}
	}
	line := d.line(p.start)
	start := d.starts[line]
	rest, _, _ := strings.Cut(d.text[start:], "\n")
	rest = strings.TrimSuffix(rest, "\r")
	from := min(p.start-start, len(rest))
	to := max(min(p.end-start, len(rest)), from)
	return Fault{File: d.file, Line: line + 1, Column: utf8.RuneCountInString(rest[:from]) + 1,
		Width: max(utf8.RuneCountInString(rest[from:to]), 1), Text: p.text, Source: rest}
}

// faults returns the final fault of a document that cannot be read further, after the faults of duplicate keys.
func (d *Document) faults(last placed) error { return d.list(append(slices.Clone(d.twice), last)) }

// repeated records a duplicate key.
func (d *Document) repeated(at span, text string) {
	if len(d.twice) >= mostGathered {
		d.more++
		return
	}
	d.twice = append(d.twice, placed{at, text})
}

// Span returns the byte offsets of the key or value that a problem is about, or of the nearest table or list around it.
// It returns false if the document does not contain any of them.
func (d *Document) Span(f Problem) (start, end int, found bool) {
	s, found := d.places.span(f)
	return s.start, s.end, found
}

// Place converts a problem to a fault at the key or value that it is about, or at the nearest table or list around it.
func (d *Document) Place(f Problem) Fault {
	return d.fault(d.placed(f))
}

func (d *Document) placed(f Problem) placed {
	s, found := d.places.span(f)
	if !found {
		s = span{-1, -1}
	}
	return placed{s, f.Text}
}

// Locate returns an error of type Faults that contains the given problems and the duplicate keys in the document. It
// returns nil if there are neither.
func (d *Document) Locate(problems []Problem) error {
	list := slices.Clone(d.twice)
	for _, f := range problems {
		list = append(list, d.placed(f))
	}
	if len(list) == 0 {
		return nil
	}
	slices.SortStableFunc(list, func(a, b placed) int { return cmp.Compare(a.start, b.start) })
	return d.list(list)
}

// list keeps the first faults and counts the others.
func (d *Document) list(all []placed) error {
	faults := make(Faults, min(len(all), mostKept))
	for k := range faults {
		faults[k] = d.fault(all[k])
	}
	faults[len(faults)-1].More = len(all) - len(faults) + d.more
	return faults
}

// Has reports whether the document contains a top-level key. If the document is not valid TOML, Has searches the keys
// before the syntax error and the names of the tables after it.
func (d *Document) Has(key string) bool {
	if d.top == nil {
		reader := *d
		if d.top, _ = reader.LooseTOML(); d.top == nil {
			d.top = reader.tablesOfBroken()
		}
	}
	_, has := d.top[key]
	return has
}
