package decode

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Table is a table in a document, with its keys in order.
type Table []Entry

// Entry is a key and its value, which is a string, a bool, an int64, a json.Number, a Table or a []any with values of
// these types.
type Entry struct {
	Key   string
	Value any
}

// plain converts a value to the form in a document.
func (d *Dialect) plain(v reflect.Value) any {
	if v.Type() == durationType {
		return DurationText(time.Duration(v.Int()))
	}
	if d.isText(v.Type()) {
		return textOf(v.Interface())
	}
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool()
	case reflect.String:
		return v.String()
	case reflect.Float32, reflect.Float64:
		return json.Number(FloatText(v.Float()))
	case reflect.Slice:
		list := make([]any, v.Len())
		for k := range list {
			list[k] = d.plain(v.Index(k))
		}
		return list
	case reflect.Struct:
		var t Table
		for _, field := range d.Outline(v.Type()).Fields {
			t = append(t, Entry{field.Key, d.plain(v.FieldByIndex(field.index))})
		}
		return t
	}
	return json.Number(fmt.Sprint(v.Interface()))
}

// Text formats a value of any type that an option struct can hold, on one line.
func (d *Dialect) Text(v any) string { return OneLine(d.plain(reflect.ValueOf(v))) }

// textOf formats a value that is written as text.
func textOf(v any) string {
	if m, ok := v.(encoding.TextMarshaler); ok {
		if text, err := m.MarshalText(); err == nil {
			return string(text)
		}
	}
	return fmt.Sprint(v)
}

func unordered(v any) any {
	switch v := v.(type) {
	case Table:
		m := make(map[string]any, len(v))
		for _, e := range v {
			m[e.Key] = unordered(e.Value)
		}
		return m
	case []any:
		return mapped(v, unordered)
	}
	return v
}

// FloatText formats a number, always with a decimal point or an exponent.
func FloatText(f float64) string {
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if strings.Trim(text, "-0123456789") == "" {
		text += ".0"
	}
	return text
}

// DurationText formats a duration. A whole number of seconds below one hour is written in seconds, such as 90s; any
// other duration has the format of time.Duration.String, such as 1h30m0s.
func DurationText(d time.Duration) string {
	if d%time.Second == 0 && d.Abs() < time.Hour {
		return fmt.Sprintf("%ds", d/time.Second)
	}
	return d.String()
}
