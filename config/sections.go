package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"graft/internal/decode"
	"graft/internal/words"
)

// misspelt returns a fault if a file has sections of two kinds, and one of them is a misspelt section of the other
// kind, such as [workloads] in a file with [cluster]; otherwise nil.
func (k *Kind) misspelt(doc *decode.Document, f File) error {
	if !slices.ContainsFunc(k.Sections, doc.Has) {
		return nil
	}
	for _, other := range Kinds() {
		for _, name := range other.Sections {
			if !doc.Has(name) || knowsKey(f)(name) {
				continue
			}
			if near := singular(name, f, doc); near != "" {
				return fault(doc, name, "unknown key %q; did you mean %s?", name, near)
			}
			for _, own := range k.Sections {
				if near := singular(own, other.New(), doc); near != "" && doc.Has(own) {
					return fault(doc, own, "this key is for %s, but the section %s is for %s; if this is such a file, "+
						"rename %s to %s", k.Files, name, other.isFor(), own, near)
				}
			}
		}
	}
	return nil
}

// singular returns a key of a kind of files that the document lacks and that differs from a name only by a plural "s";
// empty if there is none.
func singular(name string, f File, doc *decode.Document) string {
	for _, key := range []string{strings.TrimSuffix(name, "s"), name + "s"} {
		if key != name && knowsKey(f)(key) && !doc.Has(key) {
			return key
		}
	}
	return ""
}

// unclear returns a fault if a file has no section that identifies a kind, and has a section that only other kinds
// have; otherwise nil.
func (k *Kind) unclear(doc *decode.Document, f File) error {
	keys, err := doc.LooseTOML()
	if err != nil || slices.ContainsFunc(k.Sections, doc.Has) {
		return nil
	}
	var own []string
	for _, field := range dialect.Outline(reflect.TypeOf(f).Elem()).Fields {
		own = append(own, field.Key)
	}
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		if _, isTable := keys[name].(map[string]any); !isTable || words.Nearest(name, own) != "" {
			continue
		}
		var sections []string
		for _, other := range Kinds() {
			if len(other.Sections) > 0 && knowsKey(other.New())(name) {
				sections = append(sections, fmt.Sprintf("%s for '%s'", other.Sections[0], other.Command))
			}
		}
		if len(sections) > 0 {
			return fault(doc, name, "this section needs another section, which names the kind of the file; add one "+
				"of: %s", strings.Join(sections, ", "))
		}
	}
	return nil
}

// fault returns a fault at a key of a document.
func fault(doc *decode.Document, key, format string, args ...any) error {
	return doc.Locate([]decode.Problem{{Where: []any{key}, Key: true, Text: fmt.Sprintf(format, args...)}})
}
