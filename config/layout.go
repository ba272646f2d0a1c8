package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"graft/model"
)

// flatList is up to how many characters a list stands on one line.
const flatList = 60

// notation is how TOML and JSON differ in what is laid out alike.
type notation struct {
	key  func(string) string // a key and what follows up to its value
	text func(string) string // a text in quotes
	last string              // what follows a list's last line
}

var (
	tomlNotation = notation{func(key string) string { return key + " = " }, quoteTOML, ","}
	jsonNotation = notation{func(key string) string { return quoteJSON(key) + ": " }, quoteJSON, ""}
)

// layoutTOML is a network's file: a line for each part.
func layoutTOML(f model.Form) string {
	var b strings.Builder
	for k, field := range f {
		if tall(field) && k > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(tomlNotation.field(field, "") + "\n")
	}
	return b.String()
}

// layoutJSON is the same in JSON.
func layoutJSON(f model.Form) string {
	lines := make([]string, len(f))
	for k, field := range f {
		lines[k] = "  " + jsonNotation.field(field, "  ")
	}
	return "{\n" + strings.Join(lines, ",\n") + "\n}\n"
}

// tall says whether a field of the network has a line for each item.
func tall(f model.Field) bool {
	switch f.Key {
	case "layers", "block", "residual", "branches":
		return true
	}
	return false
}

// field is one of the network's own.
func (n notation) field(f model.Field, indent string) string {
	if list, ok := f.Value.([]any); ok && tall(f) {
		return n.key(f.Key) + n.lines(list, indent)
	}
	return n.key(f.Key) + n.value(f.Value, indent)
}

// value is a value that begins somewhere in a line with an indentation.
func (n notation) value(v any, indent string) string {
	switch v := v.(type) {
	case string:
		return n.text(v)
	case model.Form:
		fields := make([]string, len(v))
		for k, field := range v {
			fields[k] = n.key(field.Key) + n.value(field.Value, indent)
		}
		return "{" + strings.Join(fields, ", ") + "}"
	case []any:
		return n.list(v, indent)
	default:
		return fmt.Sprint(v)
	}
}

// list is on one line if it is short.
func (n notation) list(list []any, indent string) string {
	items := make([]string, len(list))
	length := 0
	for k, item := range list {
		items[k] = n.value(item, indent)
		length += len(items[k]) + len(", ")
		if length > flatList || strings.Contains(items[k], "\n") {
			return n.lines(list, indent)
		}
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// lines has one item a line.
func (n notation) lines(list []any, indent string) string {
	if len(list) == 0 {
		return "[]"
	}
	inner := indent + "  "
	items := make([]string, len(list))
	for k, item := range list {
		items[k] = inner + n.value(item, inner)
	}
	return "[\n" + strings.Join(items, ",\n") + n.last + "\n" + indent + "]"
}

// quoteTOML writes a basic string.
func quoteTOML(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// quoteJSON writes a string without hiding < and > as encoding/json does.
func quoteJSON(text string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return strconv.Quote(text) // never: strings can be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}
