package decode

import (
	"cmp"
	"reflect"
	"strings"
	"unicode"
)

// Result states how the results of a run depend on a key.
type Result string

// Values of the field tag `result:"…"`. The tag of a struct field applies to all fields inside the struct.
const (
	Material Result = ""         // results depend on the value
	None     Result = "none"     // results do not depend on the value, such as a folder or an address
	Rounding Result = "rounding" // results depend on the value only by rounding, such as a number of threads
	Contents Result = "contents" // results depend on the content of the named files, not on their paths
)

// tag is the content of a field's tags. The tag `config:"name,option,…"` gives a key
// another name, "-" omits a field, and its options are
//
//	one=a|b    the texts that are allowed
//	was=name   the old name: an error that says the new one, and the name in digests
//	hoist      structs inside become siblings of the table
//	omit=a.b|c omits fields inside
//	path       a file or folder, relative to the working directory or else to the document
//	path=word  as path, but a text that does not look like a path is another word
//	needed     an item of a list without the key is an error
//	inline=a   the fields of a struct inside belong to the table around it
//
// A field with omitempty in its json tag was added later: digests omit it while it is zero, so that older digests stay
// valid.
type tag struct {
	name, was    string // was is the old name of the key; empty if there is none
	omit, inline []string
	words        []string
	hoist, late  bool
	needed       bool
	path         string // empty if not a path
	result       Result
}

func tagOf(field reflect.StructField) tag {
	name, options, _ := strings.Cut(field.Tag.Get("config"), ",")
	t := tag{name: name, result: Result(field.Tag.Get("result"))}
	if name == "" {
		t.name = Snake(field.Name)
	}
	_, json, _ := strings.Cut(field.Tag.Get("json"), ",")
	t.late = json == "omitempty"
	for option := range strings.SplitSeq(options, ",") {
		what, value, _ := strings.Cut(option, "=")
		switch what {
		case "omit":
			t.omit = append(t.omit, strings.Split(value, "|")...)
		case "inline":
			t.inline = append(t.inline, value)
		case "one":
			t.words = strings.Split(value, "|")
		case "path":
			t.path = cmp.Or(value, "path")
		case "was":
			t.was = value
		case "hoist":
			t.hoist = true
		case "needed":
			t.needed = true
		}
	}
	return t
}

// below returns the rules that apply inside a field.
func (t tag) below(key string) tag {
	return tag{omit: cutPrefixes(t.omit, key+"."), inline: cutPrefixes(t.inline, key+".")}
}

func cutPrefixes(paths []string, prefix string) (inside []string) {
	for _, path := range paths {
		if rest, ok := strings.CutPrefix(path, prefix); ok {
			inside = append(inside, rest)
		}
	}
	return inside
}

// Snake converts a field name to a key: EvalBatch to eval_batch, and LR to lr.
func Snake(name string) string {
	letters := []rune(name)
	var b strings.Builder
	for k, r := range letters {
		begins := unicode.IsUpper(r) && k > 0 &&
			(!unicode.IsUpper(letters[k-1]) || k+1 < len(letters) && unicode.IsLower(letters[k+1]))
		if begins {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
