package decode

import (
	"fmt"
	"reflect"
	"strings"
)

// Reference returns the reference page, in Markdown, of a struct's keys: one table per section with types, defaults and
// descriptions. The struct must hold the defaults. If sections are named, only these sections and the tables in them
// are included.
func (d *Dialect) Reference(defaults any, sections ...string) string {
	o, v := d.of(defaults)
	var b strings.Builder
	if len(sections) == 0 {
		d.referTables(&b, o, v)
	}
	for _, name := range sections {
		if section := o.Find(name); section != nil {
			d.referTable(&b, "["+name+"]", section, v)
			d.referTables(&b, section, v)
		}
	}
	return b.String()
}

// referTables describes the tables in a table, recursively.
func (d *Dialect) referTables(b *strings.Builder, o *Outline, v reflect.Value) {
	for _, f := range o.Fields {
		if f.IsTable() {
			d.referTable(b, "["+f.Name()+"]", f, v)
			d.referTables(b, f, v)
		}
	}
}

// referTable describes the values of a table; v holds defaults, and is invalid if there are none.
func (d *Dialect) referTable(b *strings.Builder, title string, o *Outline, v reflect.Value) {
	fmt.Fprintf(b, "\n## `%s`\n\n", title)
	if about := o.About(); about != "" {
		b.WriteString(about + "\n\n")
	}
	b.WriteString("| key | type | default | meaning |\n| --- | --- | --- | --- |\n")
	var lists []*Outline
	for _, f := range o.Fields {
		if f.IsTable() {
			continue
		}
		value := ""
		if v.IsValid() {
			value = code(OneLine(d.plain(v.FieldByIndex(f.index))))
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", f.Key, cell(d.typeText(f, f.typ)), value, cell(f.About()))
		if f.Items() != nil {
			lists = append(lists, f)
		}
	}
	for _, f := range lists {
		d.referTable(b, "each of "+f.Name(), f.Items(), reflect.Value{})
	}
}

// typeText describes the type of a key in words.
func (d *Dialect) typeText(o *Outline, t reflect.Type) string {
	switch {
	case t == durationType:
		return "time"
	case o.Items() != nil && t.Kind() == reflect.Slice:
		return "list of tables"
	case t.Kind() == reflect.Slice:
		return "list of: " + d.typeText(o, t.Elem())
	case o.words != nil:
		text := strings.Join(mapped(o.words, func(word string) string { return code(Quote(word)) }), ", ")
		if o.pathed == pathOrWord {
			text += ", or a path"
		}
		return text
	case d.isText(t) || t.Kind() == reflect.String:
		return "text"
	case t.Kind() == reflect.Bool:
		return "`true` or `false`"
	case t.Kind() == reflect.Float64 || t.Kind() == reflect.Float32:
		return "number"
	}
	return "whole number"
}

func code(text string) string { return "`" + strings.ReplaceAll(text, "|", `\|`) + "`" }

func cell(text string) string { return strings.ReplaceAll(text, "\n", " ") }
