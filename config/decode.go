package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"graft/files"
	"graft/model"
	"graft/trainer"
)

// largestFile is in bytes, of files that are read into options.
const largestFile = 4 << 20

// Source is where a value comes from. The zero Source is a default.
type Source struct {
	File string // empty for none
	Line int    // in File, from 1; zero is the whole of it
	Flag string // an assignment of --set as it was given; empty for none
}

// String is default, FILE:LINE, FILE or --set.
func (s Source) String() string {
	switch {
	case s.Flag != "":
		return "--set"
	case s.File != "" && s.Line == 0:
		return s.File
	case s.File != "":
		return fmt.Sprintf("%s:%d", s.File, s.Line)
	}
	return "default"
}

// reading is a file that is read into a struct, and all that is wrong with it.
type reading struct {
	doc     *document
	outline *outline
	target  reflect.Value // the struct
	faults  model.FormFaults
	others  Faults            // of flags and of files that the file names
	given   map[string]Source // by the path of a key
	broken  map[string]bool   // keys whose values could not be read
}

// readInto reads a file, or nothing where the path is empty, over what a struct
// holds, then assignments. Only a file that cannot be opened is an error: faults
// are told by finish.
func readInto(fsys files.FS, path string, set []string, target any) (*reading, error) {
	var text []byte
	if path != "" {
		var err error
		if text, err = files.ReadAll(fsys, path, largestFile); err != nil {
			return nil, err
		}
	}
	r := newReading(path, text, target)
	err := r.file()
	for _, assignment := range set {
		r.assign(assignment)
	}
	return r, err
}

func newReading(path string, text []byte, target any) *reading {
	v := reflect.ValueOf(target).Elem()
	return &reading{doc: newDocument(cmp.Or(path, "no file"), text), outline: outlineOf(v.Type()), target: v,
		given: map[string]Source{}, broken: map[string]bool{}}
}

// file decodes the document. An error is Faults: it is no TOML at all.
func (r *reading) file() error {
	table, err := r.doc.readLoosely()
	if err != nil {
		return err
	}
	d := &decoder{}
	d.table(r.outline, nil, r.target, table)
	r.faults = d.faults
	for _, f := range d.faults {
		r.spoil(f)
	}
	for _, o := range d.given {
		s := r.doc.keys[model.FormPath(o.where())]
		r.given[o.name()] = Source{File: r.doc.file, Line: r.doc.line(s.start) + 1}
	}
	return nil
}

// spoil notes that a key is not as it was meant: its value could not be read, or
// it may be the one that was misspelt.
func (r *reading) spoil(f model.FormFault) {
	o := r.outline
	for _, step := range f.Where {
		key, ok := step.(string)
		if !ok {
			break
		}
		inner := o.find(key)
		if inner == nil && f.Key && o.isTable() {
			inner = o.find(nearest(key, o.keys()))
		}
		if inner == nil {
			break
		}
		o = inner
	}
	r.broken[o.name()] = true
}

// readLoosely reads a document in which keys are given twice as well: each time
// the second is noted and passed over.
func (d *document) readLoosely() (map[string]any, error) {
	whole := d.text
	loose := *d
	loose.text = slices.Clone(whole)
	for {
		table, err := readTOML(&loose)
		if err == nil {
			d.twice = loose.twice
			return table, nil
		}
		if len(loose.twice) >= mostTwice || !loose.passOver() {
			return nil, loose.withTwice(err)
		}
	}
}

// mostTwice bounds how often a document is read again: each time costs the whole.
const mostTwice = 2 * mostListed

// withTwice adds what was passed over to what ends the reading.
func (d *document) withTwice(err error) error {
	var faults Faults
	for _, p := range d.twice {
		faults = append(faults, p.fault)
	}
	var last Faults
	errors.As(err, &last)
	return append(faults, last...)
}

// passOver blanks the expression whose keys stand earlier already, and says
// whether there is one.
func (d *document) passOver() bool {
	var table map[string]any
	var found *toml.DecodeError
	if !errors.As(toml.Unmarshal(d.text, &table), &found) || len(found.Key()) == 0 {
		return false
	}
	row, column := found.Position()
	offset := d.starts[row-1] + column - 1
	from, to, name := d.expressionAt(offset)
	text := strings.TrimPrefix(found.Error(), "toml: ")
	if strings.HasSuffix(text, "already defined") || strings.HasSuffix(text, "already exists") {
		text = strings.Join(found.Key(), ".") + " is given twice"
	}
	d.twice = append(d.twice, placed{offset, d.fault(name, text)})
	blank := bytes.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, d.text[from:to])
	before := d.text
	d.text = slices.Concat(d.text[:from], blank, bytes.Repeat([]byte{' '}, to-from-len(blank)), d.text[to:])
	return !bytes.Equal(before, d.text)
}

// expressionAt is the lines of the key, or of the table with all its keys, that an
// offset is in, and its name.
func (d *document) expressionAt(offset int) (from, to int, name span) {
	from, to = 0, len(d.text)
	table := false
	w := &tomlPlaces{document: d}
	w.parser.Reset(d.text)
	for w.parser.NextExpression() {
		node := w.parser.Expression()
		keys := node.Key()
		keys.Next()
		at := w.span(keys.Node())
		for keys.Next() {
			at.end = w.span(keys.Node()).end
		}
		header := node.Kind != unstable.KeyValue
		if at.start > offset && (header || !table) {
			return from, d.starts[d.line(at.start)], name
		}
		if at.start <= offset {
			from, name, table = d.starts[d.line(at.start)], at, header
		}
	}
	return from, to, name
}

// defaulter and validator are what sections may do for themselves.
type (
	defaulter interface{ EnsureDefaults() }
	validator interface{ Validate() error }
)

// defaults fills in what zero stands for, and says so where zero was given.
func (r *reading) defaults() {
	zero := map[string]bool{}
	for _, o := range r.outline.leaves() {
		_, given := r.given[o.name()]
		zero[o.name()] = given && r.target.FieldByIndex(o.index).IsZero()
	}
	r.walk(r.outline, func(_ *outline, section any) {
		if s, ok := section.(defaulter); ok {
			s.EnsureDefaults()
		}
	})
	for _, o := range r.outline.leaves() {
		if v := r.target.FieldByIndex(o.index); zero[o.name()] && !v.IsZero() {
			r.blame(o, fmt.Sprintf("%s stands for the default here, which is %s; leave %s out or write that",
				oneLine(plain(reflect.Zero(o.typ))), oneLine(plain(v)), o.key))
		}
	}
}

// walk visits the sections, those inside first.
func (r *reading) walk(o *outline, visit func(*outline, any)) {
	for _, f := range o.fields {
		if f.isTable() {
			r.walk(f, visit)
		}
	}
	if !o.partial {
		visit(o, r.target.FieldByIndex(o.index).Addr().Interface())
	}
}

// validate asks the sections what is wrong with them, each thing once.
func (r *reading) validate() {
	var told []string
	r.walk(r.outline, func(o *outline, section any) {
		v, ok := section.(validator)
		if !ok {
			return
		}
		for _, err := range parts(v.Validate()) {
			text := err.Error()
			known := func(other string) bool { return other == text || strings.HasSuffix(other, ": "+text) }
			if slices.ContainsFunc(told, known) {
				continue
			}
			told = append(told, text)
			if item := (*trainer.ItemFault)(nil); errors.As(err, &item) {
				r.blame(o.find(item.List), item.Text, item.Index, item.Key)
			} else {
				r.blame(o.meant(text), text)
			}
		}
	})
}

// parts are the errors that were joined.
func parts(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || errors.Join(joined.Unwrap()...).Error() != err.Error() {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, parts(e)...)
	}
	return all
}

// subject is what a text says something about, such as batch in "batch is -1" and
// "a batch of -1".
var subject = regexp.MustCompile(`^(?:an? )?([a-z0-9_. ]+?)(?: is | are | of | at |: )`)

// meant is the field that a text begins with, or else the whole.
func (o *outline) meant(text string) *outline {
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

// nearestField is the field of a dotted path, below o or below what is below it.
func (o *outline) nearestField(path string) *outline {
	level := []*outline{o}
	for len(level) > 0 {
		var next []*outline
		for _, table := range level {
			at := table
			for key := range strings.SplitSeq(path, ".") {
				if at = at.find(key); at == nil {
					break
				}
			}
			if at != nil {
				return at
			}
			next = append(next, table.fields...)
		}
		level = next
	}
	return nil
}

// blame says what is wrong with a field, or with an item of it: where it is given,
// or where its table is.
func (r *reading) blame(o *outline, text string, item ...any) {
	if r.doubtful(o, text) {
		return
	}
	if flag := r.flagOf(o); flag != "" {
		r.others = append(r.others, flagFault(flag, text))
		return
	}
	f := model.FormFault{Where: append(o.where(), item...), Text: text, Key: o.isTable()}
	if _, found := r.doc.find(f); !found && len(o.path) > 0 {
		f = model.FormFault{Text: o.name() + ": " + text}
	}
	r.faults = append(r.faults, f)
}

// doubtful says whether a text is about a value that could not be read, or mentions
// one that stands beside it: it may not be so.
func (r *reading) doubtful(o *outline, text string) bool {
	table := strings.Join(o.path[:max(0, len(o.path)-1)], ".")
	if o.isTable() {
		table = o.name()
	}
	text = strings.Join(strings.FieldsFunc(text, func(c rune) bool { return !unicode.IsLetter(c) }), "_")
	for name := range r.broken {
		key := name[strings.LastIndexByte(name, '.')+1:]
		beside := strings.HasPrefix(name, table)
		if name == o.name() || beside && strings.Contains("_"+text+"_", "_"+key+"_") {
			return true
		}
	}
	return false
}

// flagOf is the last assignment to a field, or into a table.
func (r *reading) flagOf(o *outline) string {
	if !o.isTable() {
		return r.given[o.name()].Flag
	}
	for _, leaf := range slices.Backward(o.leaves()) {
		if flag := r.given[leaf.name()].Flag; flag != "" {
			return flag
		}
	}
	return ""
}

// finish is Faults, or nil where there are none.
func (r *reading) finish() error {
	var all Faults
	if err := r.doc.locate(r.located()); err != nil && !errors.As(err, &all) {
		return err
	}
	if all = append(all, r.others...); len(all) == 0 {
		return nil
	}
	return all
}

// located is the faults as an error, which is nil where there are none.
func (r *reading) located() error {
	if len(r.faults) == 0 {
		return nil
	}
	return r.faults
}

// decoder puts values into a struct.
type decoder struct {
	faults model.FormFaults
	given  []*outline
}

func (d *decoder) fault(where []any, format string, args ...any) {
	d.faults = append(d.faults, model.FormFault{Where: where, Text: fmt.Sprintf(format, args...)})
}

// table decodes a table into the fields of a struct.
func (d *decoder) table(o *outline, where []any, v reflect.Value, table map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(table)) {
		inner := below(where, key)
		f := o.find(key)
		if f == nil {
			d.faults = append(d.faults, model.FormFault{Where: inner, Key: true, Text: unknownKey(o, key)})
			continue
		}
		d.field(f, inner, v, table[key])
	}
}

func unknownKey(o *outline, key string) string {
	table := "of this file"
	if len(o.path) > 0 {
		table = "of " + o.name()
	}
	hint := guess(key, o.keys())
	if hint == "" {
		hint = "; there are " + strings.Join(o.keys(), ", ")
	}
	return fmt.Sprintf("%q is no key %s%s", key, table, hint)
}

// field decodes one value into its place in the struct.
func (d *decoder) field(f *outline, where []any, v reflect.Value, in any) {
	if !f.isTable() {
		d.given = append(d.given, f)
		d.value(v.FieldByIndex(f.index), where, f, in)
		return
	}
	table, ok := in.(map[string]any)
	if !ok {
		d.fault(where, "%s must be a table, and not %s", f.key, describe(in))
		return
	}
	d.table(f, where, v, table)
}
