package decode

import (
	"fmt"
)

// Value is a key of a file and its value.
type Value struct {
	Key    string // with its tables, such as time.budget
	About  string // what it is for, with its unit and what zero means
	Text   string // as a file has it
	Plain  any    // for JSON
	Source Source
	Result Result // how results depend on it
	Absent bool   // digests leave it out: it is zero, and older files do not have it
}

// Values lists all keys of a struct in the order of a file.
func (d *Dialect) Values(target any, given map[string]Source) []Value {
	outline, v := d.of(target)
	var list []Value
	for _, o := range outline.Leaves() {
		field := v.FieldByIndex(o.index)
		p := d.plain(field)
		list = append(list, Value{Key: o.Name(), About: o.About(), Text: OneLine(p), Plain: unordered(p), Source: given[o.Name()], Result: o.Result,
			Absent: o.late && field.IsZero()})
	}
	return list
}

// Differences lists the keys on which results depend and whose values differ, each as
// "key was its value and is ours".
func Differences(now, was []Value) (list []string) {
	for k, v := range now {
		if v.Text != was[k].Text && v.Result == Material {
			list = append(list, fmt.Sprintf("%s was %s and is %s", v.Key, was[k].Text, v.Text))
		}
	}
	return list
}
