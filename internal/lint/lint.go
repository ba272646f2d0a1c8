// Package lint checks rules about the source code that no compiler checks. Each rule has its own file, and a test
// applies all rules to the whole source tree. No other package imports it.
//
// Rules read only syntax, so all of them together take a second or two and need neither a build nor LibTorch.
package lint

import (
	"cmp"
	"fmt"
	"slices"
)

// Finding is a violation of a rule, with its file and line.
type Finding struct {
	Path string // path of the file, slash-separated, from the root of the tree
	Line int    // line, from 1; zero means the whole file or folder
	Rule string // name of the violated rule, set by Check
	Text string // sentence that describes the violation and the remedy
}

// String formats the finding like a compiler error, so that editors can jump to it.
func (f Finding) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", f.Path, max(f.Line, 1), f.Rule, f.Text)
}

// Rule checks that the source code follows a convention.
type Rule struct {
	Name  string // name of the rule: one word, or a few with hyphens
	Check func(*Tree) []Finding
}

// Rules returns all rules that the source code must follow. A new rule needs a file of its own, a line here, and
// examples in examples_test.go of code that follows it and of code that violates it.
func Rules() []Rule {
	return []Rule{
		{"rooms", checkRooms},
		{"door", checkDoor},
		{"handed-in", checkHandedIn},
		{"seam", checkSeam},
		{"flags", checkFlags},
		{"long-function", checkLongFunctions},
		{"long-line", checkLongLines},
		{"documented", checkDocumented},
		{"hosts", checkHosts},
		{"machine-paths", checkMachinePaths},
		{"tickets", checkTickets},
		{"gofmt", checkGofmt},
		{"unfinished", checkUnfinished},
		{"clauses", checkClauses},
		{"plain", checkPlain},
	}
}

// Check applies rules to a tree and returns their findings, sorted by file and line.
func Check(tree *Tree, rules []Rule) []Finding {
	var all []Finding
	for _, rule := range rules {
		for _, found := range rule.Check(tree) {
			found.Rule = rule.Name
			all = append(all, found)
		}
	}
	slices.SortFunc(all, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Text, b.Text),
		)
	})
	return slices.Compact(all)
}
