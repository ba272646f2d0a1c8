package config

import (
	"encoding"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
)

// outline says which keys a file has: it is made from the struct that the file is
// read into. A field is a key by its name in snake_case, a struct is a table, an
// embedded struct stands with the fields around it. The tag `config:"name,option,…"`
// gives another name, "-" leaves a field out, and its options are
//
//	one=a|b    the texts that may be given
//	hoist      structs inside stand beside the table, not in it
//	omit=a.b   a field inside, which stands elsewhere
//	inline=a   a struct inside, whose fields stand with those around it
type outline struct {
	key     string       // in its table; empty for the whole file
	path    []string     // of keys, from the whole file
	index   []int        // of the field, from the struct that the whole file is
	typ     reflect.Type // of the value
	fields  []*outline   // of a table, in the order of the struct; nil for a value
	words   []string     // the texts that there are; nil is any
	from    member       // whose comment says what it is; the zero member for the whole file
	partial bool         // what is inside stands beside it: who composes them checks them
}

var durationType = reflect.TypeFor[time.Duration]()

// outlineOf is the outline of a struct.
func outlineOf(t reflect.Type) *outline {
	root := &outline{typ: t}
	root.collect(root, t, nil, tag{})
	return root
}

// collect takes in the fields of a struct: values into o, tables into tables.
func (o *outline) collect(tables *outline, t reflect.Type, index []int, rules tag) {
	for k := range t.NumField() {
		field := t.Field(k)
		own := tagOf(field)
		if !field.IsExported() || own.name == "-" || slices.Contains(rules.omit, own.name) || !storable(field.Type) {
			continue
		}
		inside := rules.below(own.name)
		inside.omit, inside.inline = append(inside.omit, own.omit...), append(inside.inline, own.inline...)
		at := append(slices.Clone(index), k)
		switch {
		case !isTable(field.Type):
			o.fields = append(o.fields, &outline{key: own.name, path: o.under(own.name), index: at, typ: field.Type, words: wordsOf(t, field, own), from: member{t, field.Name}})
		case field.Anonymous || slices.Contains(rules.inline, own.name):
			if field.Anonymous {
				inside.omit, inside.inline = append(inside.omit, rules.omit...), append(inside.inline, rules.inline...)
			}
			o.collect(tables, field.Type, at, inside)
		default:
			tables.table(field, member{t, field.Name}, at, own, inside)
		}
	}
}

// table takes in a struct.
func (o *outline) table(field reflect.StructField, from member, at []int, own, inside tag) {
	t := field.Type
	table := &outline{key: own.name, path: o.under(own.name), index: at, typ: t, partial: own.hoist, from: from}
	o.fields = append(o.fields, table)
	home := table
	if own.hoist {
		home = o
	}
	table.collect(home, t, at, inside)
}

func (o *outline) under(key string) []string { return append(slices.Clone(o.path), key) }

// where is the path as places are kept in a document.
func (o *outline) where() []any {
	where := make([]any, len(o.path))
	for k, key := range o.path {
		where[k] = key
	}
	return where
}

// name is the path as people write it.
func (o *outline) name() string { return strings.Join(o.path, ".") }

// about says what the key is for, with its unit and what zero means.
func (o *outline) about() string { return descriptions[o.from.key()] }

// items is the outline of the tables in a list; nil for other values.
func (o *outline) items() *outline {
	if o.typ.Kind() == reflect.Slice && isTable(o.typ.Elem()) {
		return outlineOf(o.typ.Elem())
	}
	return nil
}

func (o *outline) isTable() bool { return isTable(o.typ) }

// find is the field of a key.
func (o *outline) find(key string) *outline {
	for _, f := range o.fields {
		if f.key == key {
			return f
		}
	}
	return nil
}

// keys are those of a table.
func (o *outline) keys() []string {
	keys := make([]string, len(o.fields))
	for k, f := range o.fields {
		keys[k] = f.key
	}
	return keys
}

// leaves are the values of a table and of those below it, its own first.
func (o *outline) leaves() []*outline {
	var own, below []*outline
	for _, f := range o.fields {
		if f.isTable() {
			below = append(below, f.leaves()...)
		} else {
			own = append(own, f)
		}
	}
	return append(own, below...)
}

// tag is what a struct's tag says.
type tag struct {
	name         string
	omit, inline []string
	words        []string
	hoist        bool
}

func tagOf(field reflect.StructField) tag {
	name, options, _ := strings.Cut(field.Tag.Get("config"), ",")
	t := tag{name: name}
	if name == "" {
		t.name = snake(field.Name)
	}
	for option := range strings.SplitSeq(options, ",") {
		what, value, _ := strings.Cut(option, "=")
		switch what {
		case "omit":
			t.omit = append(t.omit, value)
		case "inline":
			t.inline = append(t.inline, value)
		case "one":
			t.words = strings.Split(value, "|")
		case "hoist":
			t.hoist = true
		}
	}
	return t
}

// below is what holds inside of a field.
func (t tag) below(key string) tag {
	var inside tag
	for _, path := range t.omit {
		if rest, ok := strings.CutPrefix(path, key+"."); ok {
			inside.omit = append(inside.omit, rest)
		}
	}
	for _, path := range t.inline {
		if rest, ok := strings.CutPrefix(path, key+"."); ok {
			inside.inline = append(inside.inline, rest)
		}
	}
	return inside
}

// snake writes EvalBatch as eval_batch and LR as lr.
func snake(name string) string {
	letters := []rune(name)
	var b strings.Builder
	for k, r := range letters {
		begins := unicode.IsUpper(r) && k > 0 &&
			(!unicode.IsUpper(letters[k-1]) || k+1 < len(letters) && unicode.IsLower(letters[k+1]))
		if begins {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// storable says whether a type can stand in a file: tensors, functions and the
// like cannot.
func storable(t reflect.Type) bool {
	if isText(t) {
		return true
	}
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64, reflect.Struct,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return true
	case reflect.Slice:
		return storable(t.Elem())
	}
	return false
}

func isTable(t reflect.Type) bool { return t.Kind() == reflect.Struct && !isText(t) }

// isText says whether a type is written as a text and reads itself.
func isText(t reflect.Type) bool {
	_, known := notations[t]
	return known || reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}
