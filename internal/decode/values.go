package decode

import (
	"fmt"
	"slices"
)

// Value is a key of a file and its value.
type Value struct {
	Key    string // key with its tables, such as time.budget
	About  string // description, with its unit and the meaning of zero
	Text   string // text as in a file
	Plain  any    // value for JSON
	Source Source
	Result Result // how results depend on it
	Absent bool   // digests omit it: it is zero, and older files lack it

	table any // table with ordered keys
}

// Part is a key of a table in a list.
type Part struct {
	Key  string // key with the list and the table's index, from 0, such as task[0].name
	Text string // text as in a file
}

// emptyTexts lists the texts of zero values.
var emptyTexts = []string{`""`, `"0s"`, "0", "0.0", "false", "[]"}

// Parts lists the nonzero keys of a list of tables; none for other values.
func (v Value) Parts() (parts []Part) {
	list, _ := v.table.([]any)
	for k, item := range list {
		table, _ := item.(Table)
		for _, e := range table {
			if text := OneLine(e.Value); !slices.Contains(emptyTexts, text) {
				parts = append(parts, Part{fmt.Sprintf("%s[%d].%s", v.Key, k, e.Key), text})
			}
		}
	}
	return parts
}

// Values lists all keys of a struct in the order of a file.
func (d *Dialect) Values(target any, given map[string]Source) []Value {
	outline, v := d.of(target)
	var list []Value
	for _, o := range outline.Leaves() {
		field := v.FieldByIndex(o.index)
		p := d.plain(field)
		list = append(list, Value{Key: o.Name(), About: o.About(), Text: OneLine(p), Plain: unordered(p),
			Source: given[o.Name()], Result: o.Result, Absent: o.late && field.IsZero(), table: p})
	}
	return list
}

// Differences lists the keys that results depend on and whose values differ, each as "key was its value and is ours".
func Differences(now, was []Value) (list []string) {
	for k, v := range now {
		if v.Text != was[k].Text && v.Result == Material {
			list = append(list, fmt.Sprintf("%s was %s and is %s", v.Key, was[k].Text, v.Text))
		}
	}
	return list
}

// Differing lists the keys whose values differ from another struct of the same type, for example one with the defaults.
func (r *Reading) Differing(from any) (keys []string) {
	d := r.outline.dialect
	outline, other := d.of(from)
	for _, o := range outline.Leaves() {
		if d.Text(r.target.FieldByIndex(o.index).Interface()) != d.Text(other.FieldByIndex(o.index).Interface()) {
			keys = append(keys, o.Name())
		}
	}
	return keys
}
