package trace

import (
	"bufio"
	"bytes"
	"slices"
	"strings"

	"graft/internal/registry"
)

// Format is a kind of file that traces come in.
type Format struct {
	Name     string // by which options name it
	About    string // what it is, in a few words
	Writable bool   // whether a [Writer] writes it
}

// Listing returns the name and the line of help.
func (f Format) Listing() (name, about string) { return f.Name, f.About }

// format is a Format and how it is known, read and written.
type format struct {
	Format
	// knows says whether the beginning of a file is of the format.
	knows func(head []byte) bool
	// open begins to read; the options are valid.
	open func(source lines, o *Options) (rows, error)
	// write begins to write; nil where that makes no sense.
	write func(o *WriterOptions) jobWriter
}

// formats are all there are, in the order in which they are tried: a new one is a new
// file and a line here.
var formats registry.List[*format]

// The list is filled in here because readers validate options, which look into it.
func init() {
	formats = registry.List[*format]{
		&graftFormat,
		&heliosFormat,
		&phillyFormat,
		&phillyCSVFormat,
		&alibaba2023Format,
		&swfFormat,
		&alibaba2020Format,
		&polluxFormat,
	}
}

// Formats lists the formats.
func Formats() (list registry.List[Format]) {
	for _, f := range formats {
		about := f.Format
		about.Writable = f.write != nil
		list = append(list, about)
	}
	return list
}

// formatOf is the format of a name; nil where there is none.
func formatOf(name string) *format {
	f, _ := formats.Find(name)
	return f
}

func names() string { return strings.Join(formats.Names(), ", ") }

// headBytes is the size of a file's beginning that tells its format.
const headBytes = 4096

// told is the format of a file that begins so; a name says it without a look.
func told(text *bufio.Reader, path, name string) (*format, error) {
	if name != "" {
		return formatOf(name), nil
	}
	head, err := text.Peek(headBytes)
	head = bytes.TrimLeft(head, "\r\n") // as reading passes over empty lines
	for _, f := range formats {
		if f.knows(head) {
			return f, nil
		}
	}
	source := lines{path: path}
	if err != nil && len(head) == 0 {
		err = source.ended(err)
		if _, malformed := err.(*Error); malformed || !isEOF(err) {
			return nil, err
		}
		return nil, source.fault(0, 0, "", "the file is empty", "name a trace")
	}
	return nil, source.fault(0, 0, "", "the file begins like no trace that is known",
		"name its format, one of "+names())
}

func firstLine(head []byte) []byte {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r"))
}

// header is the set of names in a file's first line.
func header(head []byte) map[string]bool {
	have := map[string]bool{}
	for _, cell := range strings.Split(string(firstLine(head)), ",") {
		have[strings.Trim(cell, `"`)] = true
	}
	return have
}

// hasColumns says whether a header has all of some columns.
func hasColumns(head []byte, names ...string) bool {
	have := header(head)
	return !slices.ContainsFunc(names, func(name string) bool { return !have[name] })
}

// hasColumn says whether a header has a column by any of its names.
func hasColumn(head []byte, names []string) bool {
	have := header(head)
	return slices.ContainsFunc(names, func(name string) bool { return have[name] })
}
