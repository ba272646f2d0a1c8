package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
)

// Patterns that find flags in texts: commandPattern matches a quoted command, which can contain flags, and flagPattern
// matches a flag outside of a command.
var (
	commandPattern = regexp.MustCompile(`'graft [^']*'`)
	flagPattern    = regexp.MustCompile(`(?:^|["\x60 (])(--[a-z-]+)(?:[^a-z=-]|$)`)
)

// checkFlags finds errors below runner that name a flag, which the caller of a library does not have.
func checkFlags(tree *Tree) []Finding {
	var found []Finding
	for _, file := range tree.GoFiles() {
		if file.IsTest() || isProgram(file) || file.Dir() == "internal/lint" {
			continue
		}
		ast.Inspect(file.Go.File, func(node ast.Node) bool {
			if text, ok := errorText(node); ok {
				if m := flagPattern.FindStringSubmatch(commandPattern.ReplaceAllString(text.Value, "")); m != nil {
					found = append(found, file.Finding(text, fmt.Sprintf("an error names the flag %s; "+
						"write option %s, which runner prints as the flag", m[1], m[1][2:])))
				}
			}
			return true
		})
	}
	return found
}

// errorText returns the literal of a call that makes an error.
func errorText(node ast.Node) (*ast.BasicLit, bool) {
	call, ok := node.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return nil, false
	}
	made, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || made.Sel.Name != "Errorf" && made.Sel.Name != "Usagef" && made.Sel.Name != "New" {
		return nil, false
	}
	text, ok := call.Args[0].(*ast.BasicLit)
	return text, ok && text.Kind == token.STRING
}
