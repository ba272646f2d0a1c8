package decode

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sample has a field of each kind.
type sample struct {
	sampleBase
	Embedded
	Small    int8
	Count    uint16
	Share    float32
	Wait     time.Duration
	Color    color `config:",was=paint"`
	Tables   []Embedded
	Renamed  bool `config:"other" result:"none"`
	Hidden   int  `config:"-"`
	Pointer  *int
	Function func()
	Lookup   map[string]int
	private  int
}

type sampleBase struct{ Base int }

// Embedded adds its fields to the outer struct.
type Embedded struct{ InnerHTTPPort int }

type color string

func (c *color) UnmarshalText(text []byte) error {
	*c = color(text)
	return nil
}

var colors = &Dialect{Words: map[reflect.Type][]string{reflect.TypeFor[color](): {"", "red", "green", "grey"}}}

func read(text string, target any) (*Reading, error) {
	r, err := colors.Read(NewDocument("s.toml", []byte(text)), nil, target)
	if err == nil {
		err = r.Finish()
	}
	return r, err
}

func readSample(text string) (sample, error) {
	s := sample{private: 1}
	_, err := read(text, &s)
	return s, err
}

// The old name of a key is an error. Digests use the old name.
func TestOldNames(t *testing.T) {
	outline := colors.Outline(reflect.TypeFor[sample]())
	for path, newest := range map[string]string{"paint": "color", "color": "color", "count": "count", "none": "none",
		"none.paint": "none.paint"} {
		require.Equal(t, newest, outline.Newest(path))
	}
	var first []string
	for _, v := range colors.Values(&sample{}, nil) {
		if v.First != v.Key {
			first = append(first, v.Key+" was "+v.First)
		}
	}
	require.Equal(t, []string{"color was paint"}, first)
}

func TestStructsAreRead(t *testing.T) {
	assert.Equal(t, []string{"inner_http_port", "small", "count", "share", "wait", "color", "tables", "other"},
		colors.Outline(reflect.TypeFor[sample]()).Keys())
	s, err := readSample("inner_http_port = 1\nsmall = -128\ncount = 65535\nshare = 1\nwait = 0.25\n" +
		"color = \"grey\"\ntables = [{inner_http_port = 2}, {}]\nother = true")
	require.NoError(t, err)
	want := sample{Embedded: Embedded{1}, Small: -128, Count: 65535, Share: 1, Wait: 250 * time.Millisecond,
		Color: "grey", Tables: []Embedded{{2}, {}}, Renamed: true, private: 1}
	assert.Equal(t, want, s)
	again, err := readSample(colors.Resolved(&s))
	require.NoError(t, err)
	assert.Equal(t, want, again)
}

func TestWrongValuesSayWhatWasExpected(t *testing.T) {
	long := strings.Repeat("x", 500)
	for text, says := range map[string]string{
		"small = 128":           "1:9: small must be a whole number from -128 to 127, got 128",
		"count = -1":            "count must be a whole number from 0 to 65535, got -1",
		"count = 65536":         "count must be a whole number from 0 to 65535, got 65536",
		"share = 1e300":         "share must be a finite number, got 1e+300",
		"share = inf":           "share must be a finite number, got +Inf",
		"share = true":          "share must be a number, got true",
		"other = 1":             "other must be true or false, got 1",
		"wait = \"long\"":       `wait must be a time such as "90s" or "1m30s", or a number of seconds, got "long"`,
		"wait = nan":            "292 years",
		"color = \"gren\"":      `color must be one of "red", "green" and "grey", got "gren"; did you mean green?`,
		"color = 2":             "color must be a string, got 2",
		"paint = \"red\"":       "s.toml:1:1: paint was renamed to color; rename it",
		"tables = {}":           "tables must be a list, [ … ], got a table",
		"tables = [1]":          "tables must be a list of tables, got a list with 1",
		"tables = [{x=1}]":      `1:12: unknown key "x" in tables; known keys are inner_http_port`,
		"hidden = 1":            `1:1: unknown key "hidden"; known keys are inner_http_port`,
		"pointer = 1":           `unknown key "pointer"`,
		"cout = 1":              `unknown key "cout"; did you mean count?`,
		"small = 12:00:00":      "got a date or a time of day",
		"small = [1]":           "got a list",
		"small = {a=1}":         "got a table",
		"a.b = 1":               `unknown key "a"`,
		long + " = 1":           strings.Repeat("x", 100) + `…"; known keys`,
		"small=1\nsmall=2":      "2:1: small is given twice",
		"count=1\nsmall=":       "invalid TOML",
		"tables=[{x=1,x=1}":     "invalid TOML",
		"cout=1\nsmall=[1\n":    `1:1: unknown key "cout"; did you mean count?`,
		"color=\"" + long + `"`: strings.Repeat("x", 100) + `…"`,
	} {
		_, err := readSample(text)
		require.ErrorContains(t, err, says, text)
		assert.Less(t, len(err.Error()), 1000)
	}
}

func TestNamesOfKeys(t *testing.T) {
	for name, want := range map[string]string{"LR": "lr", "EvalBatch": "eval_batch", "Beta1": "beta1",
		"TestAsValidation": "test_as_validation", "HTTPServer": "http_server", "At": "at"} {
		assert.Equal(t, want, Snake(name))
	}
}

// A table's result tag applies to its keys, unless a key has its own tag.
func TestResultsOfKeys(t *testing.T) {
	type inner struct {
		A int
		B int `result:"rounding"`
	}
	type outer struct {
		A int
		T inner `result:"none"`
		P []int `result:"contents"`
	}
	got := map[string]Result{}
	for _, v := range colors.Values(&outer{}, nil) {
		got[v.Key] = v.Result
	}
	assert.Equal(t, map[string]Result{"a": Material, "p": Contents, "t.a": None, "t.b": Rounding}, got)
	was, now := &outer{}, &outer{A: 1, T: inner{1, 1}, P: []int{1}}
	assert.Equal(t, []string{"a was 0 and is now 1"}, Differences(colors.Values(now, nil), colors.Values(was, nil)))
	r, err := colors.Read(NewDocument("s.toml", []byte("p = [1]\n[t]\na = 2\n")), nil, now)
	assert.NoError(t, err)
	assert.Equal(t, []string{"a", "p", "t.a", "t.b"}, r.Differing(was))
}

func many(n int, format string) string {
	var b strings.Builder
	for k := range n {
		fmt.Fprintf(&b, format, k)
	}
	return b.String()
}

// An exceeded limit is one fault with its position.
func TestLimits(t *testing.T) {
	for text, says := range map[string]string{
		strings.Repeat("a.", 20_000) + "b = 1":    "s.toml:1:201: a key has more than 100 parts",
		"[" + strings.Repeat("a.", 20_000) + "b]": "s.toml:1:202: a key has more than 100 parts",
		"a = " + strings.Repeat("[", 200) + strings.Repeat("]",
			200): "values are nested more than 100 levels deep",
		"a = " + strings.Repeat("{a = ", 200) + "1" + strings.Repeat("}", 200): "a key has more than 100 parts",
		"a = " + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000):   "nested",
		many(1001, "[s%d]\n"):                         "s.toml:1001:2: a table has more than 1000 keys",
		many(1001, "k%d = 1\n"):                       "s.toml:1001:1: a table has more than 1000 keys",
		"a = {" + many(1001, "k%d=1,") + "k=1}":       "a table has more than 1000 keys",
		"a = [" + many(20_001, "{s%[1]d.k=1},") + "]": "a table has more than 1000 keys",
		many(25, "[s%d]\n"+strings.ReplaceAll(many(999, "k%d = 1\n"), "%", "%%")): "s.toml:20001:2: " +
			"the document has more than 20000 keys",
	} {
		_, err := readSample(text)
		var list Faults
		require.ErrorAs(t, err, &list, says)
		assert.ErrorContains(t, err, says)
	}
	_, err := NewDocument("a", []byte("a = ["+strings.Repeat("{x = 1, y = 2},", 20_000)+"]")).TOML()
	assert.NoError(t, err, "items of a list have the same keys")
}

// Doubling the size of a document doubles the work at most, also with faults.
func TestWorkIsLinear(t *testing.T) {
	for name, text := range map[string]func(n int) string{
		"unknown keys":    func(n int) string { return many(n/20, "k%d = 1\n") },
		"tables in lists": func(n int) string { return "tables = [" + strings.Repeat("{x = 1},", n) + "]" },
		"array tables":    func(n int) string { return strings.Repeat("[[tables]]\nx = 1\n", n) },
		"wrong items":     func(n int) string { return "tables = [" + strings.Repeat("1,", n) + "]" },
		"keys twice":      func(n int) string { return strings.Repeat("small = 1\n", n) },
	} {
		work := func(n int) (float64, int) {
			doc := NewDocument("s.toml", []byte(text(n)))
			r, err := colors.Read(doc, nil, &sample{})
			if err == nil {
				err = r.Finish()
			}
			var list Faults
			require.ErrorAs(t, err, &list, name)
			kept := 0
			for _, f := range list {
				kept += len(f.Text)
			}
			return float64(doc.work), kept
		}
		small, _ := work(5000)
		large, kept := work(10_000)
		assert.Less(t, large, 2.1*small, name)
		assert.Less(t, kept, 100*mostKept, name)
	}
}

// The first faults are listed, and all are counted.
func TestFaultsAreCapped(t *testing.T) {
	_, err := readSample("tables = [" + strings.Repeat("1,", 60_000) + "]")
	var list Faults
	require.ErrorAs(t, err, &list)
	assert.Len(t, list, mostKept)
	assert.True(t, strings.HasPrefix(err.Error(), "60000 faults\n\ns.toml:1:11: tables must be a list of tables"))
	assert.True(t, strings.HasSuffix(err.Error(), "\nand 59980 more"), err.Error()[len(err.Error())-30:])
	r, err := colors.Read(NewDocument("s.toml", nil), nil, &sample{})
	require.NoError(t, err)
	for range 3 {
		r.Add(append(make([]Fault, 499), Fault{More: 7})...)
	}
	assert.ErrorContains(t, r.Finish(), "1521 faults\n")
}

// encoding/json keeps the last of several equal keys, and ignores the case of keys.
func TestRepeatedKeys(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": 1, "b": {"a": "a", "c": "a"}, "c": [{"a": 1}, {"a": 2}, "a", "a"]}`: "",
		`"a"`:                                      "",
		"{\"a\":\n 1,\n \"a\" : 2}":                `line 3: the key "a" is given twice`,
		`{"a": [{"b": {}, "B": 1}]}`:               `line 1: the key "B" is given twice`,
		`{"a\"": 1, "\u0061\"": 2}`:                `line 1: the key "a\"" is given twice`,
		`{"a": "x\\", "b": "{\"b\": 1", "c": "]"}`: "",
	} {
		require.True(t, json.Valid([]byte(text)), text)
		if err := RepeatedKey([]byte(text)); want == "" {
			require.NoError(t, err, text)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{"small = 1\n[tables]\n", "[[tables]]\ninner_http_port = 1\n",
		"a.b.c = [1, {x = 2}]\na.b = 1\n", "small=1\nsmall=2\n[small]\nx='''\n'''"} {
		f.Add(text, "small=3")
	}
	f.Fuzz(func(t *testing.T, text, set string) {
		s := sample{}
		r, err := colors.Read(NewDocument("s.toml", []byte(text)), []string{set}, &s)
		if err == nil {
			err = r.Finish()
		}
		if err != nil {
			var list Faults
			require.ErrorAs(t, err, &list)
			require.NotEmpty(t, list.Error())
			require.LessOrEqual(t, len(list), mostGathered+mostKept)
			return
		}
		again, err := readSample(colors.Resolved(&s))
		require.NoError(t, err, colors.Resolved(&s))
		again.private = 0
		require.Equal(t, s, again)
	})
}

// An item of a list without a needed key is an error at its place. A misspelt key is the only error of its item.
func TestNeededKeys(t *testing.T) {
	type item struct {
		At   time.Duration `config:",needed"`
		Note string
	}
	var lists struct{ Items []item }
	_, err := read("items = [{at = 0}, {note = \"x\"}, {att = 1}]\n", &lists)
	require.ErrorContains(t, err, `2 faults

s.toml:1:20: missing key "at" in items; add it
    1 | items = [{at = 0}, {note = "x"}, {att = 1}]
      |                    ^

s.toml:1:35: unknown key "att" in items; did you mean at?`)
	_, err = read("[[items]]\nat = 0\n[[items]]\nnote = \"y\"\n", &lists)
	require.ErrorContains(t, err, `s.toml:3:3: missing key "at" in items; add it`)
	schema, err := colors.Schema("lists", &lists)
	require.NoError(t, err)
	require.Contains(t, schema, "\"required\": [\n")
}
