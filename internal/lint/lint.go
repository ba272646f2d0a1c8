// Package lint checks rules about the source that no compiler checks. Each rule is a
// file of its own, and a test runs all of them over the whole tree. Nothing imports it.
//
// A rule reads syntax only, so that the whole of it takes a second or two and
// needs neither a build nor LibTorch.
package lint

import (
	"cmp"
	"fmt"
	"slices"
)

// Finding is a place that breaks a rule.
type Finding struct {
	Path string // slash-separated, from the root of the tree
	Line int    // from 1; zero means the file or folder as a whole
	Rule string // name of the rule, filled in by Check
	Text string // a sentence that says what is wrong and what to do about it
}

// String is the finding as compilers print theirs, so that editors can jump to it.
func (f Finding) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", f.Path, max(f.Line, 1), f.Rule, f.Text)
}

// Rule is a rule about the source.
type Rule struct {
	Name  string // one word, or a few with hyphens
	Check func(*Tree) []Finding
}

// Rules returns all of them. A new rule is a new file, a line here and an
// example for and against it in examples_test.go.
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
	}
}

// Check runs rules over a tree and returns what they find, by file and line.
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
