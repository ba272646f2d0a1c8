package trace

import (
	"bufio"
	"bytes"
	"slices"
	"strings"

	"graft/internal/registry"
)

// Format is a file format of traces.
type Format struct {
	Name     string // name in options
	About    string // description in a few words
	Writable bool   // whether a [Writer] can write the format
}

// Listing returns the name and a one-line description.
func (f Format) Listing() (name, about string) { return f.Name, f.About }

// format is a Format with its detection, reader and writer.
type format struct {
	Format
	// knows reports whether the beginning of a file is in this format.
	knows func(head []byte) bool
	// open starts reading; the options must be valid.
	open func(source lines, o *Options) (rows, error)
	// write starts writing; nil for formats that are only read.
	write func(o *WriterOptions) jobWriter
}

// formats lists all formats, in the order of detection. To add one, add a file and a line here.
var formats registry.List[*format]

// The list is filled in here because readers validate options, which use the list.
func init() {
	formats = registry.List[*format]{
		&graftFormat,
		&acmeFormat,
		&heliosFormat,
		&phillyFormat,
		&phillyCSVFormat,
		&alibaba2023Format,
		&alibaba2026Format,
		&swfFormat,
		&slurmFormat,
		&alibaba2020Format,
		&polluxFormat,
	}
}

// Formats lists the trace formats.
func Formats() (list registry.List[Format]) {
	for _, f := range formats {
		about := f.Format
		about.Writable = f.write != nil
		list = append(list, about)
	}
	return list
}

// formatOf returns the format with a name; nil if none exists.
func formatOf(name string) *format {
	f, _ := formats.Find(name)
	return f
}

func names() string { return strings.Join(formats.Names(), ", ") }

// headBytes is the size of a file's beginning that identifies its format.
const headBytes = 4096

// told returns the format of a file by its beginning. A given name skips the detection.
func told(text *bufio.Reader, path, name string) (*format, error) {
	if name != "" {
		return formatOf(name), nil
	}
	head, err := text.Peek(headBytes)
	head = bytes.TrimLeft(head, "\r\n") // readers skip empty lines too
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
		return nil, source.fault(0, 0, "", "the file is empty", "name a trace with at least one line")
	}
	return nil, unknownFormat(&source, firstLine(head))
}

// unknownFormat returns the error for a file whose first line no format has.
func unknownFormat(source *lines, line []byte) error {
	text, remedy := "unknown trace format", setFormat+" to one of "+names()
	if fault, advice := sacctFault(line); fault != "" {
		text, remedy = text+": the first line looks like sacct output, but "+fault, advice+", or "+setFormat
	}
	return source.fault(0, 0, "", text, remedy)
}

// setFormat is the remedy for a wrong format.
const setFormat = "set the trace format with --from or the key cluster.format"

func firstLine(head []byte) []byte {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r"))
}

// header returns the set of names in a file's first line.
func header(head []byte) map[string]bool {
	have := map[string]bool{}
	for _, cell := range strings.Split(string(firstLine(head)), ",") {
		have[strings.Trim(cell, `"`)] = true
	}
	return have
}

// hasColumns reports whether a header has all of some columns.
func hasColumns(head []byte, names ...string) bool {
	have := header(head)
	return !slices.ContainsFunc(names, func(name string) bool { return !have[name] })
}

// hasColumn reports whether a header has a column under any of its names.
func hasColumn(head []byte, names []string) bool {
	have := header(head)
	return slices.ContainsFunc(names, func(name string) bool { return have[name] })
}
