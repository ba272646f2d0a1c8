package config

import (
	"fmt"
	"reflect"
	"slices"

	"graft/internal/decode"
	"graft/internal/files"
)

// Document holds the text of a configuration file, so that the file is read from disk only once. Create it with Open or
// Loaded.
type Document struct {
	fsys files.FS
	path string // empty if there is no file
	doc  *decode.Document
	err  error // reason that the file cannot be read
	kind *Kind
}

// Open reads a file of any kind; an empty path means an empty file. If the file cannot be read, Kind returns the kind
// of job files, and Read returns the error.
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

// Loaded creates a document from text in memory.
func Loaded(fsys files.FS, path, text string) *Document {
	if len(text) > decode.LargestFile {
		return Open(fsys, path) // its error states the limit
	}
	doc := decode.NewDocument(path, []byte(text))
	return &Document{fsys: fsys, path: path, doc: doc, kind: kindOf(doc)}
}

// Kind returns the kind of the file.
func (d *Document) Kind() *Kind { return d.kind }

// Text returns the text of the file. The text is empty if the file cannot be read.
func (d *Document) Text() string {
	if d.err != nil {
		return ""
	}
	return d.doc.Text()
}

// Read parses the text as a file of its kind, applies assignments such as time.budget=30s, and reads the files that the
// configuration names. Read may be called again with other assignments. The error wraps [Faults] if a value is invalid.
func (d *Document) Read(set []string) (File, error) {
	if d.err != nil {
		return nil, fmt.Errorf("read configuration: %w", d.err)
	}
	return d.kind.read(d, set)
}

// as reads the file as a given kind.
func (d *Document) as(k *Kind, set []string) (File, error) {
	if d.err != nil {
		return nil, fmt.Errorf("read %s: %w", k.Noun, d.err)
	}
	return k.read(d, set)
}

// Settings lists the settings in a file of any kind, sorted by key. The error wraps [Faults] if the file is not TOML.
func (d *Document) Settings() ([]Setting, error) {
	if d.err != nil {
		return nil, d.err
	}
	list, err := d.doc.Fresh().Settings()
	outline := dialect.Outline(reflect.TypeOf(d.kind.New()).Elem())
	for k, s := range list {
		list[k].Key = outline.Newest(s.Key)
	}
	return list, err
}

// readAs reads a document as a kind with a known type.
func readAs[T File](k *Kind, d *Document, set []string) (T, error) {
	f, err := d.as(k, set)
	if err != nil {
		var none T
		return none, err
	}
	return f.(T), nil
}

// ReadNamed reads a document of the named kind, such as a cluster simulation, into a T.
func ReadNamed[T File](kind string, d *Document, set []string) (T, error) {
	k := KindNamed(kind)
	if k == nil {
		var none T
		return none, fmt.Errorf("unknown kind of configuration file %q", kind)
	}
	return readAs[T](k, d, set)
}
