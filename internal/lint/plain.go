package lint

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// plainPattern matches words that stand in place of a noun, a number or a common verb. Readers have to decode them.
var plainPattern = regexp.MustCompile(`\b(?:those (?:of|in|with|which|who)|that of|so many|anew|mend(?:s|ed)?|` +
	`go(?:es)? on|went on|but for|likewise|has seen|is none of|are those)\b`)

// commentText matches a comment, also one behind code.
var commentText = regexp.MustCompile(`(?:^|\s)// (.*)$`)

// checkPlain finds such words in comments and texts of the program, outside of tests, and in documentation.
func checkPlain(tree *Tree) []Finding {
	var found []Finding
	for _, file := range tree.GoFiles() {
		if !file.IsTest() && file.Dir() != "internal/lint" {
			found = append(append(found, plainComments(file)...), plainTexts(file)...)
		}
	}
	for _, file := range tree.textFiles() {
		if path.Ext(file.Path) == ".md" && path.Base(file.Path) != "CHANGELOG.md" {
			found = append(found, plainPage(file)...)
		}
	}
	return found
}

func plainComments(file *File) []Finding {
	var found []Finding
	for line, text := range file.lines() {
		if comment := commentText.FindStringSubmatch(text); comment != nil {
			found = append(found, undecoded(file, line, "comment", comment[1])...)
		}
	}
	return found
}

// plainTexts checks string literals of three words or more.
func plainTexts(file *File) []Finding {
	var found []Finding
	ast.Inspect(file.Go.File, func(node ast.Node) bool {
		literal, ok := node.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		if text, err := strconv.Unquote(literal.Value); err == nil && len(strings.Fields(text)) >= 3 {
			found = append(found, undecoded(file, file.line(literal.Pos()), "text", text)...)
		}
		return true
	})
	return found
}

// plainPage checks a page outside of its code blocks.
func plainPage(file *File) []Finding {
	var found []Finding
	code := false
	for line, text := range file.lines() {
		if strings.HasPrefix(strings.TrimSpace(text), "```") {
			code = !code
		} else if !code {
			found = append(found, undecoded(file, line, "page", text)...)
		}
	}
	return found
}

func undecoded(file *File, line int, where, text string) []Finding {
	words := plainPattern.FindString(text)
	if words == "" {
		return nil
	}
	return []Finding{{Path: file.Path, Line: line, Text: "the " + where + " says \"" + words +
		"\"; name the thing, the number or the action"}}
}
