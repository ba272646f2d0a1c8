package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"graft/internal/words"
	"graft/model/graph"
	"graft/model/transformer"
)

const (
	deepestForm = 32      // nesting of parts
	mostParts   = 100_000 // parts in a network
	mostInOne   = 10_000  // parts in one list, since checking takes quadratic time
)

// FromForm creates a network from the content of a network file, which is called a form. The network has no tensors
// yet. A returned error has the type FormFaults. It lists all errors in the form or, if there are none, the errors that
// Check finds.
func FromForm(form map[string]any) (*Network, error) {
	if isGraphForm(form) {
		read := graph.FromForm
		if transformer.IsForm(form) {
			read = transformer.FromForm
		}
		g, err := read(form)
		if err != nil {
			return nil, err
		}
		return FromGraph(g)
	}
	r := &formReader{places: map[string][]any{}}
	n := r.network(form)
	if len(r.faults) > 0 {
		return nil, r.faults
	}
	if err := n.Check(); err != nil {
		return nil, r.translate(err)
	}
	tidy(n)
	return n, nil
}

// tidy removes each body that equals its default. Explicit bodies make the check of long
// containers faster.
func tidy(n *Network) {
	n.Walk(func(_ string, m Module) bool {
		if c, ok := m.(*Container); ok {
			given := c.Flow.Body
			if c.Flow.Body = nil; !slices.Equal(c.body(), given) {
				c.Flow.Body = given
			}
		}
		return true
	})
}

// formReader continues after faults and collects them.
type formReader struct {
	faults FormFaults
	places map[string][]any // place in the form of each module, by path
	count  int              // parts so far
}

func (r *formReader) bad(where []any, format string, args ...any) {
	r.faults = append(r.faults, FormFault{Where: where, Text: fmt.Sprintf(format, args...)})
}

// badKey reports a fault of a key itself.
func (r *formReader) badKey(where []any, format string, args ...any) {
	r.bad(where, format, args...)
	r.faults[len(r.faults)-1].Key = true
}

// below appends a step to a place.
func below(where []any, step any) []any { return append(slices.Clone(where), step) }

// translate converts faults of a network to faults of the form.
func (r *formReader) translate(err error) error {
	var found Faults
	if !errors.As(err, &found) {
		return FormFaults{{Where: r.places[""], Text: err.Error()}}
	}
	faults := make(FormFaults, len(found))
	for k, fault := range found {
		text := fault.Text
		if fault.Path != "" {
			text = fault.Path + ": " + text
		}
		faults[k] = FormFault{Where: r.place(fault.Path), Text: text}
	}
	return faults
}

// place returns the place of a module, or of its nearest enclosing module.
func (r *formReader) place(path string) []any {
	for {
		if where, ok := r.places[path]; ok || path == "" {
			return where
		}
		path = path[:max(strings.LastIndex(path, "."), 0)]
	}
}

// network reads the top of a form.
func (r *formReader) network(form map[string]any) *Network {
	n := &Network{}
	for _, key := range []string{"class", "sequence"} {
		if _, has := form[key]; has {
			r.badKey([]any{key}, "unknown key %s in a network; use %s", key,
				map[string]string{"class": "name", "sequence": "layers"}[key])
		}
	}
	table := maps.Clone(form)
	maps.DeleteFunc(table, func(key string, _ any) bool { return key == "class" || key == "sequence" })
	n.Input = r.input(form)
	key, ok := r.kindOf(nil, table, "layers", "name", "input")
	if !ok {
		return n
	}
	t := &tableReader{formReader: r, table: table}
	t.places[""] = []any{written(key, table)}
	n.Root = t.container(key, 1)
	n.Root.Class = r.word(nil, form, "name")
	return n
}

// input reads the sizes of an example.
func (r *formReader) input(form map[string]any) Shape {
	where := []any{"input"}
	const wanted = "the sizes of an example: [channels, height, width], or [features]"
	value, given := form["input"]
	if !given {
		r.bad(nil, "input is missing; expected %s", wanted)
		return nil
	}
	list, ok := value.([]any)
	if !ok || len(list) != 1 && len(list) != 3 {
		r.bad(where, "input must be %s", wanted)
		return nil
	}
	var shape Shape
	for k, item := range list {
		n, ok := integer(item)
		if !ok || n < 1 || n > largestSize {
			r.bad(below(where, k), "a size must be an integer from 1 to %d, got %s", largestSize, describe(item))
		}
		shape = append(shape, n)
	}
	return shape
}

// integer converts a whole number from TOML or JSON.
func integer(value any) (int, bool) {
	switch v := value.(type) {
	case int:
		return v, true
	case int64:
		return int(v), true
	case float64:
		return int(v), v == float64(int(v)) && v > -1<<53 && v < 1<<53
	case json.Number:
		n, err := v.Int64()
		return int(n), err == nil
	}
	return 0, false
}

// describe names an unexpected value.
func describe(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("the string %q", v)
	case bool, int, int64, float64, json.Number:
		return fmt.Sprint(v)
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	default:
		return "a date or time"
	}
}

// word reads an optional text, which must not be empty.
func (r *formReader) word(where []any, table map[string]any, key string) string {
	value, given := table[key]
	if !given {
		return ""
	}
	text, ok := value.(string)
	if !ok {
		r.bad(below(where, key), "%s must be a string, got %s", key, describe(value))
	} else if text == "" {
		r.bad(below(where, key), "%s is empty; remove the key or set a value", key)
	}
	return text
}

// kindOf finds the key of a table's parts, and reports keys that neither the kind nor also allows.
func (r *formReader) kindOf(where []any, table map[string]any, chain string, also ...string) (formKey, bool) {
	var given []string
	choices := []string{chain}
	for _, k := range formKeys[1:] {
		choices = append(choices, k.name)
	}
	if slices.Contains(also, "layer") {
		choices = append([]string{"layer"}, choices...)
	}
	for _, choice := range choices {
		if _, has := table[choice]; has {
			given = append(given, choice)
		}
	}
	if len(given) > 1 {
		r.badKey(below(where, given[1]), "%s and %s are both given, but only one of %s is allowed", given[1], given[0],
			either(choices))
		return formKey{}, false
	}
	key := formKey{}
	if len(given) == 1 {
		key = formKey{name: given[0]}
		if k := slices.IndexFunc(formKeys,
			func(k formKey) bool { return k.name == given[0] || given[0] == chain && k.name == "sequence" }); k >= 0 {
			key = formKeys[k]
		}
	}
	known := r.unknownKeys(where, table, key, append(slices.Clone(also), choices...))
	if len(given) == 0 && known {
		r.bad(where, "one of %s is missing", either(choices))
	}
	return key, len(given) == 1
}

func either(choices []string) string {
	last := len(choices) - 1
	return strings.Join(choices[:last], ", ") + " or " + choices[last]
}

// unknownKeys reports keys that a kind does not allow, and returns whether all keys are allowed. For an unknown kind,
// keys of all kinds are allowed.
func (r *formReader) unknownKeys(where []any, table map[string]any, kind formKey, known []string) bool {
	before := len(r.faults)
	known = append(known, kind.with...)
	all := slices.Clone(known)
	for _, k := range formKeys {
		all = append(all, k.with...)
	}
	owner := "part"
	if len(where) == 0 {
		owner = "network"
	}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		switch {
		case slices.Contains(known, key) || kind.name == "" && slices.Contains(all, key):
		case slices.Contains(all, key):
			r.badKey(below(where, key), "%s is not allowed in %s%s", key, written(kind, table), remedy(key, kind.name))
		default:
			r.badKey(below(where, key), "unknown key %q in a %s%s", key, owner, words.Guess(key, all))
		}
	}
	return len(r.faults) == before
}

// remedy suggests a replacement for a key that a kind does not allow.
func remedy(key, kind string) string {
	switch {
	case key == "mark" && kind == "sequence":
		return "; use a block, which is a sequence with a mark"
	case key == "shortcut":
		return "; only a residual has a shortcut"
	case key == "inner":
		return "; only a block has inner"
	}
	return ""
}
