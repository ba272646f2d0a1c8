package graph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"graft/model/form"
	"graft/torch/weights"
)

// The form of a graph is the content of its network file as plain values. It has the keys name (the class), input (a
// table with value, dtype and shape, whose sizes are numbers or texts such as "batch=4"), output (a value), more_inputs
// and more_outputs (lists, if there are several), modules (tables with path, class, extra, print and folds), tensors
// (tables with name, role, dtype, shape and tied) and operators (the notations of the nodes).

// Form returns the content of a network file that describes the graph, without its weights.
func (g *Graph) Form() form.Form {
	modules, tensors, operators := []any{}, []any{}, []any{}
	for _, m := range g.Modules {
		modules = append(modules, m.form())
	}
	for _, t := range g.Tensors {
		tensors = append(tensors, t.form())
	}
	for _, n := range g.Nodes {
		operators = append(operators, n.String())
	}
	f := form.Form{{Key: "name", Value: g.Name}, {Key: "input", Value: g.Input.form()},
		{Key: "output", Value: string(g.Output)}}
	return append(append(f, g.moreForm()...), form.Form{{Key: "modules", Value: modules},
		{Key: "tensors", Value: tensors}, {Key: "operators", Value: operators}}...)
}

// moreForm has the further inputs and outputs, if there are any.
func (g *Graph) moreForm() (f form.Form) {
	inputs, outputs := []any{}, []any{}
	for _, in := range g.MoreInputs {
		inputs = append(inputs, in.form())
	}
	for _, v := range g.MoreOutputs {
		outputs = append(outputs, string(v))
	}
	if len(inputs) > 0 {
		f = append(f, form.Field{Key: "more_inputs", Value: inputs})
	}
	if len(outputs) > 0 {
		f = append(f, form.Field{Key: "more_outputs", Value: outputs})
	}
	return f
}

func (in Input) form() form.Form {
	sizes := []any{}
	for _, size := range in.Shape {
		if size.Name == "" {
			sizes = append(sizes, size.N)
		} else {
			sizes = append(sizes, size.String())
		}
	}
	return form.Form{{Key: "value", Value: string(in.Value)}, {Key: "dtype", Value: in.DType.String()},
		{Key: "shape", Value: sizes}}
}

func (m Module) form() form.Form {
	f := form.Form{{Key: "path", Value: m.Path}, {Key: "class", Value: m.Class}}
	for key, text := range map[string]string{"extra": m.Extra, "print": m.Print} {
		if text != "" {
			f = append(f, form.Field{Key: key, Value: text})
		}
	}
	if m.Folds {
		f = append(f, form.Field{Key: "folds", Value: true})
	}
	slices.SortStableFunc(f[2:], func(a, b form.Field) int { return strings.Compare(a.Key, b.Key) })
	return f
}

func (t Tensor) form() form.Form {
	shape := []any{}
	for _, size := range t.Shape {
		shape = append(shape, size)
	}
	f := form.Form{{Key: "name", Value: t.Name}, {Key: "role", Value: string(t.Role)},
		{Key: "dtype", Value: t.DType.String()}, {Key: "shape", Value: shape}}
	for _, field := range []form.Field{{Key: "tied", Value: t.Tied}, {Key: "init", Value: t.Init}} {
		if field.Value != "" {
			f = append(f, field)
		}
	}
	return f
}

// FromForm creates a graph from the content of a network file. A returned error has the type form.Faults.
func FromForm(table map[string]any) (*Graph, error) {
	r := &formReader{}
	g := &Graph{Name: r.text(table, "name"), Output: Value(r.text(table, "output"))}
	r.known(table, "name", "input", "output", "more_inputs", "more_outputs", "modules", "tensors", "operators")
	if input, ok := table["input"].(map[string]any); ok {
		r.inside("input", func() { g.Input = r.input(input) })
	} else {
		r.bad("input", "must be a table with value, dtype and shape")
	}
	r.tables(table, "more_inputs", func(t map[string]any) { g.MoreInputs = append(g.MoreInputs, r.input(t)) })
	r.each(table, "more_outputs", func(value any) {
		text, ok := value.(string)
		if !ok {
			r.bad("", "must be the name of a value")
		}
		g.MoreOutputs = append(g.MoreOutputs, Value(text))
	})
	r.tables(table, "modules", func(t map[string]any) { g.Modules = append(g.Modules, r.module(t)) })
	r.tables(table, "tensors", func(t map[string]any) { g.Tensors = append(g.Tensors, r.tensor(t)) })
	r.each(table, "operators", func(value any) {
		text, ok := value.(string)
		n, err := ParseNode(text)
		if !ok || err != nil {
			r.bad("", "not an operator: %v", err)
		}
		g.Nodes = append(g.Nodes, n)
	})
	if len(r.faults) > 0 {
		return nil, r.faults
	}
	if err := g.Check(); err != nil {
		return nil, form.Faults{{Text: err.Error()}}
	}
	return g, nil
}

// formReader continues after faults and collects them.
type formReader struct {
	faults form.Faults
	where  []any
}

// bad reports a fault of a key; the empty key means the place itself.
func (r *formReader) bad(key, format string, args ...any) {
	where := slices.Clone(r.where)
	if key != "" {
		where = append(where, key)
	}
	if len(r.faults) < mostFaults {
		r.faults = append(r.faults, form.Fault{Where: where, Text: fmt.Sprintf(format, args...)})
	}
}

// inside runs read at a nested place.
func (r *formReader) inside(step any, read func()) {
	was := r.where
	r.where = append(slices.Clone(was), step)
	read()
	r.where = was
}

func (r *formReader) known(table map[string]any, keys ...string) {
	for key := range table {
		if !slices.Contains(keys, key) {
			r.bad(key, "unknown key; expected one of: %s", strings.Join(keys, ", "))
		}
	}
}

func (r *formReader) text(table map[string]any, key string) string {
	value, given := table[key]
	text, ok := value.(string)
	if given && !ok {
		r.bad(key, "must be a string")
	}
	return text
}

func (r *formReader) each(table map[string]any, key string, read func(any)) {
	list, ok := table[key].([]any)
	if !ok && table[key] != nil {
		r.bad(key, "must be a list")
	}
	r.inside(key, func() {
		for k, value := range list {
			r.inside(k, func() { read(value) })
		}
	})
}

func (r *formReader) tables(table map[string]any, key string, read func(map[string]any)) {
	r.each(table, key, func(value any) {
		t, ok := value.(map[string]any)
		if !ok {
			r.bad("", "must be a table")
			return
		}
		read(t)
	})
}

func (r *formReader) dtype(table map[string]any) (d weights.DType) {
	if err := d.UnmarshalText([]byte(r.text(table, "dtype"))); err != nil {
		r.bad("dtype", "%v", err)
	}
	return d
}

func (r *formReader) input(t map[string]any) Input {
	r.known(t, "value", "dtype", "shape")
	in := Input{Value: Value(r.text(t, "value")), DType: r.dtype(t)}
	r.each(t, "shape", func(value any) {
		text, named := value.(string)
		if !named {
			in.Shape = append(in.Shape, Size{N: r.whole(value)})
			return
		}
		name, number, _ := strings.Cut(text, "=")
		n, err := strconv.Atoi(number)
		if err != nil || name == "" {
			r.bad("", "a size must be an integer or a string such as \"batch=4\"")
		}
		in.Shape = append(in.Shape, Size{Name: name, N: n})
	})
	return in
}

func (r *formReader) module(t map[string]any) Module {
	r.known(t, "path", "class", "extra", "print", "folds")
	m := Module{Path: r.text(t, "path"), Class: r.text(t, "class"), Extra: r.text(t, "extra"),
		Print: r.text(t, "print")}
	folds, given := t["folds"]
	if m.Folds, _ = folds.(bool); given && !m.Folds {
		r.bad("folds", "must be true or missing")
	}
	return m
}

func (r *formReader) tensor(t map[string]any) Tensor {
	r.known(t, "name", "role", "dtype", "shape", "tied", "init")
	out := Tensor{Init: r.text(t, "init"), Name: r.text(t, "name"), Role: Role(r.text(t, "role")), DType: r.dtype(t),
		Tied: r.text(t, "tied")}
	r.each(t, "shape", func(value any) { out.Shape = append(out.Shape, r.whole(value)) })
	return out
}

// whole reads a whole number of TOML or JSON.
func (r *formReader) whole(value any) int {
	switch v := value.(type) {
	case int:
		return v
	case int64:
		return int(v)
	case float64:
		if v == float64(int32(v)) {
			return int(v)
		}
	}
	r.bad("", "must be an integer")
	return 0
}
