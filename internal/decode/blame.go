package decode

import (
	"errors"
	"strings"
	"unicode"
)

// Blame reports a fault at a key in the document. If item is an index, it reports the fault at this item of the key's
// list. If the document does not contain the key, Blame reports the fault at the key's table.
func (r *Reading) Blame(key, text string, item ...any) { r.blame(r.outline.At(key), text, item...) }

func (r *Reading) blame(o *Outline, text string, item ...any) {
	if r.doubtful(o, text) {
		return
	}
	if flag := r.flagOf(o); flag != "" {
		r.Add(flagFault(flag, text))
		return
	}
	f := Problem{Where: append(o.where(), item...), Text: text, Key: o.IsTable()}
	if _, _, found := r.doc.Span(f); !found && len(o.Path) > 0 {
		f = Problem{Text: o.Name() + ": " + text}
	}
	r.add(f)
}

// doubtful reports whether a text concerns or mentions a value that could not be read. Such a text may be a consequence
// of the first fault, and is not reported.
func (r *Reading) doubtful(o *Outline, text string) bool {
	table := strings.Join(o.Path[:max(0, len(o.Path)-1)], ".")
	if o.IsTable() {
		table = o.Name()
	}
	if len(r.broken) > 0 {
		text = "_" + strings.Join(strings.FieldsFunc(text, func(c rune) bool { return !unicode.IsLetter(c) }),
			"_") + "_"
	}
	for name := range r.broken {
		key := name[strings.LastIndexByte(name, '.')+1:]
		if name == o.Name() || strings.HasPrefix(name, table) && strings.Contains(text, "_"+key+"_") {
			return true
		}
	}
	return false
}

// flagOf returns the last --set assignment to a field, or inside a table.
func (r *Reading) flagOf(o *Outline) string {
	leaves := []*Outline{o}
	if o.IsTable() {
		leaves = o.Leaves()
	}
	for k := range leaves {
		if flag := r.Given[leaves[len(leaves)-1-k].Name()].Flag; flag != "" {
			return flag
		}
	}
	return ""
}

// Attempt calls read, which reads the file named by a key. Attempt does nothing if wanted is false or the value of the
// key is invalid. Errors in the named file are listed after the errors in the document that contains the key.
func (r *Reading) Attempt(key string, wanted bool, read func() error) {
	if !wanted || r.broken[key] {
		return
	}
	err := read()
	if err != nil {
		r.Fail(key, err)
		r.broken[key] = true
	}
}

// Fail reports an error in the file named by a key. If the error has the type Faults, its faults are reported
// unchanged; any other error is reported at the key, or at an item of its list.
func (r *Reading) Fail(key string, err error, item ...any) {
	var faults Faults
	if errors.As(err, &faults) {
		r.Add(faults...)
	} else {
		r.Blame(key, r.Elsewhere(key, err, item...).Error(), item...)
	}
}
