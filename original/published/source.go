// Package published reads run folders that were published with the original system: configurations, policies and
// tables.
package published

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"graft/internal/decode"
)

// Source is a configuration file of the original system: its keys in order, their positions, and the errors that were
// found in the file.
type Source struct {
	*decode.Document
	Keys   map[string]any // values, by section and key
	Order  []string       // names of the keys, in the order of the file
	Faults []decode.Problem

	table map[string]any
}

// NewSource reads the text of a configuration file of the original system. The error wraps decode.Faults.
func NewSource(path string, text []byte) (*Source, error) {
	doc := decode.NewDocument(path, text)
	table, err := doc.LooseTOML()
	if err != nil {
		return nil, err
	}
	c := &Source{Document: doc, table: table, Keys: map[string]any{}}
	c.flatten()
	return c, nil
}

// Located returns the recorded errors with their line numbers, or nil if there are none.
func (c *Source) Located() error { return c.Locate(c.Faults) }

// flatten lists the keys of the file, sections and keys joined by a dot.
func (c *Source) flatten() {
	at := map[string]int{}
	note := func(name string, where []any, value any) {
		c.Keys[name] = value
		c.Order = append(c.Order, name)
		start, _, _ := c.Span(decode.Problem{Where: where, Key: true})
		at[name] = start
	}
	for section, value := range c.table {
		table, ok := value.(map[string]any)
		if !ok || section == "optimizer_args" {
			note(section, []any{section}, value)
			continue
		}
		for key, value := range table {
			note(section+"."+key, []any{section, key}, value)
		}
	}
	slices.SortFunc(c.Order, func(a, b string) int { return cmp.Or(cmp.Compare(at[a], at[b]), strings.Compare(a, b)) })
}

// Require records an error for each of the given keys that the file lacks.
func (c *Source) Require(keys []string) {
	for _, key := range keys {
		if _, has := c.Keys[key]; !has {
			c.Faults = append(c.Faults,
				decode.Problem{Text: "not a file of the original system: it has no " + key})
		}
	}
}

// Fault records an error at a key.
func (c *Source) Fault(key, format string, args ...any) {
	var where []any
	for step := range strings.SplitSeq(key, ".") {
		where = append(where, step)
	}
	c.Faults = append(c.Faults, decode.Problem{Where: where, Text: key + " " + fmt.Sprintf(format, args...)})
}

// Number converts a value to a finite number, and reports whether that was possible.
func Number(value any) (float64, bool) {
	switch v := value.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	return 0, false
}

// mostCounted is above every count in a file of the original's.
const mostCounted = 1 << 20

// Take stores the value of a key, if the file contains it, in the variable that the last argument points to.
func (c *Source) Take(key string, to any) {
	value, given := c.Keys[key]
	if !given {
		return
	}
	ok := false
	wants := "a string"
	switch to := to.(type) {
	case *string:
		*to, ok = value.(string)
	case *int64:
		wants = "a whole number"
		*to, ok = value.(int64)
	case *int:
		var n int64
		wants = "a whole number above 0"
		n, ok = value.(int64)
		ok = ok && n > 0 && n <= mostCounted
		*to = int(n)
	case *float64:
		wants = "a number of seconds"
		*to, ok = Number(value)
		ok = ok && *to >= 0
	}
	if !ok {
		c.Fault(key, "must be %s, got %s", wants, decode.Describe(value))
	}
}
