package model

import (
	"slices"
	"strings"

	"graft/internal/words"
)

// tableReader reads one container's table.
type tableReader struct {
	*formReader
	table map[string]any
	where []any  // place of the table
	path  string // path of the module
	made  *Container
	index map[string]bool // names of children so far
}

// written returns the key of a kind's parts in a table.
func written(key formKey, table map[string]any) string {
	if _, has := table[key.name]; !has && key.name == "sequence" {
		return "layers" // the network's own table
	}
	return key.name
}

// container reads a container of a kind at a depth.
func (t *tableReader) container(key formKey, depth int) *Container {
	t.made, t.index = &Container{Flow: Flow{Join: key.join}}, map[string]bool{}
	t.made.Mark = t.mark(key)
	name := written(key, t.table)
	if depth > deepestForm {
		t.bad(below(t.where, name), "parts are nested more than %d levels deep", deepestForm)
		return t.made
	}
	if inner, has := t.inner(key); has {
		return t.block(inner, depth)
	}
	body := t.lane(BodyLane, name, depth)
	t.made.Flow.Shortcut = t.lane(ShortcutLane, "shortcut", depth)
	t.made.Flow.Then = t.lane(ThenLane, "then", depth)
	t.register()
	t.made.Flow.Body = append([]string{}, body...)
	return t.made
}

// mark reads the mark, for a block original by default.
func (t *tableReader) mark(key formKey) Mark {
	usual := Unmarked
	if key.name == "block" {
		usual = Original
	}
	text := t.word(t.where, t.table, "mark")
	for _, m := range []Mark{Original, Grown} {
		if text == m.String() {
			return m
		}
	}
	if text != "" {
		t.bad(below(t.where, "mark"), "mark must be %q or %q, got %q%s", Original, Grown, text,
			words.Guess(text, []string{Original.String(), Grown.String()}))
	}
	return usual
}

// inner reads the name of a block's sequence, if it has one.
func (t *tableReader) inner(key formKey) (string, bool) {
	if key.name != "block" {
		return "", false
	}
	value, given := t.table["inner"]
	if !given {
		return usualInner, true
	}
	name, ok := value.(string)
	if !ok {
		t.bad(below(t.where, "inner"), "inner must be a string, got %s", describe(value))
		return usualInner, true
	}
	return name, name != ""
}

// block reads the parts of a block into its sequence.
func (t *tableReader) block(inner string, depth int) *Container {
	for _, key := range []string{"then", "order"} {
		if _, has := t.table[key]; has {
			t.badKey(below(t.where, key),
				"%s is allowed only in a block with inner = \"\", which holds its parts itself", key)
		}
	}
	t.checkName(below(t.where, "inner"), inner)
	place := below(t.where, "block")
	sequence := &tableReader{formReader: t.formReader, path: childPath(t.path, inner), made: &Container{},
		index: map[string]bool{}}
	t.places[sequence.path] = place
	body := sequence.parts(BodyLane, place, t.table["block"], depth)
	sequence.made.Flow.Body = append([]string{}, body...)
	t.made.Children = []Child{{inner, sequence.made}}
	return t.made
}

// lane reads an optional list of parts and returns the names that run.
func (t *tableReader) lane(l Lane, key string, depth int) []string {
	value, given := t.table[key]
	if !given {
		return nil
	}
	return t.parts(l, below(t.where, key), value, depth)
}

func (t *tableReader) parts(l Lane, where []any, value any, depth int) []string {
	list, ok := value.([]any)
	if !ok {
		t.bad(where, "%v must be a list of parts, got %s", where[len(where)-1], describe(value))
	}
	if len(list) > mostInOne {
		t.bad(where, "got %d parts in one list, expected at most %d", len(list), mostInOne)
		return nil
	}
	var run []string
	position := 0
	for k, item := range list {
		name, defines := t.part(below(where, k), item, positioned(l, position), depth)
		if name != "" {
			run = append(run, name)
		}
		if defines {
			position++
		}
	}
	return run
}

// part reads one part, and returns its name and whether it is defined here.
func (t *tableReader) part(where []any, value any, usual string, depth int) (name string, defines bool) {
	if t.count++; t.count > mostParts {
		if t.count == mostParts+1 {
			t.bad(where, "the network has more than %d parts", mostParts)
		}
		return "", true
	}
	switch v := value.(type) {
	case string:
		if steps[v] != nil {
			t.places[childPath(t.path, v)] = where
			return v, false
		}
		t.define(where, usual, t.layer(where, v))
		return usual, true
	case map[string]any:
		if _, uses := v["use"]; uses {
			return t.use(where, v), false
		}
		return t.tablePart(where, v, usual, depth), true
	}
	t.bad(where, "a part must be a layer such as \"ReLU()\" or a table, got %s", describe(value))
	return "", true
}

// layer reads a notation; nil on failure.
func (t *tableReader) layer(where []any, text string) Module {
	l, err := ParseLayer(text)
	if err != nil {
		t.bad(where, "%v", err)
		return nil
	}
	return &Leaf{Layer: l}
}

// tablePart reads a part that is a table, and returns its name.
func (t *tableReader) tablePart(where []any, table map[string]any, usual string, depth int) string {
	name, nameAt := usual, where
	if _, named := table["name"]; named {
		nameAt = below(where, "name")
		if name = t.word(where, table, "name"); name != "" {
			t.checkName(nameAt, name)
		}
	}
	key, ok := t.kindOf(where, table, "sequence", "name", "layer")
	var m Module
	switch {
	case !ok:
	case key.name == "layer":
		if text, isText := table["layer"].(string); isText {
			m = t.layer(below(where, "layer"), text)
		} else {
			t.bad(below(where, "layer"), "layer must be a string such as \"ReLU()\", got %s",
				describe(table["layer"]))
		}
	default:
		inner := &tableReader{formReader: t.formReader, table: table, where: where, path: childPath(t.path, name)}
		c := inner.container(key, depth+1)
		c.Class = t.word(where, table, "class")
		m = c
	}
	if name != "" {
		t.define(nameAt, name, m)
		t.places[childPath(t.path, name)] = below(where, key.name)
	}
	return name
}

// checkName reports an invalid name of a module.
func (t *tableReader) checkName(where []any, name string) {
	switch {
	case steps[name] != nil:
		t.bad(where, "part name %q is reserved for a step without a name", name)
	case strings.ContainsAny(name, ". \t\n"):
		t.bad(where, "part name %q must not contain dots or spaces", name)
	}
}

// define adds a child; without a module it only reserves the name.
func (t *tableReader) define(where []any, name string, m Module) {
	if t.index[name] {
		t.bad(where, "duplicate part name %q; use a different name for each part", name)
		return
	}
	t.index[name] = true
	t.places[childPath(t.path, name)] = where
	if m != nil {
		t.made.Children = append(t.made.Children, Child{name, m})
	}
}

// use reads a part that runs again, and returns its name.
func (t *tableReader) use(where []any, table map[string]any) string {
	t.unknownKeys(where, table, formKey{name: "use"}, []string{"use", "name", "layer"})
	for _, key := range []string{"name", "layer"} {
		if _, has := table[key]; has {
			t.badKey(below(where, key), "%s is not allowed together with the key use, which runs an existing part", key)
		}
	}
	name, where := t.word(where, table, "use"), below(where, "use")
	switch m := t.made.Child(name); {
	case name == "":
	case !t.index[name]:
		t.bad(where, "no earlier part of this container is named %q%s", name, words.Guess(name, t.sorted()))
	case m != nil && hasWeights(m):
		t.bad(where, "%q has weights, but only parts without weights may run more than once", name)
	}
	return name
}

func (t *tableReader) sorted() []string {
	var list []string
	for name := range t.index {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// register puts children into the optional order of the table.
func (t *tableReader) register() {
	value, given := t.table["order"]
	if !given {
		return
	}
	where := below(t.where, "order")
	list, ok := value.([]any)
	if !ok {
		t.bad(where, "order must be a list of names, got %s", describe(value))
		return
	}
	rank := map[string]int{}
	for k, item := range list {
		name, ok := item.(string)
		_, twice := rank[name]
		switch {
		case !ok:
			t.bad(below(where, k), "order must contain names, got %s", describe(item))
		case !t.index[name]:
			t.bad(below(where, k), "order contains %q, which is not a part of this container%s", name,
				words.Guess(name, t.sorted()))
		case twice:
			t.bad(below(where, k), "order contains %q twice", name)
		}
		rank[name] = k
	}
	for _, name := range t.sorted() {
		if _, has := rank[name]; !has {
			t.bad(where, "order does not contain %q", name)
		}
	}
	slices.SortStableFunc(t.made.Children, func(a, b Child) int { return rank[a.Name] - rank[b.Name] })
}
