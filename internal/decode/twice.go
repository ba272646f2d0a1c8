package decode

import (
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Limits on how often a document is read again after a duplicate key.
const (
	mostTwice   = 20       // number of readings
	mostReadFor = 32 << 20 // total bytes
)

// LooseTOML works like the method TOML, but continues after duplicate keys: it keeps the first occurrence of a key,
// and Locate reports the others. A returned error has the type Faults.
func (d *Document) LooseTOML() (map[string]any, error) {
	whole := d.text
	defer func() { d.text = whole }()
	for {
		if fault, over := d.walkTOML(); over {
			return nil, d.faults(fault)
		}
		var table map[string]any
		err := toml.Unmarshal([]byte(d.text), &table)
		if err == nil {
			return table, nil
		}
		again := len(d.twice) < mostTwice && len(d.twice)*len(d.text) < mostReadFor
		if !again || !d.passOver(err) {
			d.before = d.expressionsBefore()
			return nil, d.faults(d.tomlFault(err))
		}
	}
}

// passOver blanks the expression of a duplicate key; false if the error has another reason.
func (d *Document) passOver(err error) bool {
	var found *toml.DecodeError
	if !errors.As(err, &found) || len(found.Key()) == 0 {
		return false
	}
	offset := d.offset(found.Position())
	from, to, name := d.expressionAt(offset)
	text := strings.TrimPrefix(found.Error(), "toml: ")
	if strings.HasSuffix(text, "already defined") || strings.HasSuffix(text, "already exists") {
		text = strings.Join(found.Key(), ".") + " is given twice"
	}
	d.repeated(name, text)
	blank := []byte(d.text[from:to])
	for k, c := range blank {
		if c != '\n' {
			blank[k] = ' '
		}
	}
	before := d.text
	d.text = d.text[:from] + string(blank) + d.text[to:]
	return d.text != before
}

// expressionAt returns the lines of the key, or of the table with all its keys, around an offset, and the place of its
// name.
func (d *Document) expressionAt(offset int) (from, to int, name span) {
	from, to = 0, len(d.text)
	table := false
	w := &tomlWalk{Document: d}
	w.parser.Reset([]byte(d.text))
	for w.parser.NextExpression() {
		node := w.parser.Expression()
		keys := node.Key()
		keys.Next()
		at := w.span(keys.Node())
		for keys.Next() {
			at.end = w.span(keys.Node()).end
		}
		header := node.Kind != unstable.KeyValue
		if at.start > offset && (header || !table) {
			return from, d.starts[d.line(at.start)], name
		}
		if at.start <= offset {
			from, name, table = d.starts[d.line(at.start)], at, header
		}
	}
	return from, to, name
}
