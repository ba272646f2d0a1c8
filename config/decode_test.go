package config

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/net2net"
	"graft/torch"
	"graft/trainer"
)

// sample has a field of each kind.
type sample struct {
	sampleBase
	Embedded
	Small    int8
	Count    uint16
	Share    float32
	Wait     time.Duration
	Rule     torch.Rule
	Tables   []Embedded
	Renamed  bool `config:"other"`
	Hidden   int  `config:"-"`
	Pointer  *int
	Function func()
	Lookup   map[string]int
	private  int
}

type sampleBase struct{ Base int }

// Embedded stands with the fields around it.
type Embedded struct{ InnerHTTPPort int }

func decodeSample(text string) (sample, error) {
	s := sample{private: 1}
	r := newReading("s.toml", []byte(text), &s)
	if err := r.file(); err != nil {
		return s, err
	}
	return s, r.finish()
}

func TestStructsAreRead(t *testing.T) {
	assert.Equal(t, []string{"inner_http_port", "small", "count", "share", "wait", "rule", "tables", "other"}, outlineOf(reflect.TypeFor[sample]()).keys())
	s, err := decodeSample("inner_http_port = 1\nsmall = -128\ncount = 65535\nshare = 1\nwait = 0.25\nrule = \"adamw\"\ntables = [{inner_http_port = 2}, {}]\nother = true")
	require.NoError(t, err)
	assert.Equal(t, sample{Embedded: Embedded{1}, Small: -128, Count: 65535, Share: 1, Wait: 250 * time.Millisecond, Rule: torch.AdamW,
		Tables: []Embedded{{2}, {}}, Renamed: true, private: 1}, s)
}

func TestWrongValuesSayWhatWasExpected(t *testing.T) {
	for text, says := range map[string]string{
		"small = 128":       "1:9: small must be a whole number from -128 to 127, and not 128",
		"count = -1":        "count must be a whole number from 0 to 65535, and not -1",
		"count = 65536":     "count must be a whole number from 0 to 65535, and not 65536",
		"share = 1e300":     "share must be a number, and 1e+300 is none that can be kept",
		"share = inf":       "share must be a number",
		"share = true":      "share must be a number, and not true",
		"other = 1":         "other must be true or false, and not 1",
		"wait = \"long\"":   `wait must be a time such as "90s" or "1m30s", or a number of seconds, and not "long"`,
		"wait = nan":        "292 years",
		"rule = \"adm\"":    "did you mean adam?",
		"rule = 2":          "rule must be a text, and not 2",
		"tables = {}":       "tables must be a list",
		"tables = [1]":      "tables must be a list of tables, and not of 1",
		"tables = [{x=1}]":  `1:12: "x" is no key of tables; there are inner_http_port`,
		"hidden = 1":        `1:1: "hidden" is no key of this file`,
		"pointer = 1":       `"pointer" is no key`,
		"small = 12:00:00":  "and not a date or a time of day",
		"small = [1]":       "and not a list",
		"small = {a=1}":     "and not a table",
		"a.b = 1":           `"a" is no key of this file`,
		"small=1\nsmall=2":  "2:1: small is given twice",
		"count=1\nsmall=":   "this is no TOML",
		"tables=[{x=1,x=1}": "this is no TOML",
	} {
		_, err := decodeSample(text)
		assert.ErrorContains(t, err, says, text)
	}
}

func TestNamesOfKeys(t *testing.T) {
	for name, want := range map[string]string{"LR": "lr", "EvalBatch": "eval_batch", "Beta1": "beta1", "TestAsValidation": "test_as_validation", "HTTPServer": "http_server", "At": "at"} {
		assert.Equal(t, want, snake(name))
	}
}

func TestMistakesAreCounted(t *testing.T) {
	for pair, want := range map[[2]string]int{{"", "abc"}: 3, {"budget", "budgte"}: 1, {"sgd", "adam"}: 4, {"seed", "sed"}: 1, {"ab", "ab"}: 0} {
		assert.Equal(t, want, mistakes(pair[0], pair[1]), pair)
		assert.Equal(t, want, mistakes(pair[1], pair[0]), pair)
	}
}

// TestWordsAreTheConstants reads the rooms' sources: a constant that is added there
// must be known here.
func TestWordsAreTheConstants(t *testing.T) {
	for folder, types := range map[string]map[string]reflect.Type{
		"trainer": {"Rule": reflect.TypeFor[trainer.Rule](), "Change": reflect.TypeFor[trainer.Change]()},
		"net2net": {"Form": reflect.TypeFor[net2net.Form](), "Compat": reflect.TypeFor[net2net.Compat]()},
	} {
		constants := constantsOf(t, "../"+folder)
		for name, of := range types {
			require.NotEmpty(t, constants[name], name)
			for _, text := range constants[name] {
				if text != "" {
					assert.Contains(t, words[of], text)
				}
			}
		}
	}
}

// constantsOf are the values of a folder's text constants by the name of their type.
func constantsOf(t *testing.T, folder string) map[string][]string {
	found := map[string][]string{}
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			of, named := spec.Type.(*ast.Ident)
			value, literal := spec.Values[0].(*ast.BasicLit)
			if named && literal && value.Kind == token.STRING {
				text, err := strconv.Unquote(value.Value)
				require.NoError(t, err)
				found[of.Name] = append(found[of.Name], text)
			}
			return true
		})
	}
	return found
}
