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

// example is a tree of one file and where rules find something in it.
type example struct {
	path string // of the file; what lies in it is source
	// source is the file's text. A § is taken out of it, so that the words that rules look for do
	// not stand in this test. A Go file that begins without a package clause gets one.
	source string
	want   []int // lines of the findings, none for a file that holds the rule
}

// tree makes the example's tree, which is a module called graft.
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

// examples are, by rule and by what they show, for and against each rule.
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

// A rule that finds nothing anywhere, or something everywhere, holds nothing.
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
