// Package comments reads the comments of struct fields, which also describe configuration keys to users.
package comments

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fields returns the comment of each exported struct field of the package in a folder. The map's keys have the form
// Type.Field. Fields without a comment are omitted. Names of other fields in a comment are replaced by their
// configuration keys, which the callback name returns.
func Fields(dir string, name func(field string) string) (map[string]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, fmt.Errorf("read comments: %w", err)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("read comments: no Go file in %s", dir)
	}
	words := map[string]string{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return nil, fmt.Errorf("read comments: %w", err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if spec, ok := node.(*ast.TypeSpec); ok {
				structure(spec, name, words)
			}
			return true
		})
	}
	return words, nil
}

func structure(spec *ast.TypeSpec, name func(string) string, words map[string]string) {
	t, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	called := map[string]string{}
	each := func(visit func(field *ast.Field, n string)) {
		for _, field := range t.Fields.List {
			for _, n := range namesOf(field) {
				if ast.IsExported(n) {
					visit(field, n)
				}
			}
		}
	}
	each(func(_ *ast.Field, n string) { called[n] = name(n) })
	each(func(field *ast.Field, n string) {
		if text := sentences(commentOf(field), n, called); text != "" {
			words[spec.Name.Name+"."+n] = text
		}
	})
}

// namesOf returns the names of a field; an embedded field has the name of its type.
func namesOf(field *ast.Field) []string {
	var names []string
	for _, n := range field.Names {
		names = append(names, n.Name)
	}
	if len(names) > 0 {
		return names
	}
	switch t := field.Type.(type) {
	case *ast.Ident:
		return []string{t.Name}
	case *ast.SelectorExpr:
		return []string{t.Sel.Name}
	}
	return nil
}

// commentOf returns the comment above a field, or the trailing one.
func commentOf(field *ast.Field) string {
	for _, group := range []*ast.CommentGroup{field.Doc, field.Comment} {
		if group != nil {
			return group.Text()
		}
	}
	return ""
}

// acronym matches field names that are separate words, such as GPUs.
var acronym = regexp.MustCompile(`^[A-Z]+s?$`)

var word = regexp.MustCompile(`\b[A-Z][A-Za-z0-9]*\b`)

// qualified matches the words after a field's name that is part of a noun phrase, such as "Devices per node", and not
// the subject of a sentence.
var qualified = regexp.MustCompile(`^(as|at|between|by|for|from|in|of|on|per|that|to|which|with)\b`)

// sentences makes a comment self-contained: on one line, without the field's name at its beginning, with keys in place
// of the names of other fields.
func sentences(comment, field string, called map[string]string) string {
	text := strings.Join(strings.Fields(comment), " ")
	if rest, named := strings.CutPrefix(text, field+" "); named && !qualified.MatchString(rest) {
		text = rest
		for _, verb := range []string{"is ", "are "} {
			text = strings.TrimPrefix(text, verb)
		}
	}
	var b strings.Builder
	at := 0
	for _, m := range word.FindAllStringIndex(text, -1) {
		begins := m[0] == 0 || strings.HasSuffix(text[:m[0]], ". ") // where any word has a capital
		// the name of another's, such as torchvision's RandAugment
		foreign := strings.HasSuffix(text[:m[0]], "'s ")
		if name, known := called[text[m[0]:m[1]]]; known && !begins && !foreign &&
			!acronym.MatchString(text[m[0]:m[1]]) {
			b.WriteString(text[at:m[0]] + name)
			at = m[1]
		}
	}
	return finished(b.String() + text[at:])
}

// finished begins a text with a capital and ends it with a full stop.
func finished(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	text = string(unicode.ToUpper(first)) + text[size:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}
