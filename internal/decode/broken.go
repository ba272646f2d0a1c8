package decode

import (
	"regexp"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// mostClosing is the maximum number of lines after the last value of an expression to search for its end, such as
// closing brackets.
const mostClosing = 20

// expressionsBefore returns the text up to the end of the last expression before a syntax error.
func (d *Document) expressionsBefore() string {
	count, end := d.expressions(d.text)
	for line := d.line(end) + 1; count > 0 && line < min(len(d.starts), d.line(end)+1+mostClosing); line++ {
		text := d.text[:d.starts[line]]
		if n, _ := d.expressions(text); n == count && toml.Unmarshal([]byte(text), &map[string]any{}) == nil {
			return text
		}
	}
	return ""
}

// expressions counts the expressions before the first syntax error, and returns the offset at which their last name or
// value ends.
func (d *Document) expressions(text string) (count, end int) {
	w := &tomlWalk{Document: d}
	w.parser.Reset([]byte(text))
	for w.parser.NextExpression() {
		count++
		end = max(end, w.lastEnd(w.parser.Expression()))
	}
	return count, end
}

// lastEnd returns the end of the last name or value in a node.
func (w *tomlWalk) lastEnd(node *unstable.Node) int {
	end := w.span(node).end
	for children := node.Children(); children.Next(); {
		end = max(end, w.lastEnd(children.Node()))
	}
	return end
}

var tableHeader = regexp.MustCompile(`(?m)^[ \t]*\[{1,2}[ \t]*([A-Za-z0-9_-]+)`)

// tablesOfBroken returns the keys before a syntax error and the tables of the whole text, which still determine the
// kind of the file.
func (d *Document) tablesOfBroken() map[string]any {
	top, _ := NewDocument(d.file, []byte(d.before)).TOML()
	if top == nil {
		top = map[string]any{}
	}
	for _, found := range tableHeader.FindAllStringSubmatch(d.text, -1) {
		if _, has := top[found[1]]; !has {
			top[found[1]] = map[string]any{}
		}
	}
	return top
}
