package lint

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
)

// longest is the maximum number of lines of a function, from its first line to its closing brace. Ten are good, forty
// are many.
const longest = 100

// checkLongFunctions measures functions of Go, C and C++, tests included.
func checkLongFunctions(tree *Tree) []Finding {
	var found []Finding
	for _, file := range tree.Files {
		switch {
		case file.Go != nil:
			found = append(found, longInGo(file)...)
		case slices.Contains([]string{".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp"}, path.Ext(file.Path)):
			found = append(found, longInC(file)...)
		}
	}
	return found
}

// longInGo checks named functions, and functions in package variables; any other function is inside one of these.
func longInGo(file *File) []Finding {
	var found []Finding
	ast.Inspect(file.Go.File, func(node ast.Node) bool {
		name := "a function literal"
		switch function := node.(type) {
		case *ast.FuncDecl:
			name = function.Name.Name
		case *ast.FuncLit:
		default:
			return true
		}
		lines := file.line(node.End()) - file.line(node.Pos()) + 1
		if lines > longest {
			found = append(found, file.Finding(node, tooLong(name, lines)))
		}
		return false
	})
	return found
}

// longInC checks blocks that follow a parameter list.
func longInC(file *File) []Finding {
	var found []Finding
	for _, function := range scanC(file.Text) {
		if lines := function.last - function.first + 1; lines > longest {
			found = append(found, Finding{Path: file.Path, Line: function.first, Text: tooLong("a function", lines)})
		}
	}
	return found
}

func tooLong(name string, lines int) string {
	return fmt.Sprintf("%s has %d lines, the maximum is %d; split it into named steps", name, lines, longest)
}
