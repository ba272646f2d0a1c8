package config

import (
	"encoding/json"
	"fmt"
	"go/format"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/config/comments"
	"graft/internal/decode"
	"graft/internal/files"
)

// commented returns the fields whose comments describe keys.
func commented(o *decode.Outline) []decode.Field {
	var list []decode.Field
	for _, f := range o.Fields {
		list = append(list, f.From)
		if f.IsTable() {
			list = append(list, commented(f)...)
		} else if items := f.Items(); items != nil {
			list = append(list, commented(items)...)
		}
	}
	return list
}

func outlineOf(k *Kind) *decode.Outline { return dialect.Outline(reflect.TypeOf(k.New()).Elem()) }

func ofAllKinds() (list []decode.Field) {
	for _, k := range Kinds() {
		list = append(list, commented(outlineOf(k))...)
	}
	return list
}

// generated returns descriptions.go as generated from the current comments.
func generated(t *testing.T) string {
	words := map[string]map[string]string{}
	found := map[string]string{}
	for _, m := range ofAllKinds() {
		folder, _ := strings.CutPrefix(m.Of.PkgPath(), "graft/")
		if words[folder] == nil {
			var err error
			words[folder], err = comments.Fields(filepath.Join("..", folder), decode.Snake)
			require.NoError(t, err)
		}
		found[m.ID()] = words[folder][m.Of.Name()+"."+m.Name]
	}
	broken := map[string]bool{}
	for key, text := range found {
		broken[key] = columns(fmt.Sprintf("\t%q: %q,", key, text)) > mostColumns
	}
	for { // break the lines that only gofmt's alignment makes too long
		text, again := descriptionsFile(found, broken), false
		for line := range strings.Lines(text) {
			if key, _, _ := strings.Cut(strings.TrimLeft(line, "\t\""), `"`); columns(line) > mostColumns {
				broken[key], again = true, true
			}
		}
		if !again {
			return text
		}
	}
}

// mostColumns is the longest line that package lint allows.
const mostColumns = 120

func columns(line string) int {
	return utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) + 3*strings.Count(line, "\t")
}

// descriptionsFile returns the text of descriptions.go, and breaks the texts of some keys into lines.
func descriptionsFile(found map[string]string, broken map[string]bool) string {
	var b strings.Builder
	b.WriteString("// Code generated from the comments of the fields by go generate; DO NOT EDIT.\n\n" +
		"package config\n\n" +
		"// descriptions say what keys are for, by the field of a struct.\nvar descriptions = map[string]string{\n")
	for _, key := range slices.Sorted(maps.Keys(found)) {
		literal := fmt.Sprintf("%q", found[key])
		if broken[key] {
			literal = brokenLiteral(found[key], columns(fmt.Sprintf("\t%q: ", key)))
		}
		fmt.Fprintf(&b, "%q: %s,\n", key, literal)
	}
	b.WriteString("}\n")
	return string(must(format.Source([]byte(b.String()))))
}

// brokenLiteral quotes a text in several lines. The first line begins at a column. A text that fits there without
// gofmt's alignment is broken as well.
func brokenLiteral(text string, column int) string {
	words := strings.SplitAfter(text, " ")
	room := mostColumns - column - len(" +")
	if whole := columns(fmt.Sprintf("%q", text)); whole <= room+1 {
		room = whole * 3 / 4
	}
	var lines []string
	line := ""
	for _, word := range words {
		if columns(fmt.Sprintf("%q", line+word)) > room {
			lines, line = append(lines, fmt.Sprintf("%q", line)), ""
			room = mostColumns - columns("\t\t") - len(" +")
		}
		line += word
	}
	return strings.Join(append(lines, fmt.Sprintf("%q", line)), " +\n")
}

func TestDescriptionsAreTheComments(t *testing.T) {
	golden(t, "descriptions.go", generated(t))
}

func TestTheReferenceIsOfTheKeys(t *testing.T) {
	golden(t, filepath.Join("..", "docs", "reference-config.md"), Reference())
}

// sentence matches a description that reads as a sentence without the code next to it.
var sentence = regexp.MustCompile(`^[A-Z0-9].{8,}\.$`)

// described checks every property of a schema and returns how many there are.
func described(t *testing.T, path string, schema map[string]any) int {
	count := 0
	properties, _ := schema["properties"].(map[string]any)
	for key, property := range properties {
		p := property.(map[string]any)
		text, _ := p["description"].(string)
		assert.Regexp(t, sentence, text, path+key)
		assert.NotRegexp(t, fragment, text, path+key)
		count += 1 + described(t, path+key+".", p)
		if items, ok := p["items"].(map[string]any); ok {
			count += described(t, path+key+"[].", items)
		}
	}
	return count
}

// fragment matches the beginning of a text that needs the name of its key.
var fragment = regexp.MustCompile(`^(Of|That|Between|To|Per|By|In|Which|With|Subtracted) `)

func TestEveryKeyIsDescribed(t *testing.T) {
	for _, kind := range Kinds() {
		text := must(kind.Schema())
		var schema map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &schema))
		assert.Equal(t, len(commented(outlineOf(kind))), described(t, "", schema))
	}
	j := must(ReadJob(files.OS{}, "", nil))
	for _, v := range Values(j) {
		assert.Regexp(t, sentence, v.About, v.Key)
		assert.Contains(t, Described(j), decode.Wrapped(v.About)[0], v.Key)
	}
}

func TestADescribedFileIsTheSameJob(t *testing.T) {
	full := must(os.ReadFile("testdata/jobs/full.toml"))
	j := must(parseJob("a.toml", string(full)))
	again := must(parseJob("b.toml", Described(j)))
	assert.Equal(t, bare(j), bare(again))
	var lines []string
	for line := range strings.Lines(Described(j)) {
		assert.LessOrEqual(t, len([]rune(line)), 120)
		if !strings.HasPrefix(line, "# ") {
			lines = append(lines, line)
		}
	}
	assert.Equal(t, j.Resolved(), strings.Join(lines, ""), "nothing but comments is added")
}

func TestTypesAreSaidInWords(t *testing.T) {
	page := Reference()
	for _, row := range []string{
		"| `budget` | time | `\"60s\"` | ",
		"| `events` | list of tables | `[]` | ",
		"| `rule` | `\"sgd\"`, `\"adam\"`, `\"adamw\"` | `\"adam\"` | ",
		"| `mean` | list of: number | `[]` | ",
		"| `flip` | `true` or `false` | `false` | ",
		"## `each of time.events`\n",
	} {
		assert.Contains(t, page, row)
	}
}
