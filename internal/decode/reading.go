package decode

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"graft/internal/files"
	"graft/internal/words"
)

// Source describes the origin of a value. The zero Source means a default.
type Source struct {
	File string // path of the file with the value; empty if the value is from no file
	Line int    // line of File, from 1; zero means the whole file
	Flag string // assignment of --set as given; empty if the value is from no flag
}

// String returns "default", "FILE:LINE", "FILE" or "--set".
func (s Source) String() string {
	switch {
	case s.Flag != "":
		return "--set"
	case s.File != "" && s.Line == 0:
		return s.File
	case s.File != "":
		return fmt.Sprintf("%s:%d", s.File, s.Line)
	}
	return "default"
}

// Reading holds the state of decoding a document into a struct, and collects all errors.
type Reading struct {
	Given map[string]Source // source of each value that is not a default, by key
	// Beside maps the key of each missing file to the second path at which FindPaths looked for the file.
	Beside map[string]string

	doc      *Document
	outline  *Outline
	target   reflect.Value // the struct
	problems []Problem
	others   Faults          // faults of flags and of files that the document names
	broken   map[string]bool // names of keys whose values could not be read
	more     int             // faults counted without details
}

// ReadAll returns the text of a configuration file. A file larger than limit bytes is reported as a single Fault.
func ReadAll(fsys files.FS, path string, limit int64) ([]byte, error) {
	text, err := files.ReadAll(fsys, path, limit)
	if err == nil {
		return text, nil
	}
	if info, statErr := fsys.Stat(path); statErr == nil && info.Size() > limit {
		err = fmt.Errorf("read %s: %w", path, Faults{{File: path,
			Text: fmt.Sprintf("the file has %d bytes; the maximum is %d", info.Size(), limit)}})
	}
	return nil, err
}

// Open reads a document of at most LargestFile bytes. If the path is empty, Open returns an empty document.
func Open(fsys files.FS, path string) (*Document, error) {
	if path == "" {
		return NewDocument("no file", nil), nil
	}
	text, err := ReadAll(fsys, path, LargestFile)
	if err != nil {
		return nil, err
	}
	return NewDocument(path, text), nil
}

// Read reads a document into a struct, and then applies assignments such as time.budget=30s. Fields of the struct whose
// keys are absent stay unchanged. Values that cannot be read are reported by Finish. If the document is not TOML, Read
// returns Faults.
func (d *Dialect) Read(doc *Document, set []string, target any) (*Reading, error) {
	outline, v := d.of(target)
	r := &Reading{Given: map[string]Source{}, Beside: map[string]string{}, doc: doc, outline: outline, target: v,
		broken: map[string]bool{}}
	table, err := doc.LooseTOML()
	if err == nil {
		r.decode(table)
	} else {
		err = r.decodeBefore(err)
	}
	for _, assignment := range set {
		r.assign(assignment)
	}
	return r, err
}

// decodeBefore decodes the text before a syntax error, and returns the faults of both.
func (r *Reading) decodeBefore(syntax error) error {
	table, _ := NewDocument(r.doc.file, []byte(r.doc.before)).TOML() // nil if no expression is complete
	r.decode(table)
	var last, all Faults
	if !errors.As(syntax, &last) || len(r.problems) == 0 {
		return syntax
	}
	errors.As(r.doc.Locate(r.problems), &all)
	return append(all, last[len(last)-1])
}

func (r *Reading) decode(table map[string]any) {
	d := &decoder{oldNames: r.doc.OldNames, elsewhere: r.doc.Elsewhere, report: func(f Problem) {
		r.add(f)
		r.spoil(f)
	}}
	d.table(r.outline, nil, r.target, table)
	for _, o := range d.given {
		start, _, _ := r.doc.Span(Problem{Where: o.where(), Key: true})
		r.Given[o.Name()] = Source{File: r.doc.file, Line: r.doc.line(start) + 1}
	}
}

// File returns the path of the document; it is empty if there is no file.
func (r *Reading) File() string { return r.doc.file }

// add collects a problem, or counts it if there are too many.
func (r *Reading) add(f Problem) {
	if len(r.problems)+len(r.others) >= mostGathered {
		r.more++
		return
	}
	r.problems = append(r.problems, f)
}

// Add reports errors that are not in the document, but in other files or in flags. They are listed after the errors in
// the document.
func (r *Reading) Add(faults ...Fault) {
	free := max(0, min(mostGathered-len(r.problems)-len(r.others), len(faults)))
	r.others = append(r.others, faults[:free]...)
	for _, f := range faults[free:] {
		r.more += 1 + f.More
	}
}

// spoil marks the value of a key as unreliable: it could not be read, or its key may be the misspelt one.
func (r *Reading) spoil(f Problem) {
	o := r.outline
	for _, step := range f.Where {
		key, ok := step.(string)
		if !ok {
			break
		}
		inner := o.Find(key)
		if inner == nil {
			inner = o.renamed(key)
		}
		if inner == nil && f.Key && o.IsTable() {
			inner = o.Find(words.Nearest(key, o.Keys()))
		}
		if inner == nil {
			break
		}
		o = inner
	}
	r.broken[o.Name()] = true
}

// Failed reports whether any error has been found.
func (r *Reading) Failed() bool { return len(r.problems)+len(r.others) > 0 }

// Broken reports whether the value of a key could not be read.
func (r *Reading) Broken(key string) bool { return r.broken[key] }

// Finish returns all collected errors as Faults, or nil if there are none.
func (r *Reading) Finish() error {
	found := r.doc.Locate(r.problems)
	var all Faults
	if found != nil {
		all = found.(Faults)
	}
	all = slices.Concat(all, r.others)
	if len(all) == 0 {
		return nil
	}
	all[len(all)-1].More += r.more
	return all
}
