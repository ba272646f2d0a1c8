// Package registry holds lists of named kinds: schedulers, engines, formats, profiles.
package registry

import (
	"fmt"
	"strings"

	"graft/internal/words"
)

// Kind is an entry of a list.
type Kind interface {
	// Listing returns the kind's name in files and commands, and its one-line description, which may be empty.
	Listing() (name, about string)
}

// List holds all kinds of a thing, in the order of help texts and errors.
type List[T Kind] []T

// Names returns the names of all kinds.
func (l List[T]) Names() []string {
	names := make([]string, len(l))
	for k, kind := range l {
		names[k], _ = kind.Listing()
	}
	return names
}

// Find returns the kind with a name; false if there is none.
func (l List[T]) Find(name string) (kind T, found bool) {
	for _, kind := range l {
		if own, _ := kind.Listing(); own == name {
			return kind, true
		}
	}
	return kind, false
}

// Named returns the kind with a name. Its error names what was searched for, such as a scheduler, and lists the names.
func (l List[T]) Named(what, name string) (T, error) {
	kind, found := l.Find(name)
	if !found {
		return kind, fmt.Errorf("unknown %s %q%s; expected one of %s", what, name,
			strings.TrimSuffix(words.Guess(name, l.Names()), "?"), strings.Join(l.Names(), ", "))
	}
	return kind, nil
}
