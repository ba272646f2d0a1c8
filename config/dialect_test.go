package config

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/net2net"
	"graft/trainer"
)

// The words of the dialect include every text constant of these types in the packages' sources.
func TestWordsAreTheConstants(t *testing.T) {
	for folder, types := range map[string]map[string]reflect.Type{
		"trainer": {"Rule": reflect.TypeFor[trainer.Rule](), "Scaling": reflect.TypeFor[trainer.Scaling](),
			"Change": reflect.TypeFor[trainer.Change]()},
		"net2net": {"Form": reflect.TypeFor[net2net.Form](), "Compat": reflect.TypeFor[net2net.Compat]()},
	} {
		constants := constantsOf(t, "../"+folder)
		for name, of := range types {
			require.NotEmpty(t, constants[name], name)
			for _, text := range constants[name] {
				if text != "" {
					assert.Contains(t, dialect.Words[of], text)
				}
			}
		}
	}
}

// constantsOf returns the values of a folder's text constants by type name.
func constantsOf(t *testing.T, folder string) map[string][]string {
	found := map[string][]string{}
	paths := must(filepath.Glob(filepath.Join(folder, "*.go")))
	for _, path := range paths {
		file := must(parser.ParseFile(token.NewFileSet(), path, nil, 0))
		ast.Inspect(file, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			of, named := spec.Type.(*ast.Ident)
			value, literal := spec.Values[0].(*ast.BasicLit)
			if named && literal && value.Kind == token.STRING {
				found[of.Name] = append(found[of.Name], must(strconv.Unquote(value.Value)))
			}
			return true
		})
	}
	return found
}
