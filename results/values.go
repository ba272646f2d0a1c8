package results

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// Kind names the type of a column's values. The zero value is Float.
type Kind int

// Types of values.
const (
	Float  Kind = iota // float64 or float32; both are stored as float64
	Int                // int64
	String             // text without line breaks
	Bool               // true or false
)

// String returns the name of the kind. The name is empty for an unknown kind.
func (k Kind) String() string {
	return map[Kind]string{Float: "float", Int: "int", String: "string", Bool: "bool"}[k]
}

// cell is a parsed value of a table.
type cell struct {
	kind    Kind
	missing bool
	bits    uint64 // of a number or bool
	text    string // of a string
}

// formatRow formats a row as a line with a line break.
func formatRow(columns []Column, values []any) ([]byte, error) {
	if len(values) != len(columns) {
		return nil, fmt.Errorf("expected %d values, got %d", len(columns), len(values))
	}
	var line []byte
	for k, c := range columns {
		if k > 0 {
			line = append(line, ',')
		}
		var err error
		if line, err = appendCell(line, c.Kind, values[k]); err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
	}
	return append(line, '\n'), nil
}

// appendCell appends one value. Named types count as their underlying type.
func appendCell(line []byte, kind Kind, value any) ([]byte, error) {
	if value == nil {
		return line, nil
	}
	v := reflect.ValueOf(value)
	switch {
	case kind == Int && v.CanInt():
		return strconv.AppendInt(line, v.Int(), 10), nil
	case kind == Int && v.CanUint() && v.Uint() <= math.MaxInt64:
		return strconv.AppendUint(line, v.Uint(), 10), nil
	case kind == Float && v.CanFloat():
		return appendFloat(line, v.Float()), nil
	case kind == Bool && v.Kind() == reflect.Bool:
		return strconv.AppendBool(line, v.Bool()), nil
	case kind == String && v.Kind() == reflect.String:
		return appendText(line, v.String())
	}
	return nil, fmt.Errorf("value %v has type %T, expected kind %s", value, value, kind)
}

// appendFloat appends the shortest text that reads back as the same bits and does not look like an int.
func appendFloat(line []byte, f float64) []byte {
	start := len(line)
	line = strconv.AppendFloat(line, f, 'g', -1, 64)
	if !strings.ContainsAny(string(line[start:]), ".eNI") {
		line = append(line, ".0"...)
	}
	return line
}

func appendText(line []byte, text string) ([]byte, error) {
	if strings.ContainsAny(text, "\r\n") {
		return nil, fmt.Errorf("text %.100q contains a line break; write multi-line text to a log", text)
	}
	line = append(line, '"')
	line = append(line, strings.ReplaceAll(text, `"`, `""`)...)
	return append(line, '"'), nil
}

// parseRow reads a line without its end; it appends to cells.
func parseRow(line string, cells []cell) ([]cell, error) {
	for {
		c, rest, err := parseCell(line)
		if err != nil {
			return nil, fmt.Errorf("column %d: %w", len(cells)+1, err)
		}
		cells = append(cells, c)
		if rest == "" {
			return cells, nil
		}
		line = rest[1:] // after the comma
	}
}

// parseCell parses the first value of a line; the rest is empty or begins with a comma.
func parseCell(line string) (cell, string, error) {
	if strings.HasPrefix(line, `"`) {
		return parseText(line)
	}
	end := strings.IndexByte(line, ',')
	if end < 0 {
		end = len(line)
	}
	c, err := parseBare(line[:end])
	return c, line[end:], err
}

// parseBare reads a value that has no quotes.
func parseBare(text string) (cell, error) {
	switch text {
	case "":
		return cell{missing: true}, nil
	case "true":
		return cell{kind: Bool, bits: 1}, nil
	case "false":
		return cell{kind: Bool}, nil
	}
	if strings.Trim(text, "-0123456789") == "" {
		i, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return cell{}, fmt.Errorf("%.100q is not a 64-bit integer", text)
		}
		return cell{kind: Int, bits: uint64(i)}, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.ContainsAny(text, "xXpP_") {
		return cell{}, fmt.Errorf("%.100q is not a number; text must be in quotes", text)
	}
	return cell{kind: Float, bits: math.Float64bits(f)}, nil
}

// parseText reads a value in quotes.
func parseText(line string) (cell, string, error) {
	var text strings.Builder
	for rest := line[1:]; ; {
		before, after, closed := strings.Cut(rest, `"`)
		if !closed {
			return cell{}, "", errors.New("a quote is not closed")
		}
		text.WriteString(before)
		if !strings.HasPrefix(after, `"`) {
			if after != "" && after[0] != ',' {
				return cell{}, "", errors.New("expected a comma after a closing quote")
			}
			return cell{kind: String, text: text.String()}, after, nil
		}
		text.WriteByte('"')
		rest = after[1:]
	}
}
