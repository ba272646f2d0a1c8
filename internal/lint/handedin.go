package lint

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
)

// ban lists names of a package that must not be used.
type ban struct {
	names  []string // banned names, a trailing * matches any ending; nil bans all except the names in except
	except []string // allowed names, if names is nil
	remedy string
}

// randomTypes are the names in random packages that use no hidden state.
var randomTypes = []string{
	"New", "NewSource", "NewZipf", "NewPCG", "NewChaCha8",
	"Rand", "Source", "Source64", "Zipf", "PCG", "ChaCha8",
}

var (
	clockBan = ban{names: []string{"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "Tick", "NewTicker",
		"NewTimer"}, remedy: "take a clock as an argument"}
	randomBan = ban{except: randomTypes, remedy: "take a seeded stream as an argument"}
)

// bans maps import paths to bans.
var bans = map[string]ban{
	"time":         clockBan,
	"math/rand":    randomBan,
	"math/rand/v2": randomBan,
	"os": {names: []string{"Exit", "Stdout", "Stderr"},
		remedy: "return an error or take an io.Writer; only runner prints and exits"},
	"log": {names: []string{"Fatal*", "Panic*", "Print*"},
		remedy: "return an error; report progress through the injected logger"},
	"fmt": {names: []string{"Print", "Printf", "Println"}, remedy: "take an io.Writer; only runner prints"},
}

// checkHandedIn finds clocks, randomness, output and exits that a package below runner uses directly instead of as
// arguments.
func checkHandedIn(tree *Tree) []Finding {
	var found []Finding
	for _, file := range tree.GoFiles() {
		switch {
		case file.IsTest():
			found = append(found, exitsOfTests(file)...)
		case !isProgram(file):
			found = append(found, takenNames(file, file.Go.File, bans)...)
		}
	}
	return found
}

// isProgram reports whether a file belongs to a program that may print and exit.
func isProgram(file *File) bool {
	return file.Go.Name.Name == "main" && (file.Room() == "runner" || file.Room() == "bench")
}

// exitsOfTests finds os.Exit in a test file: it would skip the test's cleanup. Only TestMain has no other way to end.
func exitsOfTests(file *File) []Finding {
	only := map[string]ban{"os": {names: []string{"Exit"}, remedy: "fail the test instead; only TestMain exits"}}
	var found []Finding
	for _, decl := range file.Go.Decls {
		if function, ok := decl.(*ast.FuncDecl); !ok || function.Name.Name != "TestMain" {
			found = append(found, takenNames(file, decl, only)...)
		}
	}
	return found
}

// takenNames finds the banned names in a node, called or not.
func takenNames(file *File, under ast.Node, banned map[string]ban) []Finding {
	local, found := localBans(file, banned)
	if _, whole := under.(*ast.File); !whole {
		found = nil // report an import once, not per declaration
	}
	ast.Inspect(under, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		name, ok := selector.X.(*ast.Ident)
		if !ok {
			return true
		}
		if b, ok := local[name.Name]; ok && b.forbids(selector.Sel.Name) {
			text := fmt.Sprintf("%s.%s is not allowed in this package; %s", name.Name, selector.Sel.Name, b.remedy)
			found = append(found, file.Finding(selector, text))
		}
		return true
	})
	return found
}

// localBans maps a file's local names of packages to their bans. A dot import would hide them, and is a finding.
func localBans(file *File, banned map[string]ban) (map[string]ban, []Finding) {
	local := make(map[string]ban)
	var found []Finding
	for _, spec := range file.Go.File.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		b, ok := banned[imported]
		if err != nil || !ok {
			continue
		}
		switch {
		case spec.Name == nil:
			local[defaultName(imported)] = b
		case spec.Name.Name == ".":
			found = append(found, file.Finding(spec,
				fmt.Sprintf("a dot import hides the names that are used from %q; import it by name", imported)))
		default:
			local[spec.Name.Name] = b
		}
	}
	return local, found
}

// defaultName returns the name of a standard package that is imported without one.
func defaultName(imported string) string {
	return path.Base(strings.TrimSuffix(imported, "/v2"))
}

func (b ban) forbids(name string) bool {
	if b.names == nil {
		return !slices.Contains(b.except, name)
	}
	return slices.ContainsFunc(b.names, func(banned string) bool {
		start, open := strings.CutSuffix(banned, "*")
		return name == banned || open && strings.HasPrefix(name, start)
	})
}
