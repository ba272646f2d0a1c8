// Package form holds the content of a network file as plain values, and the faults in it.
package form

import (
	"fmt"
	"strconv"
	"strings"
)

// Form is a table in a network file, with its keys in the order in which they are written. The zero Form is an empty
// table.
type Form []Field

// Field is a key with its value. The value is a string, an int, a Form or an []any of these.
type Field struct {
	Key   string
	Value any
}

// Plain converts the form to nested maps and lists, as an encoder of JSON or TOML expects.
func (f Form) Plain() map[string]any {
	table := make(map[string]any, len(f))
	for _, field := range f {
		table[field.Key] = plain(field.Value)
	}
	return table
}

func plain(value any) any {
	switch v := value.(type) {
	case Form:
		return v.Plain()
	case []any:
		list := make([]any, len(v))
		for k := range v {
			list[k] = plain(v[k])
		}
		return list
	}
	return value
}

// Fault is an error in the content of a network file.
type Fault struct {
	Where []any // keys (string) and indexes (int) that lead to the fault; empty for the whole form
	Key   bool  // the key itself is at fault, not its value
	Text  string
}

// Path formats Where as text, such as layers[2].block[0].
func (f Fault) Path() string { return Path(f.Where) }

// Path formats keys and indices as a unique string.
func Path(where []any) string {
	var b strings.Builder
	for _, step := range where {
		if k, ok := step.(int); ok {
			fmt.Fprintf(&b, "[%d]", k)
			continue
		}
		key := step.(string)
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		if strings.Trim(key, "abcdefghijklmnopqrstuvwxyz") != "" || key == "" {
			key = strconv.Quote(key)
		}
		b.WriteString(key)
	}
	return b.String()
}

// Faults lists all errors in the content of a network file. Faults is never empty when it is returned as an error.
type Faults []Fault

// Error lists the errors, one per line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for k, fault := range f {
		if lines[k] = fault.Text; len(fault.Where) > 0 {
			lines[k] = fault.Path() + ": " + fault.Text
		}
	}
	return strings.Join(lines, "\n")
}
