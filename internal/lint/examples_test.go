package lint

import (
	"fmt"
	"maps"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// example is a tree of one file and the expected findings of a rule.
type example struct {
	path string // path of the file
	// text of the file; each § is removed, so this test does not contain the words that rules look for. A Go file
	// without a package clause gets one.
	source string
	want   []int // lines of the findings; empty if the file keeps the rule
}

// tree returns the example's tree, a module called graft.
func (e example) tree() *Tree {
	source := strings.ReplaceAll(e.source, "§", "")
	if path.Ext(e.path) == ".go" && !strings.Contains(source, "package ") {
		source = fmt.Sprintf("package %s\n\n%s", path.Base(path.Dir(e.path)), source)
	}
	return NewTree(map[string][]byte{
		"go.mod": []byte("module graft\n\ngo 1.26\n"),
		e.path:   []byte(source),
	})
}

// examples holds examples that keep or break a rule, by rule and description.
var examples = map[string]map[string]example{
	"rooms":         roomExamples,
	"door":          doorExamples,
	"handed-in":     handedInExamples,
	"seam":          seamExamples,
	"flags":         flagExamples,
	"long-function": longFunctionExamples,
	"long-line":     longLineExamples,
	"documented":    documentedExamples,
	"hosts":         hostExamples,
	"machine-paths": machinePathExamples,
	"tickets":       ticketExamples,
	"clauses":       clauseExamples,
	"plain":         plainExamples,
	"gofmt":         gofmtExamples,
	"unfinished":    unfinishedExamples,
}

func TestRulesFindWhatTheyAreFor(t *testing.T) {
	for _, rule := range Rules() {
		for name, e := range examples[rule.Name] {
			t.Run(rule.Name+"/"+name, func(t *testing.T) {
				var lines []int
				var texts []string
				for _, found := range Check(e.tree(), []Rule{rule}) {
					assert.Equal(t, e.path, found.Path)
					assert.Equal(t, rule.Name, found.Rule)
					lines = append(lines, found.Line)
					texts = append(texts, found.String())
				}
				assert.Equal(t, e.want, lines, strings.Join(texts, "\n"))
			})
		}
	}
}

// Every rule has an example that keeps it and one that breaks it. Otherwise the rule is not tested.
func TestEveryRuleHasExamplesForAndAgainstIt(t *testing.T) {
	var names []string
	for _, rule := range Rules() {
		names = append(names, rule.Name)
		var kept, broken int
		for e := range maps.Values(examples[rule.Name]) {
			if len(e.want) > 0 {
				broken++
			} else {
				kept++
			}
		}
		assert.Positive(t, kept, "rule %s has no example that keeps it", rule.Name)
		assert.Positive(t, broken, "rule %s has no example that breaks it", rule.Name)
	}
	for name := range examples {
		assert.Contains(t, names, name, "these examples are of no rule")
	}
}

func TestFindingsAreSortedAndReadable(t *testing.T) {
	tree := NewTree(map[string][]byte{
		"go.mod":      []byte("module graft\n"),
		"vocab/b.go":  []byte("// Package vocab does.\npackage vocab\n\nimport \"C\"\n\nfunc Bare() {}\n"),
		"tracing/a.c": []byte("// FIX" + "ME\n"),
	})
	var lines []string
	for _, found := range Check(tree, Rules()) {
		line := found.String()
		require.Contains(t, line, "; ", "a finding names its remedy")
		lines = append(lines, line[:strings.Index(line, ": ")+2+strings.Index(line[strings.Index(line, ": ")+2:], ":")])
	}
	assert.Equal(t, []string{
		"tracing/a.c:1: unfinished",
		"vocab/b.go:4: door",
		"vocab/b.go:6: documented",
	}, lines)
}
