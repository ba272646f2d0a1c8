package pickle

import (
	"fmt"
	"iter"
)

// Global is a Python class or function; it is named but never resolved. The zero value has no name.
type Global struct {
	Module, Name string
}

// String is the dotted name.
func (g Global) String() string { return g.Module + "." + g.Name }

// Tuple is a Python tuple. A nil Tuple is the empty one.
type Tuple []any

// List is a Python list. Values hold it as a pointer, since a list may contain itself. The zero value is an empty list.
type List struct {
	Items []any
}

// Pair holds an entry of a Dict. The zero value maps None to None.
type Pair struct {
	Key, Value any
}

// Dict is a Python dict: entries in the order of their first insertion. The zero value is an empty dict, ready to use.
type Dict struct {
	pairs []Pair
	index map[string]int // hash key to position in pairs
	// Ordered means that the dict was, or must be written as, an OrderedDict.
	Ordered bool
	// State is the state that the pickle attached to the object, such as the _metadata of a state dict. Nil if there is
	// none.
	State any
	// Replaced counts how often an existing key got a new value, which leaves no trace in Python.
	Replaced int
}

// Len is the number of entries.
func (d *Dict) Len() int { return len(d.pairs) }

// All yields the entries in order.
func (d *Dict) All() iter.Seq2[any, any] {
	return func(yield func(key, value any) bool) {
		for _, p := range d.pairs {
			if !yield(p.Key, p.Value) {
				return
			}
		}
	}
}

// Get returns the value of a key, and whether there is one. Keys are equal as in Python: 1, 1.0 and True are the same
// key.
func (d *Dict) Get(key any) (any, bool) {
	hash, err := hashKey(key)
	if err != nil {
		return nil, false
	}
	at, ok := d.index[hash]
	if !ok {
		return nil, false
	}
	return d.pairs[at].Value, true
}

// Set sets the value of a key. An existing key keeps its place.
func (d *Dict) Set(key, value any) error {
	hash, err := hashKey(key)
	if err != nil {
		return err
	}
	d.set(hash, key, value)
	return nil
}

func (d *Dict) set(hash string, key, value any) {
	if at, ok := d.index[hash]; ok {
		d.pairs[at].Value = value
		d.Replaced++
		return
	}
	if d.index == nil {
		d.index = make(map[string]int)
	}
	d.index[hash] = len(d.pairs)
	d.pairs = append(d.pairs, Pair{key, value})
}

// Set is a Python set or frozenset, in insertion order. The zero value is an empty set.
type Set struct {
	items  Dict
	Frozen bool
}

// Len is the number of items.
func (s *Set) Len() int { return s.items.Len() }

// Has reports whether an item is in the set.
func (s *Set) Has(item any) bool {
	_, ok := s.items.Get(item)
	return ok
}

// Items returns the items in order.
func (s *Set) Items() []any {
	items := make([]any, 0, s.Len())
	for item := range s.items.All() {
		items = append(items, item)
	}
	return items
}

// Add puts an item into the set.
func (s *Set) Add(item any) error { return s.items.Set(item, nil) }

// As returns value as a T, or an error that names both types.
func As[T any](value any) (T, error) {
	v, ok := value.(T)
	if !ok {
		return v, fmt.Errorf("the value is a %T, expected a %T", value, v)
	}
	return v, nil
}

// Field returns the value of a string key as a T, or an error that names the key.
func Field[T any](d *Dict, key string) (T, error) {
	value, ok := d.Get(key)
	if !ok {
		var zero T
		return zero, fmt.Errorf("the dict has no key %q", key)
	}
	v, err := As[T](value)
	if err != nil {
		return v, fmt.Errorf("under key %q: %w", key, err)
	}
	return v, nil
}
