package pickle

import (
	"fmt"
	"iter"
)

// Global is the name of a Python class or function in a pickle. The class or function itself is never loaded. The zero
// value has no name.
type Global struct {
	Module, Name string
}

// String returns the dotted name.
func (g Global) String() string { return g.Module + "." + g.Name }

// Tuple is a Python tuple. A nil Tuple is the empty tuple.
type Tuple []any

// List is a Python list. Values contain a *List instead of a List, since a list can contain itself. The zero value is
// an empty list.
type List struct {
	Items []any
}

// Pair is an entry of a Dict. The zero value maps None to None.
type Pair struct {
	Key, Value any
}

// Dict is a Python dict: entries in the order of their first insertion. The zero value is an empty dict, ready to use.
type Dict struct {
	pairs []Pair
	index map[string]int // hash key to position in pairs
	// Ordered reports whether the dict is an OrderedDict in the pickle.
	Ordered bool
	// State is the state that the pickle attached to the object, such as the _metadata of a state dict. Nil means no
	// state.
	State any
	// Replaced counts how often an existing key got a new value. Python does not record this number.
	Replaced int
}

// Len returns the number of entries.
func (d *Dict) Len() int { return len(d.pairs) }

// All yields the entries in insertion order.
func (d *Dict) All() iter.Seq2[any, any] {
	return func(yield func(key, value any) bool) {
		for _, p := range d.pairs {
			if !yield(p.Key, p.Value) {
				return
			}
		}
	}
}

// Get returns the value of a key, and whether the key exists. Keys are compared by Python's rules: 1, 1.0 and True are
// the same key.
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

// Set sets the value of a key. An existing key keeps its position.
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

// Len returns the number of items.
func (s *Set) Len() int { return s.items.Len() }

// Has reports whether an item is in the set.
func (s *Set) Has(item any) bool {
	_, ok := s.items.Get(item)
	return ok
}

// Items returns the items in insertion order.
func (s *Set) Items() []any {
	items := make([]any, 0, s.Len())
	for item := range s.items.All() {
		items = append(items, item)
	}
	return items
}

// Add adds an item to the set. It returns an error for an item that Python cannot hash.
func (s *Set) Add(item any) error { return s.items.Set(item, nil) }

// As returns the argument value as a T, or an error that names both types.
func As[T any](value any) (T, error) {
	v, ok := value.(T)
	if !ok {
		return v, fmt.Errorf("the value is a %T, expected a %T", value, v)
	}
	return v, nil
}

// Field returns the value of a string key as a T. If the key is missing or its value has another type, the error
// names the key.
func Field[T any](d *Dict, key string) (T, error) {
	value, ok := d.Get(key)
	if !ok {
		var zero T
		return zero, fmt.Errorf("the dict has no key %q", key)
	}
	v, err := As[T](value)
	if err != nil {
		return v, fmt.Errorf("value of key %q: %w", key, err)
	}
	return v, nil
}
