package config

import (
	"errors"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"graft/model"
)

// readTOML reads a document and notes where its keys and values stand.
func readTOML(d *document) (map[string]any, error) {
	var table map[string]any
	if err := toml.Unmarshal(d.text, &table); err != nil {
		return nil, d.tomlFault(err)
	}
	w := &tomlPlaces{document: d, tables: map[string]int{}}
	w.parser.Reset(d.text)
	for w.parser.NextExpression() {
		w.expression(w.parser.Expression())
	}
	return table, nil
}

// tomlFault is what keeps a document from being TOML.
func (d *document) tomlFault(err error) error {
	text := "this is no TOML: " + strings.TrimPrefix(err.Error(), "toml: ")
	var found *toml.DecodeError
	if !errors.As(err, &found) {
		return Faults{{File: d.file, Text: text}}
	}
	row, column := found.Position()
	line := min(max(row-1, 0), len(d.starts)-1)
	offset := min(d.starts[line]+max(column-1, 0), len(d.text))
	return Faults{d.fault(span{offset, offset + 1}, text)}
}

// tomlPlaces follows the expressions of a document that is known to be TOML.
type tomlPlaces struct {
	*document
	parser unstable.Parser
	table  []any          // that the next keys belong to
	tables map[string]int // how many [[tables]] each path has so far
}

func (w *tomlPlaces) expression(node *unstable.Node) {
	switch node.Kind {
	case unstable.KeyValue:
		w.keyValue(w.table, node)
	case unstable.Table, unstable.ArrayTable:
		w.table = w.header(node)
	}
}

// header follows the keys of a [table] or [[table]].
func (w *tomlPlaces) header(node *unstable.Node) []any {
	var where []any
	for keys := node.Key(); keys.Next(); {
		where = below(where, string(keys.Node().Data))
		at := w.span(keys.Node())
		place(w.keys, where, at)
		path := model.FormPath(where)
		if node.Kind == unstable.ArrayTable && keys.IsLast() {
			w.tables[path]++
		}
		if n := w.tables[path]; n > 0 {
			where = below(where, n-1)
			place(w.values, where, at)
		}
	}
	return where
}

func (w *tomlPlaces) keyValue(table []any, node *unstable.Node) {
	where := table
	for keys := node.Key(); keys.Next(); {
		where = below(where, string(keys.Node().Data))
		place(w.keys, where, w.span(keys.Node()))
	}
	w.value(where, node.Value())
}

// value notes scalars and the beginnings of inline tables: of an array, the parser
// does not say where it stands.
func (w *tomlPlaces) value(where []any, node *unstable.Node) {
	if len(where) > deepestPlace {
		return
	}
	if node.Kind != unstable.Array {
		place(w.values, where, w.span(node))
	}
	k := 0
	for children := node.Children(); children.Next(); {
		switch child := children.Node(); {
		case child.Kind == unstable.Comment:
		case node.Kind == unstable.InlineTable:
			w.keyValue(where, child)
		case node.Kind == unstable.Array:
			w.value(below(where, k), child)
			k++
		}
	}
}

func (w *tomlPlaces) span(node *unstable.Node) span {
	start := int(node.Raw.Offset)
	return span{start, start + int(node.Raw.Length)}
}

// below leads one step further.
func below(where []any, step any) []any { return append(slices.Clone(where), step) }
