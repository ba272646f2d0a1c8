package decode

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"graft/internal/files"
	"graft/internal/words"
)

// Source is the source of a value. The zero Source is a default.
type Source struct {
	File string // empty for none
	Line int    // in File, from 1; zero means the whole file
	Flag string // --set assignment as given; empty for none
}

// String returns default, FILE:LINE, FILE or --set.
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

// Reading reads a document into a struct and collects all faults.
type Reading struct {
	Given map[string]Source // sources by the name of a key
	// Beside holds, by key, the second place that FindPaths searched for a file that is in neither.
	Beside map[string]string

	doc      *Document
	outline  *Outline
	target   reflect.Value // the struct
	problems []Problem
	others   Faults          // faults of flags and of files that the document names
	broken   map[string]bool // names of keys whose values could not be read
	more     int             // faults counted without details
}

// ReadAll returns the text of a file. A file of more than limit bytes is a single Fault: configurations are small.
func ReadAll(fsys files.FS, path string, limit int64) ([]byte, error) {
	text, err := files.ReadAll(fsys, path, limit)
	if err == nil {
		return text, nil
	}
	if info, statErr := fsys.Stat(path); statErr == nil && info.Size() > limit {
		err = fmt.Errorf("reading %s: %w", path, Faults{{File: path,
			Text: fmt.Sprintf("the file has %d bytes; the maximum is %d", info.Size(), limit)}})
	}
	return nil, err
}

// Open reads a document of at most LargestFile bytes; an empty path gives an empty document.
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

// Read reads a document over the values of a struct, then applies assignments such as time.budget=30s. Values that
// cannot be read are faults of Finish; if the document is not TOML, the error is Faults.
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
	d := &decoder{oldNames: r.doc.OldNames, report: func(f Problem) {
		r.add(f)
		r.spoil(f)
	}}
	d.table(r.outline, nil, r.target, table)
	for _, o := range d.given {
		start, _, _ := r.doc.Span(Problem{Where: o.where(), Key: true})
		r.Given[o.Name()] = Source{File: r.doc.file, Line: r.doc.line(start) + 1}
	}
}

// File returns the path of the document; empty without one.
func (r *Reading) File() string { return r.doc.file }

// add collects a problem, or counts it if there are too many.
func (r *Reading) add(f Problem) {
	if len(r.problems)+len(r.others) >= mostGathered {
		r.more++
		return
	}
	r.problems = append(r.problems, f)
}

// Add collects faults of other files or flags, which follow the faults of the document.
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

// Failed reports whether any fault was found so far.
func (r *Reading) Failed() bool { return len(r.problems)+len(r.others) > 0 }

// Broken reports whether the value of a key could not be read.
func (r *Reading) Broken(key string) bool { return r.broken[key] }

// Finish returns all faults as Faults; nil if there are none.
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
