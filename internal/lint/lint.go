// Package lint checks rules about the source that no compiler checks. Each rule has its own file, and a test runs all
// of them over the whole tree. Nothing imports it.
//
// A rule reads only syntax, so that all rules together take a second or two and need neither a build nor LibTorch.
package lint

import (
	"cmp"
	"fmt"
	"slices"
)

// Finding is a violation of a rule at a place.
type Finding struct {
	Path string // slash-separated, from the root of the tree
	Line int    // from 1; zero means the file or folder as a whole
	Rule string // name of the rule, set by Check
	Text string // sentence with the violation and the remedy
}

// String formats the finding like a compiler error, so that editors can jump to it.
func (f Finding) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", f.Path, max(f.Line, 1), f.Rule, f.Text)
}

// Rule is a rule about the source.
type Rule struct {
	Name  string // one word, or a few with hyphens
	Check func(*Tree) []Finding
}

// Rules returns all rules. To add one, add a file, a line here and examples for and against it in examples_test.go.
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

// Check runs rules over a tree and returns their findings, by file and line.
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
