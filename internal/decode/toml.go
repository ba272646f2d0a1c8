package decode

import (
	"errors"
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// LargestFile is the maximum size, in bytes, of a configuration file.
const LargestFile = 4 << 20

// Limits on TOML documents. The TOML library compares each key with all others of its table and recurses into nested
// values, so the limits are checked before it is called.
const (
	deepestKey   = 100    // parts of a dotted key, including enclosing tables
	mostSiblings = 1000   // different keys of a table
	mostKeys     = 20_000 // different keys of a document; keys of list items count once
)

// TOML reads the document as TOML and records the positions of its keys and values. A returned error has the type
// Faults.
func (d *Document) TOML() (map[string]any, error) {
	if fault, over := d.walkTOML(); over {
		return nil, d.faults(fault)
	}
	var table map[string]any
	if err := toml.Unmarshal([]byte(d.text), &table); err != nil {
		return nil, d.faults(d.tomlFault(err))
	}
	return table, nil
}

func (d *Document) tomlFault(err error) placed {
	text := "invalid TOML: " + strings.TrimPrefix(err.Error(), "toml: ")
	var found *toml.DecodeError
	if !errors.As(err, &found) {
		return placed{span{-1, -1}, text}
	}
	at := d.offset(found.Position())
	return placed{span{at, at + 1}, text}
}

// walkTOML records places, and reports whether the document exceeds a limit. It stops at a syntax error, which the
// library reports.
func (d *Document) walkTOML() (placed, bool) {
	d.places = places{}
	w := &tomlWalk{Document: d, hash: maphash.MakeSeed(), siblings: map[uint64]int{}, seen: map[uint64]bool{},
		tables: map[uint64]int{}}
	w.table = cursor{place: &d.places.root}
	w.parser.Reset([]byte(d.text))
	for w.over == "" && w.parser.NextExpression() {
		w.expression(w.parser.Expression())
	}
	return placed{w.at, w.over}, w.over != ""
}

// cursor is the current table or value of the walk.
type cursor struct {
	*place        // nil beyond the limits on places
	id     uint64 // hash of its path without indices
	depth  int
}

// tomlWalk follows the expressions of a document.
type tomlWalk struct {
	*Document
	parser   unstable.Parser
	hash     maphash.Seed
	table    cursor          // the table of the next keys
	tables   map[uint64]int  // number of [[tables]] by path
	siblings map[uint64]int  // number of different keys by the path of their table
	seen     map[uint64]bool // paths
	over     string          // exceeded limit; empty for none
	at       span            // place of the excess
}

func (w *tomlWalk) expression(node *unstable.Node) {
	switch node.Kind {
	case unstable.KeyValue:
		w.keyValue(w.table, node)
	case unstable.Table, unstable.ArrayTable:
		w.header(node)
	}
}

func (w *tomlWalk) step(c cursor, node *unstable.Node) cursor {
	w.work++
	key, at := string(node.Data), w.span(node)
	next := cursor{w.places.key(c.place, key), maphash.Comparable(w.hash, [2]any{c.id, key}), c.depth + 1}
	next.setKey(at)
	if !w.seen[next.id] {
		w.seen[next.id] = true
		w.siblings[c.id]++
	}
	switch {
	case next.depth > deepestKey:
		w.exceed(at, "a key has more than %d parts", deepestKey)
	case w.siblings[c.id] > mostSiblings:
		w.exceed(at, "a table has more than %d keys", mostSiblings)
	case len(w.seen) > mostKeys:
		w.exceed(at, "the document has more than %d keys", mostKeys)
	}
	return next
}

func (w *tomlWalk) exceed(at span, format string, args ...any) {
	if w.over == "" {
		w.over, w.at = fmt.Sprintf(format, args...), at
	}
}

// header follows the keys of a [table] or [[table]].
func (w *tomlWalk) header(node *unstable.Node) {
	c := cursor{place: &w.places.root}
	for keys := node.Key(); keys.Next() && w.over == ""; {
		c = w.step(c, keys.Node())
		if node.Kind == unstable.ArrayTable && keys.IsLast() {
			w.tables[c.id]++
		}
		if n := w.tables[c.id]; n > 0 {
			c.place = w.places.item(c.place, n-1)
			c.setValue(w.span(keys.Node()))
		}
	}
	w.table = c
}

func (w *tomlWalk) keyValue(c cursor, node *unstable.Node) {
	for keys := node.Key(); keys.Next() && w.over == ""; {
		c = w.step(c, keys.Node())
	}
	w.value(c, node.Value())
}

// value records scalars and the starts of inline tables: the parser does not report the place of an array.
func (w *tomlWalk) value(c cursor, node *unstable.Node) {
	w.work++
	if c.depth > deepestKey {
		w.exceed(w.at, "values are nested more than %d levels deep", deepestKey)
	}
	if w.over != "" {
		return
	}
	if node.Kind != unstable.Array {
		c.setValue(w.span(node))
	}
	k := 0
	for children := node.Children(); children.Next() && w.over == ""; {
		switch child := children.Node(); {
		case child.Kind == unstable.Comment:
		case node.Kind == unstable.InlineTable:
			w.keyValue(c, child)
		case node.Kind == unstable.Array:
			w.value(cursor{w.places.item(c.place, k), c.id, c.depth + 1}, child)
			k++
		}
	}
}

func (w *tomlWalk) span(node *unstable.Node) span {
	start := int(node.Raw.Offset)
	return span{start, start + int(node.Raw.Length)}
}
