package decode

import (
	"reflect"
	"strings"
)

// FlagFile returns the text that takes the place of the file name in errors about a command-line assignment.
func FlagFile(assignment string) string { return "--set " + assignment }

func flagFault(assignment, text string) Fault { return Fault{File: FlagFile(assignment), Text: text} }

// assign applies an assignment such as time.budget=30s: a path of keys, and a value in TOML, or any text if the key
// takes a text.
func (r *Reading) assign(assignment string) {
	bad := func(text string) { r.Add(flagFault(assignment, text)) }
	path, value, ok := strings.Cut(assignment, "=")
	if !ok {
		bad("expected a key and its value, such as time.budget=30s")
		return
	}
	o, fault := r.outline.lookUp(strings.TrimSpace(path), r.doc.Elsewhere)
	if fault != "" {
		bad(fault)
		return
	}
	d := &decoder{report: func(f Problem) {
		bad(f.Text)
		r.spoil(f)
	}}
	d.field(o, o.where(), r.target, assigned(o, strings.TrimSpace(value)))
	for _, leaf := range d.given {
		r.Given[leaf.Name()] = Source{Flag: assignment}
	}
}

// lookUp follows a path of keys; the text is the fault of an invalid path. The argument elsewhere is as in [Document].
func (o *Outline) lookUp(path string, elsewhere func(name string) string) (*Outline, string) {
	for key := range strings.SplitSeq(path, ".") {
		if !o.IsTable() {
			return nil, o.Name() + " has no keys; give its value as a whole"
		}
		f := o.Find(key)
		if f == nil {
			return nil, unknownKey(o, key, elsewhere)
		}
		o = f
	}
	return o, ""
}

// assigned reads the value of an assignment. A value that is not TOML is a text, and so is any value for a key that
// only takes texts.
func assigned(o *Outline, text string) any {
	table, err := NewDocument("", []byte("value = "+text)).TOML()
	value, has := table["value"]
	if err != nil || !has || len(table) != 1 {
		return text
	}
	if _, quoted := value.(string); !quoted && (o.typ.Kind() == reflect.String || o.dialect.isText(o.typ)) {
		return text
	}
	return value
}
