package graph

import (
	"fmt"
	"slices"
	"strings"
)

// Reprint updates the text that PyTorch prints for each module whose attributes, such as sizes, have changed since an
// earlier graph. The callback maps the path of a module in this graph to its path in the earlier graph.
func (g *Graph) Reprint(before *Graph, was func(path string) string) {
	now, then := newRecoverer(g, nil), newRecoverer(before, nil)
	for k := range g.Modules {
		m := &g.Modules[k]
		write := prints[m.Class]
		if write == nil {
			continue
		}
		if old, fresh := write(then, was(m.Path)), write(now, m.Path); old != fresh {
			m.Extra = reprinted(m.Extra, old, fresh)
		}
	}
}

// reprinted changes the items of a module's text that differ between the texts old and fresh. A version of PyTorch
// may print other items than old has, so items with a key are found by their key, and the others by their place.
func reprinted(text, old, fresh string) string {
	if text == old {
		return fresh
	}
	items, from, to := textItems(text), textItems(old), textItems(fresh)
	if len(from) != len(to) {
		return text
	}
	for k := range from {
		at := k
		if strings.Contains(from[k], "=") {
			at = slices.Index(items, from[k])
		}
		if at >= 0 && at < len(items) && items[at] == from[k] {
			items[at] = to[k]
		}
	}
	return strings.Join(items, ", ")
}

// textItems splits a module's text at the commas outside of parentheses.
func textItems(text string) (items []string) {
	depth, from := 0, 0
	for k, c := range text {
		switch c {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if depth == 0 && strings.HasPrefix(text[k:], ", ") {
				items, from = append(items, text[from:k]), k+2
			}
		}
	}
	return append(items, text[from:])
}

// Unprinted returns a line with the shape of each tensor that the printed text of its module does not determine, such
// as a tensor of a class of the user.
func (g *Graph) Unprinted() (lines []string) {
	r, printed := newRecoverer(g, nil), map[string]bool{}
	for _, m := range g.Modules {
		if write := prints[m.Class]; write != nil && m.Print == "" {
			printed[m.Path] = states(m.Extra, write(r, m.Path))
		}
	}
	for _, t := range g.Tensors {
		if t.Tied == "" && !printed[parentOf(t.Name)] {
			lines = append(lines, fmt.Sprintf("%s %v", t.Name, t.Shape))
		}
	}
	return lines
}

// states reports whether a module's text has the items of the text that its tensors and operators determine. Versions
// of PyTorch before 2.15 do not print whether a normalisation has a bias.
func states(text, determined string) bool {
	items := textItems(text)
	for k, item := range textItems(determined) {
		has := k < len(items) && items[k] == item
		if strings.Contains(item, "=") {
			has = slices.Contains(items, item) || strings.HasPrefix(item, "bias=")
		}
		if !has {
			return false
		}
	}
	return determined != ""
}
