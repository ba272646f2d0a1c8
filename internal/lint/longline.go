package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"unicode/utf8"
)

// mostColumns is the maximum width of a line of Go in columns. A tab counts as tabColumns.
const (
	mostColumns = 120
	tabColumns  = 4
)

// checkLongLines measures the lines of Go files, tests included. Text inside a multi-line raw string does not count: it
// is data, and a line break would change it.
func checkLongLines(tree *Tree) []Finding {
	var found []Finding
	for _, file := range tree.GoFiles() {
		data := file.rawColumns()
		number := 0
		for line := range bytes.Lines(file.Text) {
			number++
			if n := columns(line) - data[number]; n > mostColumns {
				found = append(found, Finding{Path: file.Path, Line: number, Text: tooWide(n)})
			}
		}
	}
	return found
}

// columns returns the width of a line without its line break.
func columns(line []byte) int {
	line = bytes.TrimRight(line, "\r\n")
	return utf8.RuneCount(line) + (tabColumns-1)*bytes.Count(line, []byte{'\t'})
}

// rawColumns returns the number of columns inside multi-line raw strings, by line.
func (f *File) rawColumns() map[int]int {
	taken := map[int]int{}
	ast.Inspect(f.Go.File, func(node ast.Node) bool {
		literal, ok := node.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING || literal.Value[0] != '`' {
			return true
		}
		if text := []byte(literal.Value); bytes.ContainsRune(text, '\n') {
			number := f.line(literal.Pos())
			for line := range bytes.Lines(text) {
				taken[number] += columns(line)
				number++
			}
		}
		return true
	})
	return taken
}

func tooWide(n int) string {
	return fmt.Sprintf("the line has %d columns, the maximum is %d; break it after a comma or an operator", n,
		mostColumns)
}
