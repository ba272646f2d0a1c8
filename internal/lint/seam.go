package lint

import (
	"go/ast"
	"path"
	"slices"
	"strings"
)

// seamBans are functions that access files, entropy and terminals directly.
var seamBans = map[string]ban{
	"os": {names: []string{"Chdir", "Chmod", "Chown*", "Chtimes", "CopyFS", "Create*", "DirFS", "Lchown", "Link",
		"Lstat", "Mkdir*", "Open*", "ReadDir", "ReadFile", "Readlink", "Remove*", "Rename", "Root", "Stat", "Stdin",
		"Symlink", "Truncate", "WriteFile"}, remedy: "take a files.FS as an argument"},
	"path/filepath": {names: []string{"EvalSymlinks", "Glob", "Walk", "WalkDir"},
		remedy: "take a files.FS as an argument, see files.IOFS"},
	"io/ioutil":            {remedy: "take a files.FS as an argument"},
	"crypto/rand":          {remedy: "take a source of random bytes as an argument"},
	"graft/internal/files": {names: []string{"OS", "Beneath"}, remedy: "take a files.FS as an argument"},
}

// seamExceptions are the files that implement the access, and the one that finds LibTorch.
var seamExceptions = []string{"internal/files/os.go", "internal/files/lock.go", "internal/files/regular.go",
	"internal/files/beneath.go", "torch/find.go"}

// notYet are the packages that do not follow the rule yet. The list may only shrink.
var notYet = []string{"config/comments"}

// checkSeam finds direct access to files, entropy and terminals in packages below runner, which must receive them as
// arguments. Packages whose names end in test are test helpers.
func checkSeam(tree *Tree) []Finding {
	var found []Finding
	for _, file := range tree.GoFiles() {
		outside := file.IsTest() || strings.HasSuffix(path.Base(file.Dir()), "test") || isProgram(file) ||
			slices.Contains(seamExceptions, file.Path)
		if outside || slices.Contains(notYet, file.Dir()) || standalone[file.Room()] != nil ||
			file.Dir() == "internal/lint" {
			continue
		}
		found = append(found, takenNames(file, file.Go.File, seamBans)...)
		found = append(found, builtinPrints(file)...)
	}
	return found
}

// builtinPrints finds calls of print and println, which write to stderr.
func builtinPrints(file *File) []Finding {
	var found []Finding
	ast.Inspect(file.Go.File, func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok {
			if name, ok := call.Fun.(*ast.Ident); ok && (name.Name == "print" || name.Name == "println") {
				found = append(found, file.Finding(call, name.Name+" is not allowed in this package; take an "+
					"io.Writer"))
			}
		}
		return true
	})
	return found
}
