package decode

import (
	"encoding"
	"reflect"
	"sync"
)

// Dialect describes the options of a caller: the texts that types allow, their notation, and descriptions of keys. The
// zero Dialect is empty. It must not change once it is used.
type Dialect struct {
	Words        map[reflect.Type][]string // texts that a type allows; an empty text means the type's zero
	FieldWords   map[Field][]string        // texts that fields of type string allow
	Notations    map[reflect.Type]Notation // types written as text that have no UnmarshalText
	Descriptions map[string]string         // descriptions of keys, by Field.ID
	// Item extracts the item of a list from an error; nil supports none.
	Item func(err error) (list string, index int, key, text string, ok bool)
	// Removed maps removed keys to their replacements. A removed key is an error, except in a Document with OldNames,
	// which ignores it.
	Removed map[string]string

	outlines sync.Map // *Outline by reflect.Type
}

// Field names a field of a struct.
type Field struct {
	Of   reflect.Type
	Name string
}

// ID returns the field with its package and type, such as graft/trainer.Options.Batch; empty for the zero Field.
func (f Field) ID() string {
	if f.Of == nil {
		return ""
	}
	return f.Of.PkgPath() + "." + f.Of.Name() + "." + f.Name
}

// Notation parses a type that is written as text.
type Notation struct {
	Read    func(string) (any, error)
	Pattern string // regular expression of the text
}

// isText reports whether a type is written as text rather than as a number or a table.
func (d *Dialect) isText(t reflect.Type) bool {
	_, known := d.Notations[t]
	return known || reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

func (d *Dialect) isTable(t reflect.Type) bool { return t.Kind() == reflect.Struct && !d.isText(t) }

// storable reports whether a type can occur in a file: pointers, functions and maps cannot.
func (d *Dialect) storable(t reflect.Type) bool {
	if d.isText(t) {
		return true
	}
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64, reflect.Struct,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return true
	case reflect.Slice:
		return d.storable(t.Elem())
	}
	return false
}

// words returns the texts that a field allows; nil means any.
func (d *Dialect) words(of reflect.Type, field reflect.StructField, t tag) []string {
	if t.words != nil {
		return t.words
	}
	if known, ok := d.FieldWords[Field{of, field.Name}]; ok {
		return known
	}
	if field.Type.Kind() == reflect.Slice {
		return d.Words[field.Type.Elem()]
	}
	return d.Words[field.Type]
}

func (d *Dialect) item(err error) (list string, index int, key, text string, ok bool) {
	if d.Item == nil {
		return
	}
	return d.Item(err)
}
