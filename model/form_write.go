package model

import "slices"

// Form returns the content of a network file that describes the network, without its weights. If Check finds no error
// in this network, FromForm creates an equal network from this form.
func (n *Network) Form() Form {
	if n.Graph != nil {
		return n.Graph.Form()
	}
	var f Form
	if n.Root.Class != "" {
		f = append(f, Field{Key: "name", Value: n.Root.Class})
	}
	sizes := make([]any, len(n.Input))
	for k, size := range n.Input {
		sizes[k] = size
	}
	f = append(f, Field{Key: "input", Value: sizes})
	return append(f, partsFields(n.Root, "layers")...)
}

// partsFields returns the fields of a container's table except name and class. Chain is the key for the parts of a
// plain chain.
func partsFields(c *Container, chain string) Form {
	w := &lister{container: c, seen: map[string]bool{}}
	var f Form
	key := chain
	switch {
	case c.Flow.Join == Chain && c.Mark != Unmarked:
		key = "block"
		if c.Mark != Original {
			f = append(f, Field{Key: "mark", Value: c.Mark.String()})
		}
		if inner, name := innerOf(c); inner != nil {
			if name != usualInner {
				f = append(f, Field{Key: "inner", Value: name})
			}
			w = &lister{container: inner, seen: map[string]bool{}}
			return append(f, Field{Key: key, Value: w.list(BodyLane)})
		}
		f = append(f, Field{Key: "inner", Value: ""})
	case c.Flow.Join != Chain:
		key = formKeys[slices.IndexFunc(formKeys, func(k formKey) bool { return k.join == c.Flow.Join })].name
		if c.Mark != Unmarked {
			f = append(f, Field{Key: "mark", Value: c.Mark.String()})
		}
	}
	f = append(f, Field{Key: key, Value: w.list(BodyLane)})
	if len(c.Flow.Shortcut) > 0 {
		f = append(f, Field{Key: "shortcut", Value: w.list(ShortcutLane)})
	}
	if len(c.Flow.Then) > 0 {
		f = append(f, Field{Key: "then", Value: w.list(ThenLane)})
	}
	if !w.registered() {
		f = append(f, Field{Key: "order", Value: names(c)})
	}
	return f
}

// innerOf returns the only sequence of a block, and its name; nil if the block's table could not distinguish its parts
// from the block's own.
func innerOf(c *Container) (*Container, string) {
	if len(c.Children) != 1 || c.Flow.Shortcut != nil || len(c.Flow.Then) > 0 || len(c.body()) != 1 {
		return nil, ""
	}
	inner, ok := c.Children[0].Module.(*Container)
	name := c.Children[0].Name
	if !ok || name == "" || inner.Class != "" || inner.Mark != Unmarked || inner.Flow.Join != Chain ||
		len(inner.Flow.Then) > 0 {
		return nil, ""
	}
	w := &lister{container: inner, seen: map[string]bool{}}
	if w.list(BodyLane); !w.registered() {
		return nil, ""
	}
	return inner, name
}

func names(c *Container) []any {
	list := make([]any, len(c.Children))
	for k, child := range c.Children {
		list[k] = child.Name
	}
	return list
}

// lister lists a container's lanes: a part at its first run, a use of it at later runs.
type lister struct {
	container *Container
	seen      map[string]bool
	defined   []any // names in the order of definition
}

func (w *lister) list(l Lane) []any {
	list := []any{}
	position := 0
	for _, name := range lane(w.container, l) {
		m := w.container.Child(name)
		switch {
		case m == nil && steps[name] != nil:
			list = append(list, name)
		case m == nil || w.seen[name]:
			list = append(list, Form{{Key: "use", Value: name}})
		default:
			list = append(list, partForm(m, name, positioned(l, position)))
			w.seen[name] = true
			w.defined = append(w.defined, name)
			position++
		}
	}
	return list
}

// registered reports whether the order of definition equals the order of registration.
func (w *lister) registered() bool { return slices.Equal(w.defined, names(w.container)) }

// partForm returns a layer's notation, or a table if the notation is not enough.
func partForm(m Module, name, usual string) any {
	var f Form
	if name != usual {
		f = append(f, Field{Key: "name", Value: name})
	}
	switch m := m.(type) {
	case *Leaf:
		notation := Notation(m.Layer)
		if f == nil {
			return notation
		}
		f = append(f, Field{Key: "layer", Value: notation})
	case *Container:
		if m.Class != "" {
			f = append(f, Field{Key: "class", Value: m.Class})
		}
		f = append(f, partsFields(m, "sequence")...)
	}
	return f
}
