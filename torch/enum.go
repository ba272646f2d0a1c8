package torch

import (
	"fmt"
	"strings"
)

// enum holds the names of a type's values in files, from the zero value on. An empty name is not listed.
type enum[T ~int] struct {
	noun  string
	names []string
}

// list returns the names that unmarshal accepts.
func (e enum[T]) list() []string {
	if e.names[0] == "" {
		return append([]string{}, e.names[1:]...)
	}
	return append([]string{}, e.names...)
}

// text returns the name of a value, for people.
func (e enum[T]) text(v T) string {
	if v < 0 || int(v) >= len(e.names) {
		return fmt.Sprintf("%s %d", e.noun, int(v))
	}
	if e.names[v] == "" {
		return "none"
	}
	return e.names[v]
}

func (e enum[T]) marshal(v T) ([]byte, error) {
	if v < 0 || int(v) >= len(e.names) {
		return nil, fmt.Errorf("unknown %s %d", e.noun, int(v))
	}
	return []byte(e.names[v]), nil
}

// unmarshal parses a name; the empty name means the zero value.
func (e enum[T]) unmarshal(v *T, text []byte) error {
	for known, name := range e.names {
		if name == string(text) || known == 0 && len(text) == 0 {
			*v = T(known)
			return nil
		}
	}
	return fmt.Errorf("unknown %s %q; expected one of: %s", e.noun, text, strings.Join(e.list(), ", "))
}
