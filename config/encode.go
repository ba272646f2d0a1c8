package config

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

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
	writeTable(&b, o, v)
	return b.String()
}

func writeTable(b *strings.Builder, o *outline, v reflect.Value) {
	headed := len(o.path) == 0
	for _, f := range o.fields {
		if f.isTable() {
			continue
		}
		if !headed {
			writeHeader(b, o)
			headed = true
		}
		b.WriteString(tomlNotation.field(model.Field{Key: f.key, Value: plain(v.FieldByIndex(f.index))}, "") + "\n")
	}
	for _, f := range o.fields {
		if f.isTable() {
			writeTable(b, f, v)
		}
	}
}

func writeHeader(b *strings.Builder, o *outline) {
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString("[" + o.name() + "]\n")
}
