package decode

import (
	"reflect"
	"slices"
	"strings"
	"time"
)

// Outline describes the keys of an option struct, or one key with the keys below it. A field's key is the field's name
// in snake_case. A field of a struct type is a table. The fields of an embedded struct belong to the enclosing table.
type Outline struct {
	Key    string     // name of the key in its table; empty for the whole file
	Path   []string   // keys from the top of the file down to this one
	Fields []*Outline // keys of a table, in the order of the struct; nil if the key is no table
	From   Field      // field whose comment describes the key; zero for the whole file
	Result Result     // how results depend on the key

	was     string // old name of the key; empty if there is none
	dialect *Dialect
	index   []int // index of the field, from the struct of the whole file
	typ     reflect.Type
	words   []string // allowed texts; nil means any
	pathed  string   // not empty if the value names a file
	late    bool     // digests omit zero
	needed  bool     // an item of a list without the key is an error
	partial bool     // its tables are siblings; the enclosing struct checks them
}

var durationType = reflect.TypeFor[time.Duration]()

// Outline describes the keys of a struct type.
func (d *Dialect) Outline(t reflect.Type) *Outline {
	if known, ok := d.outlines.Load(t); ok {
		return known.(*Outline)
	}
	root := &Outline{typ: t, dialect: d}
	root.collect(root, t, nil, tag{})
	known, _ := d.outlines.LoadOrStore(t, root)
	return known.(*Outline)
}

// of returns the outline of the struct at a pointer, and its value.
func (d *Dialect) of(target any) (*Outline, reflect.Value) {
	v := reflect.ValueOf(target).Elem()
	return d.Outline(v.Type()), v
}

// collect collects the fields of a struct: values into o, tables into tables.
func (o *Outline) collect(tables *Outline, t reflect.Type, index []int, rules tag) {
	for k := range t.NumField() {
		field := t.Field(k)
		own := tagOf(field)
		if !field.IsExported() || own.name == "-" || slices.Contains(rules.omit, own.name) ||
			!o.dialect.storable(field.Type) {
			continue
		}
		inside := rules.below(own.name)
		inside.omit, inside.inline = append(inside.omit, own.omit...), append(inside.inline, own.inline...)
		at := append(slices.Clone(index), k)
		switch {
		case !o.dialect.isTable(field.Type):
			value := o.below(field, Field{t, field.Name}, at, own)
			value.words = o.dialect.words(t, field, own)
			o.Fields = append(o.Fields, value)
		case field.Anonymous || slices.Contains(rules.inline, own.name):
			if field.Anonymous {
				inside.omit, inside.inline = append(inside.omit, rules.omit...), append(inside.inline, rules.inline...)
			}
			o.collect(tables, field.Type, at, inside)
		default:
			tables.table(field, Field{t, field.Name}, at, own, inside)
		}
	}
}

func (o *Outline) table(field reflect.StructField, from Field, at []int, own, inside tag) {
	table := o.below(field, from, at, own)
	table.partial = own.hoist
	o.Fields = append(o.Fields, table)
	home := table
	if own.hoist {
		home = o
	}
	table.collect(home, field.Type, at, inside)
}

func (o *Outline) below(field reflect.StructField, from Field, at []int, own tag) *Outline {
	f := &Outline{Key: own.name, Path: append(slices.Clone(o.Path), own.name), index: at, typ: field.Type, From: from,
		dialect: o.dialect, Result: own.result, was: own.was, late: own.late, needed: own.needed,
		pathed: own.path}
	if f.Result == Material {
		f.Result = o.Result
	}
	return f
}

// Name returns the dotted path of the key, such as time.budget.
func (o *Outline) Name() string { return strings.Join(o.Path, ".") }

// About returns the description of the key, including its unit and the meaning of zero.
func (o *Outline) About() string { return o.dialect.Descriptions[o.From.ID()] }

// Items returns the outline of the tables in a list. It is nil for all other values.
func (o *Outline) Items() *Outline {
	if o.typ.Kind() == reflect.Slice && o.dialect.isTable(o.typ.Elem()) {
		return o.dialect.Outline(o.typ.Elem())
	}
	return nil
}

// IsTable reports whether the key is a table.
func (o *Outline) IsTable() bool { return o.dialect.isTable(o.typ) }

// Find returns the outline of a key in the table, or nil if the table has no such key.
func (o *Outline) Find(key string) *Outline {
	for _, f := range o.Fields {
		if f.Key == key {
			return f
		}
	}
	return nil
}

// renamed returns the field of an old key; nil if there is none.
func (o *Outline) renamed(key string) *Outline {
	for _, f := range o.Fields {
		if f.was == key && key != "" {
			return f
		}
	}
	return nil
}

// first returns the path with the first name of the key.
func (o *Outline) first() string {
	if o.was == "" {
		return o.Name()
	}
	return strings.Join(append(slices.Clone(o.Path[:len(o.Path)-1]), o.was), ".")
}

// Newest returns the path with its last key replaced by the key's current name, if that key was renamed.
func (o *Outline) Newest(path string) string {
	last := strings.LastIndexByte(path, '.')
	table := o
	if last >= 0 {
		table = o.At(path[:last])
	}
	if table == nil || table.Find(path[last+1:]) != nil {
		return path
	}
	if f := table.renamed(path[last+1:]); f != nil {
		return f.Name()
	}
	return path
}

// removed returns the replacement of a removed key.
func (o *Outline) removed(key string) (instead string, gone bool) {
	instead, gone = o.dialect.Removed[o.path(key)]
	return instead, gone
}

func (o *Outline) path(key string) string {
	return strings.Join(append(slices.Clone(o.Path), key), ".")
}

// At returns the outline of a dotted path such as time.budget, or nil if it does not exist.
func (o *Outline) At(path string) *Outline {
	for key := range strings.SplitSeq(path, ".") {
		if o = o.Find(key); o == nil {
			return nil
		}
	}
	return o
}

// Keys lists the keys of a table.
func (o *Outline) Keys() []string {
	return mapped(o.Fields, func(f *Outline) string { return f.Key })
}

// Leaves lists the keys that are not tables, in a table and in the tables below it; the table's own keys come first.
func (o *Outline) Leaves() []*Outline {
	var own, below []*Outline
	for _, f := range o.Fields {
		if f.IsTable() {
			below = append(below, f.Leaves()...)
		} else {
			own = append(own, f)
		}
	}
	return append(own, below...)
}

// where returns the path in the form of places in a document.
func (o *Outline) where() []any {
	return mapped(o.Path, func(key string) any { return key })
}
