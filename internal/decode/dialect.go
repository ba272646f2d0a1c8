package decode

import (
	"encoding"
	"reflect"
	"sync"
)

// Dialect holds what a caller knows of its options: the texts that types allow, how
// they are written, and descriptions of keys. The zero Dialect knows nothing. It must
// not change once it is used.
type Dialect struct {
	Words        map[reflect.Type][]string // texts that a type allows; an empty one stands for the type's zero
	FieldWords   map[Field][]string        // those of fields whose type is string
	Notations    map[reflect.Type]Notation // of types that are written as a text and have no UnmarshalText
	Descriptions map[string]string         // say what keys are for, by Field.ID
	// Item takes an error of one item of a list apart; nil knows of none.
	Item func(err error) (list string, index int, key, text string, ok bool)
	// Renamed maps old keys, with their tables, to the new keys of the same tables. An old
	// key is an error, except in a Document that has OldNames.
	Renamed map[string]string
	// Removed maps keys that are gone to what takes their place. One is an error, except in a
	// Document that has OldNames, where it is passed over.
	Removed map[string]string

	outlines sync.Map // *Outline by reflect.Type
}

// Field names a field of a struct.
type Field struct {
	Of   reflect.Type
	Name string
}

// ID is the field with its package and type, such as graft/trainer.Options.Batch;
// empty for the zero Field.
func (f Field) ID() string {
	if f.Of == nil {
		return ""
	}
	return f.Of.PkgPath() + "." + f.Of.Name() + "." + f.Name
}

// Notation reads a type that is written as a text.
type Notation struct {
	Read    func(string) (any, error)
	Pattern string // of the text, as a regular expression
}

// isText says whether a type is written as a text and not as a number or a table.
func (d *Dialect) isText(t reflect.Type) bool {
	_, known := d.Notations[t]
	return known || reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

func (d *Dialect) isTable(t reflect.Type) bool { return t.Kind() == reflect.Struct && !d.isText(t) }

// storable says whether a type can stand in a file: pointers, functions and maps cannot.
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
