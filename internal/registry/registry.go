// Package registry holds lists of named variants, such as schedulers, engines, formats and profiles.
package registry

import (
	"fmt"
	"strings"

	"graft/internal/words"
)

// Kind is an entry of a List: one of the named alternatives of a configuration key or an argument.
type Kind interface {
	// Listing returns the name of the kind in files and commands, and a one-line description, which can be empty.
	Listing() (name, about string)
}

// List holds all alternatives of a key or an argument, in the order in which help texts and errors list them.
type List[T Kind] []T

// Names returns the names of all kinds.
func (l List[T]) Names() []string {
	names := make([]string, len(l))
	for k, kind := range l {
		names[k], _ = kind.Listing()
	}
	return names
}

// Find returns the kind with the given name, and whether it exists.
func (l List[T]) Find(name string) (kind T, found bool) {
	for _, kind := range l {
		if own, _ := kind.Listing(); own == name {
			return kind, true
		}
	}
	return kind, false
}

// Named returns the kind with the given name. For an unknown name, the error lists the valid names and says what was
// expected, such as "a scheduler".
func (l List[T]) Named(what, name string) (T, error) {
	kind, found := l.Find(name)
	if !found {
		return kind, fmt.Errorf("unknown %s %q%s; expected one of: %s", what, name,
			strings.TrimSuffix(words.Guess(name, l.Names()), "?"), strings.Join(l.Names(), ", "))
	}
	return kind, nil
}
