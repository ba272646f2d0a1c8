package decode

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"graft/internal/words"
)

type decoder struct {
	report    func(Problem)
	given     []*Outline
	oldNames  bool                     // accepts old names
	elsewhere func(name string) string // as in [Document]
}

func (d *decoder) fault(where []any, format string, args ...any) {
	d.report(Problem{Where: where, Text: fmt.Sprintf(format, args...)})
}

// below extends a path by one step.
func below(where []any, step any) []any { return append(slices.Clone(where), step) }

func (d *decoder) table(o *Outline, where []any, v reflect.Value, table map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(table)) {
		inner := below(where, key)
		f := o.Find(key)
		if f == nil && d.oldNames {
			f = o.renamed(key)
		}
		if _, gone := o.removed(key); f == nil && gone && d.oldNames {
			continue
		}
		if f == nil {
			d.report(Problem{Where: inner, Key: true, Text: unknownKey(o, key, d.elsewhere)})
			continue
		}
		d.field(f, inner, v, table[key])
	}
}

func unknownKey(o *Outline, key string, elsewhere func(name string) string) string {
	if now := o.renamed(key); now != nil {
		return fmt.Sprintf("%s was renamed to %s; rename it", key, now.Key)
	}
	if instead, gone := o.removed(key); gone {
		return fmt.Sprintf("%s was removed: %s", key, instead)
	}
	table := ""
	if len(o.Path) > 0 {
		table = " in " + o.Name()
	}
	hint, other := words.Guess(key, o.Keys()), ""
	if elsewhere != nil {
		other = elsewhere(strings.Join(append(slices.Clone(o.Path), key), "."))
	}
	switch {
	case hint != "" && other != "":
		hint += " " + other
	case other != "":
		hint = "; " + other
	}
	hint = cmp.Or(hint, "; known keys are "+strings.Join(o.Keys(), ", "))
	return fmt.Sprintf("unknown key %q%s%s", shortened(key), table, hint)
}

func (d *decoder) field(f *Outline, where []any, v reflect.Value, in any) {
	if !f.IsTable() {
		d.given = append(d.given, f)
		d.value(v.FieldByIndex(f.index), where, f, in)
		return
	}
	table, ok := in.(map[string]any)
	if !ok {
		d.fault(where, "%s must be a table, got %s", f.Key, Describe(in))
		return
	}
	d.table(f, where, v, table)
}

// value decodes one value; o is the key that it belongs to.
func (d *decoder) value(v reflect.Value, where []any, o *Outline, in any) {
	var err error
	switch {
	case o.dialect.isText(v.Type()):
		err = setText(v, o, in)
	case v.Type() == durationType:
		err = setDuration(v, in)
	case v.Kind() == reflect.Slice:
		d.list(v, where, o, in)
	case v.Kind() == reflect.Struct:
		d.item(v, where, o, in)
	default:
		err = setScalar(v, o, in)
	}
	if err != nil {
		d.fault(where, "%s %v", o.Key, err)
	}
}

// list decodes a list, which replaces the existing one.
func (d *decoder) list(v reflect.Value, where []any, o *Outline, in any) {
	list, ok := in.([]any)
	if !ok {
		d.fault(where, "%s must be a list, [ … ], got %s", o.Key, Describe(in))
		return
	}
	out := reflect.MakeSlice(v.Type(), len(list), len(list))
	for k, item := range list {
		d.value(out.Index(k), below(where, k), o, item)
	}
	if len(list) == 0 {
		out = reflect.Zero(v.Type())
	}
	v.Set(out)
}

func (d *decoder) item(v reflect.Value, where []any, o *Outline, in any) {
	table, ok := in.(map[string]any)
	if !ok {
		d.fault(where, "%s must be a list of tables, got a list with %s", o.Key, Describe(in))
		return
	}
	inner := *o.dialect.Outline(v.Type())
	inner.Path = o.Path
	e := &decoder{report: d.report}
	e.table(&inner, where, v, table)
	for _, f := range inner.missing(table) {
		d.fault(where, "missing key %q in %s; add it", f.Key, inner.Name())
	}
}

// missing returns the needed keys that a table lacks. A table with an unknown key, which may be a misspelt one, lacks
// none.
func (o *Outline) missing(table map[string]any) (all []*Outline) {
	for key := range table {
		if o.Find(key) == nil {
			return nil
		}
	}
	for _, f := range o.Fields {
		if _, given := table[f.Key]; f.needed && !given {
			all = append(all, f)
		}
	}
	return all
}
