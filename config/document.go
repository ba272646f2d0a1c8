package config

import (
	"fmt"
	"slices"

	"graft/internal/decode"
	"graft/internal/files"
)

// Document is a configuration file that was read once. Make it with Open.
type Document struct {
	fsys files.FS
	path string // empty for no file
	doc  *decode.Document
	err  error // why the file could not be read
	kind *Kind
}

// Open reads a file of any kind; an empty path is an empty file. A file that cannot be read has the kind of jobs, and
// Read returns the error.
func Open(fsys files.FS, path string) *Document {
	d := &Document{fsys: fsys, path: path, kind: JobKind}
	if d.doc, d.err = decode.Open(fsys, path); d.err == nil {
		d.kind = kindOf(d.doc)
	}
	return d
}

func kindOf(doc *decode.Document) *Kind {
	for _, k := range Kinds() {
		if slices.ContainsFunc(k.Sections, doc.Has) {
			return k
		}
	}
	return JobKind
}

// Loaded is Open of a file whose text has been read already.
func Loaded(fsys files.FS, path, text string) *Document {
	if len(text) > decode.LargestFile {
		return Open(fsys, path) // whose error states the limit
	}
	doc := decode.NewDocument(path, []byte(text))
	return &Document{fsys: fsys, path: path, doc: doc, kind: kindOf(doc)}
}

// Kind is the kind of the file.
func (d *Document) Kind() *Kind { return d.kind }

// Text is the text of the file; empty if it cannot be read.
func (d *Document) Text() string {
	if d.err != nil {
		return ""
	}
	return d.doc.Text()
}

// Read reads the file as its kind, then assignments such as time.budget=30s, and the files that it names. It may be
// called again, with other assignments. The error wraps [Faults] where anything that is written is wrong.
func (d *Document) Read(set []string) (File, error) {
	if d.err != nil {
		return nil, fmt.Errorf("read configuration: %w", d.err)
	}
	return d.kind.read(d, set)
}

// as is Read of a file of a given kind.
func (d *Document) as(k *Kind, set []string) (File, error) {
	if d.err != nil {
		return nil, fmt.Errorf("read %s: %w", k.Noun, d.err)
	}
	return k.read(d, set)
}

// Settings lists what the file says, sorted by key, whatever kind of file it is. The error wraps [Faults] where it is
// not TOML.
func (d *Document) Settings() ([]Setting, error) {
	if d.err != nil {
		return nil, d.err
	}
	list, err := d.doc.Fresh().Settings()
	for k, s := range list {
		list[k].Key = newName(s.Key)
	}
	return list, err
}

// readAs reads a document as a kind whose type is known.
func readAs[T File](k *Kind, d *Document, set []string) (T, error) {
	f, err := d.as(k, set)
	if err != nil {
		var none T
		return none, err
	}
	return f.(T), nil
}

// ReadNamed reads a document as the file of a kind of its name, such as a cluster simulation, whose type is T.
func ReadNamed[T File](kind string, d *Document, set []string) (T, error) {
	k := KindNamed(kind)
	if k == nil {
		var none T
		return none, fmt.Errorf("read %s: this program has no such kind of files", kind)
	}
	return readAs[T](k, d, set)
}
