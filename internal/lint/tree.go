package lint

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Tree is the source tree that rules check: every text file, with Go files parsed.
type Tree struct {
	Module string  // path of the Go module, read from go.mod
	Files  []*File // all text files, sorted by path
}

// File is a text file of the source tree.
type File struct {
	Path string // path of the file, slash-separated, from the root of the tree
	Text []byte
	Go   *GoFile // syntax of a Go file; nil for any other file, and for a file that does not parse
}

// GoFile holds the syntax tree of a Go file.
type GoFile struct {
	*ast.File
	fset *token.FileSet
}

// NewTree parses files, given as a map from paths to contents. Files that are not text are skipped.
func NewTree(contents map[string][]byte) *Tree {
	tree := &Tree{Module: moduleOf(contents["go.mod"])}
	fset := token.NewFileSet()
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		if text := contents[name]; isText(text) {
			tree.Files = append(tree.Files, newFile(fset, name, text))
		}
	}
	return tree
}

// moduleOf reads the module's path from go.mod.
func moduleOf(gomod []byte) string {
	for line := range strings.Lines(string(gomod)) {
		if name, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(name)
		}
	}
	return ""
}

// isText reports whether a file is UTF-8 without a zero byte. A large file is judged by its start, which may end within
// a character.
func isText(text []byte) bool {
	const enough = 8 << 10
	if len(text) > enough {
		text = text[:enough]
		for len(text) > enough-utf8.UTFMax && !utf8.Valid(text) {
			text = text[:len(text)-1]
		}
	}
	return bytes.IndexByte(text, 0) < 0 && utf8.Valid(text)
}

// newFile parses a Go file. The gofmt rule reports a file that does not parse.
func newFile(fset *token.FileSet, name string, text []byte) *File {
	file := &File{Path: name, Text: text}
	if path.Ext(name) != ".go" {
		return file
	}
	parsed, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err == nil {
		file.Go = &GoFile{File: parsed, fset: fset}
	}
	return file
}

// GoFiles returns the files that parse as Go.
func (t *Tree) GoFiles() []*File {
	return slices.DeleteFunc(slices.Clone(t.Files), func(f *File) bool { return f.Go == nil })
}

// Dir returns the folder of the file, or "." for the root.
func (f *File) Dir() string { return path.Dir(f.Path) }

// Room returns the first part of the file's path: the top-level folder of its package.
func (f *File) Room() string {
	room, _, _ := strings.Cut(f.Path, "/")
	return room
}

// IsTest reports whether only tests use the file.
func (f *File) IsTest() bool {
	return strings.HasSuffix(f.Path, "_test.go") || slices.Contains(strings.Split(f.Path, "/"), "testdata")
}

// Finding returns a finding with the given text at a node of a Go file.
func (f *File) Finding(at ast.Node, text string) Finding {
	return Finding{Path: f.Path, Line: f.line(at.Pos()), Text: text}
}

func (f *File) line(at token.Pos) int { return f.Go.fset.Position(at).Line }

// Imports returns the import specs of a Go file, by imported path.
func (f *File) Imports() map[string]*ast.ImportSpec {
	imports := make(map[string]*ast.ImportSpec)
	for _, spec := range f.Go.File.Imports {
		if name, err := strconv.Unquote(spec.Path.Value); err == nil {
			imports[name] = spec
		}
	}
	return imports
}
