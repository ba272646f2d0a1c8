package decode

import (
	"reflect"
	"strings"
	"unicode/utf8"
)

// Resolved returns a TOML document that contains every value of a struct. Reading the document produces the same
// struct.
func (d *Dialect) Resolved(target any) string {
	return d.print(target, func(*Outline) string { return "" })
}

// Described returns the same document as Resolved, with a descriptive comment above each table and key.
func (d *Dialect) Described(target any) string {
	return d.print(target, func(o *Outline) string {
		var b strings.Builder
		for _, line := range Wrapped(o.About()) {
			b.WriteString("# " + line + "\n")
		}
		return b.String()
	})
}

func (d *Dialect) print(target any, above func(*Outline) string) string {
	o, v := d.of(target)
	var b strings.Builder
	d.printTable(&b, o, v, above)
	return b.String()
}

// printTable writes a table, with text above it and above each of its keys.
func (d *Dialect) printTable(b *strings.Builder, o *Outline, v reflect.Value, above func(*Outline) string) {
	headed := len(o.Path) == 0
	for _, f := range o.Fields {
		if f.IsTable() {
			continue
		}
		if !headed {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(above(o) + "[" + o.Name() + "]\n")
			headed = true
		}
		b.WriteString(above(f) + tomlNotation.entry(Entry{f.Key, d.plain(v.FieldByIndex(f.index))}, "") + "\n")
	}
	for _, f := range o.Fields {
		if f.IsTable() {
			d.printTable(b, f, v, above)
		}
	}
}

// commentWidth is in characters.
const commentWidth = 86

// Wrapped breaks text into lines that are short enough for a comment in a configuration file.
func Wrapped(text string) []string {
	var lines []string
	for word := range strings.FieldsSeq(text) {
		last := len(lines) - 1
		if last < 0 || utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(word) > commentWidth {
			lines = append(lines, word)
			continue
		}
		lines[last] += " " + word
	}
	return lines
}
