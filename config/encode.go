package config

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"graft/model"
)

// plain is a value as a file has it: a text, a number, a list or a table.
func plain(v reflect.Value) any {
	if v.Type() == durationType {
		return durationText(time.Duration(v.Int()))
	}
	if isText(v.Type()) {
		return textOf(v.Interface())
	}
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool()
	case reflect.String:
		return v.String()
	case reflect.Float32, reflect.Float64:
		return json.Number(floatText(v.Float()))
	case reflect.Slice:
		list := make([]any, v.Len())
		for k := range list {
			list[k] = plain(v.Index(k))
		}
		return list
	case reflect.Struct:
		var f model.Form
		for _, field := range outlineOf(v.Type()).fields {
			f = append(f, model.Field{Key: field.key, Value: plain(v.FieldByIndex(field.index))})
		}
		return f
	}
	return json.Number(fmt.Sprint(v.Interface()))
}

// textOf writes what is read as a text.
func textOf(v any) string {
	if m, ok := v.(encoding.TextMarshaler); ok {
		if text, err := m.MarshalText(); err == nil {
			return string(text)
		}
	}
	return fmt.Sprint(v)
}

// floatText always shows that a number is one with a fraction.
func floatText(f float64) string {
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if strings.Trim(text, "-0123456789") == "" {
		text += ".0"
	}
	return text
}

// durationText is a time in seconds where that is short.
func durationText(d time.Duration) string {
	if d%time.Second == 0 && d.Abs() < time.Hour {
		return fmt.Sprintf("%ds", d/time.Second)
	}
	return d.String()
}

// oneLine writes a value without breaking the line.
func oneLine(v any) string {
	switch v := v.(type) {
	case []any:
		items := make([]string, len(v))
		for k, item := range v {
			items[k] = oneLine(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	default:
		return tomlNotation.value(v, "")
	}
}

// layoutStruct writes a struct as a file, each value filled in.
func layoutStruct(o *outline, v reflect.Value) string {
	var b strings.Builder
	writeTable(&b, o, v, func(*outline) {})
	return b.String()
}

// layoutDescribed is layoutStruct with what each table and key is for above it.
func layoutDescribed(o *outline, v reflect.Value) string {
	var b strings.Builder
	writeTable(&b, o, v, func(f *outline) {
		for _, line := range wrapped(f.about(), commentWidth) {
			b.WriteString("# " + line + "\n")
		}
	})
	return b.String()
}

// commentWidth is in characters.
const commentWidth = 86

// wrapped breaks a text into lines.
func wrapped(text string, width int) []string {
	var lines []string
	for word := range strings.FieldsSeq(text) {
		last := len(lines) - 1
		if last < 0 || utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, word)
			continue
		}
		lines[last] += " " + word
	}
	return lines
}

// writeTable writes a table; before is called where it and each of its keys begin.
func writeTable(b *strings.Builder, o *outline, v reflect.Value, before func(*outline)) {
	headed := len(o.path) == 0
	for _, f := range o.fields {
		if f.isTable() {
			continue
		}
		if !headed {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			before(o)
			b.WriteString("[" + o.name() + "]\n")
			headed = true
		}
		before(f)
		b.WriteString(tomlNotation.field(model.Field{Key: f.key, Value: plain(v.FieldByIndex(f.index))}, "") + "\n")
	}
	for _, f := range o.fields {
		if f.isTable() {
			writeTable(b, f, v, before)
		}
	}
}
