package lint

import (
	"fmt"
	"go/ast"
	"regexp"
	"slices"
)

// laterPattern matches marks of unfinished work.
var laterPattern = regexp.MustCompile(`\b(` + joined("TO", "DO|FIX", "ME|X", "XX") + `)\b`)

// checkUnfinished finds marks of unfinished work, and tests that are skipped without a message: nobody would notice
// that they never run.
func checkUnfinished(tree *Tree) []Finding {
	var found []Finding
	for _, file := range tree.textFiles() {
		found = append(found, matches(file, laterPattern, func(mark string) string {
			return fmt.Sprintf("%s marks unfinished work; finish it, or describe in the text what does not work", mark)
		})...)
	}
	for _, file := range tree.GoFiles() {
		if _, tests := file.Imports()["testing"]; tests {
			found = append(found, silentSkips(file)...)
		}
	}
	return found
}

func silentSkips(file *File) []Finding {
	var found []Finding
	ast.Inspect(file.Go.File, func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok && isSilentSkip(call) {
			found = append(found, file.Finding(call,
				"a test is skipped without a reason; pass a reason that names what to install or set"))
		}
		return true
	})
	return found
}

// isSilentSkip recognises t.Skip(), t.Skip("") and t.SkipNow() by the usual
// names of a test's argument.
func isSilentSkip(call *ast.CallExpr) bool {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	on, ok := selector.X.(*ast.Ident)
	if !ok || !slices.Contains([]string{"t", "b", "f", "tb"}, on.Name) {
		return false
	}
	switch selector.Sel.Name {
	case "SkipNow":
		return true
	case "Skip", "Skipf":
		return len(call.Args) == 0 || isEmptyString(call.Args[0])
	}
	return false
}

func isEmptyString(arg ast.Expr) bool {
	literal, ok := arg.(*ast.BasicLit)
	return ok && (literal.Value == `""` || literal.Value == "``")
}
