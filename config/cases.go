package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"graft/internal/decode"
	"graft/internal/files"
	"graft/internal/words"
)

// mostCases limits the cases of a sweep.
const mostCases = 10_000

func tooManyCases(n int) error {
	return fmt.Errorf("got %d cases, expected at most %d", n, mostCases)
}

// Case is a named list of assignments in the notation of --set.
type Case struct {
	Name string   // unique name in a file of cases
	Set  []string // assignments, in order

	places []Fault // places of the assignments in their file; nil if there is no file
}

// Located adds positions to an error from reading the configuration of a case. A position is the line in the cases file
// that assigns the faulty value.
func (c Case) Located(err error) error {
	var faults Faults
	if errors.As(err, &faults) {
		faults = slices.Clone(faults)
		for k := range faults {
			at := slices.IndexFunc(c.Set, func(set string) bool { return faults[k].File == decode.FlagFile(set) })
			if at >= 0 && at < len(c.places) {
				text, more := faults[k].Text, faults[k].More
				faults[k] = c.places[at]
				faults[k].Text, faults[k].More = text, more
			}
		}
		err = faults
	}
	return fmt.Errorf("case %s: %w", c.Name, err)
}

// longestKey is the maximum length of a case's name in paths.
const longestKey = 60

// Key returns a name for the case that is safe in file paths. Key avoids names that the callback reports as taken.
func (c Case) Key(taken func(key string) bool) string {
	base := strings.Trim(strings.Map(func(r rune) rune {
		if r < 128 && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' ||
			strings.ContainsRune("._-", r)) {
			return r
		}
		return '-'
	}, c.Name), "-.")
	base = cmp.Or(base[:min(len(base), longestKey)], "case")
	key := base
	for n := 2; taken(key); n++ {
		key = fmt.Sprintf("%s-%d", base, n)
	}
	return key
}

// mostFaulty is the maximum number of faulty cases in an error.
const mostFaulty = 10

// JoinCases joins errors, one per invalid case, into one error. If there are more than ten, it joins the first ten and
// states the number of further invalid cases. It returns nil if there are no errors.
func JoinCases(faults []error) error {
	if left := len(faults) - mostFaulty; left > 0 {
		faults = append(faults[:mostFaulty:mostFaulty], fmt.Errorf("%s invalid", words.Are(left, "more case")))
	}
	return errors.Join(faults...)
}

// ReadCases reads a TOML file with one table per case. A case's table holds configuration keys with their values, such
// as optimizer.lr = 0.1. Cases and keys are in the order of the file.
func ReadCases(fsys files.FS, path string) ([]Case, error) {
	doc, err := decode.Open(fsys, path)
	if err != nil {
		return nil, fmt.Errorf("read cases: %w", err)
	}
	table, err := doc.TOML()
	if err != nil {
		return nil, fmt.Errorf("read cases: %w", err)
	}
	if len(table) == 0 {
		return nil, fmt.Errorf("read cases: %s has no cases; add a table for each case, such as [small]", path)
	}
	if len(table) > mostCases {
		return nil, fmt.Errorf("read cases: %s: %w", path, tooManyCases(len(table)))
	}
	var list []Case
	var problems []decode.Problem
	for _, name := range keysInOrder(doc, nil, table) {
		inner, ok := table[name].(map[string]any)
		if !ok {
			problems = append(problems, decode.Problem{Where: []any{name},
				Text: fmt.Sprintf("%s is not a table; write [%s], followed by its assignments", name, name)})
			continue
		}
		c := Case{Name: name}
		c.assign(doc, []any{name}, "", inner)
		list = append(list, c)
	}
	if err := doc.Locate(problems); err != nil {
		return nil, fmt.Errorf("read cases: %w", err)
	}
	return list, nil
}

// keysInOrder lists the keys of a table in the order of the file.
func keysInOrder(doc *decode.Document, where []any, table map[string]any) []string {
	at := map[string]int{}
	var keys []string
	for key := range table {
		at[key], _, _ = doc.Span(decode.Problem{Where: append(slices.Clone(where), key), Key: true})
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(at[a]-at[b], strings.Compare(a, b)) })
	return keys
}

// assign flattens a table to assignments.
func (c *Case) assign(doc *decode.Document, where []any, before string, table map[string]any) {
	for _, key := range keysInOrder(doc, where, table) {
		at := append(slices.Clone(where), key)
		if inner, ok := table[key].(map[string]any); ok {
			c.assign(doc, at, before+key+".", inner)
			continue
		}
		c.Set = append(c.Set, before+key+"="+valueText(table[key]))
		c.places = append(c.places, doc.Place(decode.Problem{Where: at, Key: true}))
	}
}

// valueText formats a value of a document as TOML on one line.
func valueText(v any) string { return decode.OneLine(plainValue(v)) }

// plainValue converts a value to a type that package decode writes.
func plainValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		var t decode.Table
		for _, key := range slices.Sorted(maps.Keys(v)) {
			t = append(t, decode.Entry{Key: key, Value: plainValue(v[key])})
		}
		return t
	case []any:
		list := make([]any, len(v))
		for k := range v {
			list[k] = plainValue(v[k])
		}
		return list
	case float64:
		return floatWord(v)
	}
	return v
}

// floatWord is a number that is printed with its fraction.
type floatWord float64

// String formats the number with a decimal point.
func (f floatWord) String() string { return decode.FloatText(float64(f)) }

// GridCases returns one case per combination of values in the sweeps, such as optimizer.lr=0.1,0.01. The last sweep
// varies fastest. Commas inside quotes and brackets do not separate values.
func GridCases(sweeps []string) ([]Case, error) {
	cases := []Case{{}}
	seen := map[string]bool{}
	for _, sweep := range sweeps {
		key, text, ok := strings.Cut(sweep, "=")
		key = strings.TrimSpace(key)
		values := splitValues(text)
		switch {
		case !ok || key == "" || slices.Contains(values, ""):
			return nil, fmt.Errorf("option sweep %s: expected a key and values, such as optimizer.lr=0.1,0.01", sweep)
		case len(slices.Compact(slices.Sorted(slices.Values(values)))) < len(values):
			return nil, fmt.Errorf("option sweep %s: duplicate value; list each value once", sweep)
		case seen[key]:
			return nil, fmt.Errorf("option sweep %s: duplicate key; list all its values in one sweep", key)
		case len(cases)*len(values) > mostCases:
			return nil, fmt.Errorf("option sweep %s: %w", key, tooManyCases(len(cases)*len(values)))
		}
		if a, b, same := sameValues(key, values); same {
			return nil, fmt.Errorf("option sweep %s: %s and %s are the same value; list each value once", sweep, a, b)
		}
		seen[key] = true
		var next []Case
		for _, c := range cases {
			for _, v := range values {
				set := append(slices.Clone(c.Set), key+"="+v)
				next = append(next, Case{Name: strings.Join(set, " "), Set: set})
			}
		}
		cases = next
	}
	return cases, nil
}

// sameValues finds two spellings of one value of a key, such as 60 and "1m".
func sameValues(key string, values []string) (first, second string, found bool) {
	spelled := map[string]string{}
	for _, v := range values {
		f := SweepKind.New()
		r, err := dialect.Read(decode.NewDocument("", nil), []string{key + "=" + v}, f)
		if err != nil || r.Failed() {
			continue // reported with the case
		}
		text := dialect.Resolved(f)
		if was, ok := spelled[text]; ok {
			return was, v, true
		}
		spelled[text] = v
	}
	return "", "", false
}

// CombineCases returns the product of named cases and combinations of values: each case with each combination.
func CombineCases(named, grid []Case) []Case {
	cases := make([]Case, 0, len(named)*len(grid))
	for _, c := range named {
		for _, g := range grid {
			cases = append(cases, Case{Name: c.Name + " " + g.Name, Set: slices.Concat(c.Set, g.Set),
				places: c.places})
		}
	}
	return cases
}

// CasesText returns the text of a file that [ReadCases] reads as the same cases.
func CasesText(cases []Case) string {
	var b strings.Builder
	for k, c := range cases {
		if k > 0 {
			b.WriteByte('\n')
		}
		name := c.Name
		if !bareKey.MatchString(name) {
			name = decode.Quote(name)
		}
		fmt.Fprintf(&b, "[%s]\n", name)
		for _, set := range c.Set {
			key, value, _ := strings.Cut(set, "=")
			fmt.Fprintf(&b, "%s = %s\n", strings.TrimSpace(key), valueInFile(value))
		}
	}
	return b.String()
}

// bareKey matches the keys of TOML that need no quotes.
var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// valueInFile returns the value of an assignment in TOML: an assignment may omit the quotes of a text.
func valueInFile(text string) string {
	doc := decode.NewDocument("", []byte("value = "+text+"\n"))
	if _, err := doc.TOML(); err != nil {
		return decode.Quote(strings.TrimSpace(text))
	}
	return strings.TrimSpace(text)
}

// splitValues splits a text at commas outside of quotes and brackets.
func splitValues(text string) (values []string) {
	var quote rune
	depth, start := 0, 0
	for k, c := range text {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case strings.ContainsRune("[{", c):
			depth++
		case strings.ContainsRune("]}", c):
			depth--
		case c == ',' && depth == 0:
			values, start = append(values, strings.TrimSpace(text[start:k])), k+1
		}
	}
	return append(values, strings.TrimSpace(text[start:]))
}
