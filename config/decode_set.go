package config

import (
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// flagFault is a fault of an assignment on the command line.
func flagFault(assignment, text string) Fault {
	return Fault{File: "--set " + assignment, Text: text}
}

// assign does what an assignment such as time.budget=30s says: a path of keys, and
// a value in TOML, or any text where the key takes one.
func (r *reading) assign(assignment string) {
	bad := func(text string) { r.others = append(r.others, flagFault(assignment, text)) }
	path, value, ok := strings.Cut(assignment, "=")
	if !ok {
		bad("write a key and its value, such as time.budget=30s")
		return
	}
	o, fault := r.outline.lookUp(strings.TrimSpace(path))
	if fault != "" {
		bad(fault)
		return
	}
	d := &decoder{}
	d.field(o, o.where(), r.target, assigned(o, strings.TrimSpace(value)))
	for _, f := range d.faults {
		bad(f.Text)
		r.spoil(f)
	}
	for _, leaf := range d.given {
		r.given[leaf.name()] = Source{Flag: assignment}
	}
}

// lookUp follows a path of keys; a text says what is wrong with it.
func (o *outline) lookUp(path string) (*outline, string) {
	for key := range strings.SplitSeq(path, ".") {
		if !o.isTable() {
			return nil, o.name() + " has no keys; give its value as a whole"
		}
		f := o.find(key)
		if f == nil {
			return nil, unknownKey(o, key)
		}
		o = f
	}
	return o, ""
}

// assigned reads the value of an assignment. What is no TOML is a text, and so is
// what a key gets that takes texts only.
func assigned(o *outline, text string) any {
	var table map[string]any
	err := toml.Unmarshal([]byte("value = "+text), &table)
	value, has := table["value"]
	if err != nil || !has || len(table) != 1 {
		return text
	}
	if _, quoted := value.(string); !quoted && (o.typ.Kind() == reflect.String || isText(o.typ)) {
		return text
	}
	return value
}
