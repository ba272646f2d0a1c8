package decode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// flatList is the maximum length in characters of a list on one line.
const flatList = 60

// notation holds the differences between TOML and JSON.
type notation struct {
	key  func(string) string // writes a key up to its value
	text func(string) string // writes a quoted text
	last string              // text after the last line of a list
	tall func(string) bool   // reports keys whose lists have a line per item
}

var (
	noneTall     = func(string) bool { return false }
	tomlNotation = notation{func(key string) string { return key + " = " }, Quote, ",", noneTall}
	jsonNotation = notation{func(key string) string { return quoteJSON(key) + ": " }, quoteJSON, "", noneTall}
)

// FormatTOML writes a table as a TOML document. If the function tall returns true for a key, the key's list is written
// with one item per line, after an empty line.
func FormatTOML(t Table, tall func(key string) bool) string {
	n := tomlNotation
	n.tall = tall
	var b strings.Builder
	for k, e := range t {
		if tall(e.Key) && k > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(n.entry(e, "") + "\n")
	}
	return b.String()
}

// FormatJSON writes a table as a JSON document. If the function tall returns true for a key, the key's list is written
// with one item per line.
func FormatJSON(t Table, tall func(key string) bool) string {
	n := jsonNotation
	n.tall = tall
	lines := mapped(t, func(e Entry) string { return "  " + n.entry(e, "  ") })
	return "{\n" + strings.Join(lines, ",\n") + "\n}\n"
}

func mapped[A, B any](list []A, of func(A) B) []B {
	made := make([]B, len(list))
	for k, v := range list {
		made[k] = of(v)
	}
	return made
}

// OneLine formats a value in TOML on one line.
func OneLine(v any) string {
	switch v := v.(type) {
	case []any:
		return "[" + strings.Join(mapped(v, OneLine), ", ") + "]"
	case Table:
		return "{" + strings.Join(mapped(v, func(e Entry) string { return tomlNotation.key(e.Key) + OneLine(e.Value) }),
			", ") + "}"
	}
	return tomlNotation.value(v, "")
}

func (n notation) entry(e Entry, indent string) string {
	if list, ok := e.Value.([]any); ok && n.tall(e.Key) {
		return n.key(e.Key) + n.lines(list, indent)
	}
	return n.key(e.Key) + n.value(e.Value, indent)
}

func (n notation) value(v any, indent string) string {
	switch v := v.(type) {
	case string:
		return n.text(v)
	case Table:
		fields := mapped(v, func(e Entry) string { return n.key(e.Key) + n.value(e.Value, indent) })
		return "{" + strings.Join(fields, ", ") + "}"
	case []any:
		return n.list(v, indent)
	default:
		return fmt.Sprint(v)
	}
}

// list writes a list on one line if it is short.
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

// lines writes a list with one item per line.
func (n notation) lines(list []any, indent string) string {
	if len(list) == 0 {
		return "[]"
	}
	inner := indent + "  "
	items := mapped(list, func(item any) string { return inner + n.value(item, inner) })
	return "[\n" + strings.Join(items, ",\n") + n.last + "\n" + indent + "]"
}

// Quote formats text as a TOML basic string.
func Quote(text string) string {
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

// quoteJSON writes a string without escaping < and > as encoding/json does.
func quoteJSON(text string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return strconv.Quote(text) // unreachable: every string can be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}
