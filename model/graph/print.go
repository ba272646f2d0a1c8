package graph

import (
	"fmt"
	"strings"
)

// String returns the modules as PyTorch prints the network.
func (g *Graph) String() string {
	children := map[string][]int{}
	for k, m := range g.Modules {
		if m.Path != "" {
			parent, _ := splitPath(m.Path)
			children[parent] = append(children[parent], k)
		}
	}
	if len(g.Modules) == 0 {
		return g.Name + "()"
	}
	return g.printModule(0, children)
}

// splitPath splits a path into the parent's path and the child's name.
func splitPath(path string) (parent, name string) {
	at := strings.LastIndexByte(path, '.')
	return path[:max(at, 0)], path[at+1:]
}

// printModule is Module.__repr__ of torch/nn/modules/module.py.
func (g *Graph) printModule(k int, children map[string][]int) string {
	m := g.Modules[k]
	if m.Print != "" {
		return m.Print
	}
	var lines []string
	if m.Extra != "" {
		lines = strings.Split(m.Extra, "\n")
	}
	extra := len(lines)
	if m.Folds {
		lines = append(lines, g.foldedLines(children[m.Path], children)...)
	} else {
		for _, child := range children[m.Path] {
			_, name := splitPath(g.Modules[child].Path)
			lines = append(lines, "("+name+"): "+indent(g.printModule(child, children)))
		}
	}
	switch {
	case len(lines) == 0:
		return m.Class + "()"
	case len(lines) == 1 && extra == 1:
		return m.Class + "(" + lines[0] + ")"
	}
	return m.Class + "(\n  " + strings.Join(lines, "\n  ") + "\n)"
}

// foldedLines is ModuleList.__repr__ of torch/nn/modules/container.py: a run of equal children is one line.
func (g *Graph) foldedLines(list []int, children map[string][]int) []string {
	var lines []string
	for start := 0; start < len(list); {
		text := g.printModule(list[start], children)
		end := start
		for end+1 < len(list) && g.printModule(list[end+1], children) == text {
			end++
		}
		head := fmt.Sprintf("(%d): ", start)
		if end > start {
			head = fmt.Sprintf("(%d-%d): %d x ", start, end, end-start+1)
		}
		lines = append(lines, indent(head+text))
		start = end + 1
	}
	return lines
}

// indent indents all lines except the first.
func indent(text string) string { return strings.ReplaceAll(text, "\n", "\n  ") }
