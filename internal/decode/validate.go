package decode

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
)

// Optional methods of sections: set defaults, and validate.
type (
	defaulter interface{ EnsureDefaults() }
	validator interface{ Validate() error }
)

// Defaults replaces zero values with their defaults. If the document sets a key to zero but the default is not zero,
// Defaults reports an error.
func (r *Reading) Defaults() {
	zero := map[string]bool{}
	for _, o := range r.outline.Leaves() {
		_, given := r.Given[o.Name()]
		zero[o.Name()] = given && r.target.FieldByIndex(o.index).IsZero()
	}
	r.walk(r.outline, func(_ *Outline, section any) {
		if s, ok := section.(defaulter); ok {
			s.EnsureDefaults()
		}
	})
	for _, o := range r.outline.Leaves() {
		if v := r.target.FieldByIndex(o.index); zero[o.Name()] && !v.IsZero() {
			d := o.dialect
			value := OneLine(d.plain(v))
			r.blame(o, fmt.Sprintf("%s means the default here, %s; remove %s or write %s",
				OneLine(d.plain(reflect.Zero(o.typ))), value, o.Key, value))
		}
	}
}

// walk visits the sections, inner ones first.
func (r *Reading) walk(o *Outline, visit func(*Outline, any)) {
	for _, f := range o.Fields {
		if f.IsTable() {
			r.walk(f, visit)
		}
	}
	if !o.partial {
		visit(o, r.target.FieldByIndex(o.index).Addr().Interface())
	}
}

// Validate calls the Validate method of each section and collects the errors, without duplicates.
func (r *Reading) Validate() {
	told := map[string]bool{}
	r.walk(r.outline, func(o *Outline, section any) {
		v, ok := section.(validator)
		if !ok {
			return
		}
		for _, err := range Parts(v.Validate()) {
			text := err.Error()
			if told[text] {
				continue
			}
			for rest, more := text, true; more; _, rest, more = strings.Cut(rest, ": ") {
				told[rest] = true
			}
			if list, index, key, what, ok := o.dialect.item(err); ok {
				r.blame(o.Find(list), what, index, key)
			} else {
				r.blame(o.meant(text), text)
			}
		}
	})
}

// Parts lists the errors that a joined error contains.
func Parts(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || errors.Join(joined.Unwrap()...).Error() != err.Error() {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, Parts(e)...)
	}
	return all
}

// subject matches the subject of a text, such as batch in "batch is -1" and "a batch of -1".
var subject = regexp.MustCompile(`^(?:an? )?([a-z0-9_. ]+?)(?: is | are | of | at |: )`)

// meant returns the field at the start of a text, or else the whole.
func (o *Outline) meant(text string) *Outline {
	found := subject.FindStringSubmatch(text)
	if found == nil {
		return o
	}
	for words := strings.Fields(found[1]); len(words) > 0; words = words[1:] {
		if f := o.nearestField(strings.Join(words, "_")); f != nil {
			return f
		}
	}
	return o
}

// nearestField returns the field of a dotted path, below o or deeper.
func (o *Outline) nearestField(path string) *Outline {
	for level := []*Outline{o}; len(level) > 0; {
		var next []*Outline
		for _, table := range level {
			if at := table.At(path); at != nil {
				return at
			}
			next = append(next, table.Fields...)
		}
		level = next
	}
	return nil
}
