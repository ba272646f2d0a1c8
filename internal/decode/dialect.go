package decode

import (
	"encoding"
	"reflect"
	"sync"
)

// Dialect describes a caller's option structs: the strings that each type allows, how values of each type are read from
// text, and the descriptions of keys. The zero Dialect has no such information. A Dialect must not be changed after its
// first use.
type Dialect struct {
	// strings that each type allows; the empty string means the zero value of the type
	Words        map[reflect.Type][]string
	FieldWords   map[Field][]string        // texts that a field of type string allows
	Notations    map[reflect.Type]Notation // notations of types that are written as text but have no UnmarshalText
	Descriptions map[string]string         // descriptions of keys, by the field's Field.ID
	// Item returns the list item that caused an error. A nil Item means that errors never concern list items.
	Item func(err error) (list string, index int, key, text string, ok bool)
	// Removed maps removed keys to their replacements. A removed key is an error, except in a Document with OldNames,
	// where it is ignored.
	Removed map[string]string

	outlines sync.Map // *Outline by reflect.Type
}

// Field identifies a field of a struct type.
type Field struct {
	Of   reflect.Type
	Name string
}

// ID returns the field's name, preceded by its package and type, such as graft/trainer.Options.Batch. It is empty for
// the zero Field.
func (f Field) ID() string {
	if f.Of == nil {
		return ""
	}
	return f.Of.PkgPath() + "." + f.Of.Name() + "." + f.Name
}

// Notation describes how values of a type are read from text.
type Notation struct {
	Read    func(string) (any, error)
	Pattern string // regular expression that the text must match
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
