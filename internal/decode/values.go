package decode

import (
	"fmt"
	"slices"
)

// Value is a key of an option struct with its value.
type Value struct {
	Key    string // key after its tables, such as time.budget
	First  string // the same path with the oldest name of the key, for digests
	About  string // description of the key, including its unit and the meaning of zero
	Text   string // value as written in a file
	Plain  any    // value as written in JSON
	Source Source
	Result Result // how results depend on the value
	Absent bool   // whether digests omit the value, because it is zero and older files lack the key

	table any // table with ordered keys
}

// Part is a key with its value in one table of a list.
type Part struct {
	Key  string // key after the list and the table's index, from 0, such as task[0].name
	Text string // value as written in a file
}

// emptyTexts lists the texts of zero values.
var emptyTexts = []string{`""`, `"0s"`, "0", "0.0", "false", "[]"}

// Parts lists the keys with nonzero values in a list of tables. For any other value, the result is empty.
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

// Values lists all keys of an option struct with their values, in the order in which a configuration file lists them.
func (d *Dialect) Values(target any, given map[string]Source) []Value {
	outline, v := d.of(target)
	var list []Value
	for _, o := range outline.Leaves() {
		field := v.FieldByIndex(o.index)
		p := d.plain(field)
		list = append(list, Value{Key: o.Name(), First: o.first(), About: o.About(), Text: OneLine(p),
			Plain: unordered(p), Source: given[o.Name()], Result: o.Result, Absent: o.late && field.IsZero(), table: p})
	}
	return list
}

// Differences lists the keys that affect results and whose values differ, each as "KEY was OLD and is now NEW".
func Differences(now, was []Value) (list []string) {
	for k, v := range now {
		if v.Text != was[k].Text && v.Result == Material {
			list = append(list, fmt.Sprintf("%s was %s and is now %s", v.Key, was[k].Text, v.Text))
		}
	}
	return list
}

// Differing lists the keys whose values differ from the values in another struct of the same type, such as the
// defaults.
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
