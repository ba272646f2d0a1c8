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

// mark identifies a kind of file by top-level keys that only its files have.
type mark struct {
	keys []string
	what string // noun for such files, with the command to use
}

// marks lists the marks. The first that matches a file gives its kind.
func marks() (list []mark) {
	for _, k := range Kinds() {
		if k.Sections != nil {
			list = append(list, mark{k.Sections, k.isFor()})
		}
	}
	return append(list, mark{[]string{"operators"}, "files of imported networks: " +
		"compute outputs with 'graft model forward', or print the network with 'graft model show'"},
		mark{[]string{"layers"},
			"network files: set network.file of a job to this file, or print it with 'graft model show'"},
		mark{[]string{"contrast", "failed"},
			"files of contrasts: compare the cases of runs with 'graft report RUN… --contrasts FILE'"},
		mark{[]string{"costs", "measured"},
			"profiles: set time.profile of a job to this file, or print it with 'graft profile show'"},
		mark{[]string{"network", "time", "train", "data", "adapt"}, JobKind.isFor()})
}

// isFor names the command that takes files of the kind.
func (k *Kind) isFor() string {
	return fmt.Sprintf("%s: use '%s'", k.Files, k.Command)
}

// otherKind returns a fault if a file has an unknown key that marks another kind of file; otherwise nil.
func otherKind(doc *decode.Document, knows func(key string) bool) error {
	for _, m := range marks() {
		k := slices.IndexFunc(m.keys, func(key string) bool { return doc.Has(key) && !knows(key) })
		if k >= 0 {
			return doc.Locate([]decode.Problem{{Where: []any{m.keys[k]}, Key: true, Text: "this key is for " + m.what}})
		}
	}
	if name := firstCase(doc, knows); name != "" {
		return doc.Locate([]decode.Problem{{Where: []any{name}, Key: true, Text: "this table is a case of a job: use " +
			"'graft train JOB --cases FILE'"}})
	}
	return nil
}

// elsewhere names the kinds of files that have a key or section that this kind lacks; empty if there are none.
func (k *Kind) elsewhere(name string) string {
	what := "key"
	var kinds []string
	for _, other := range Kinds() {
		o := dialect.Outline(reflect.TypeOf(other.New()).Elem())
		for key := range strings.SplitSeq(name, ".") {
			if o != nil {
				o = o.Find(key)
			}
		}
		if o == nil || slices.Contains(kinds, other.Files) {
			continue
		}
		if kinds = append(kinds, other.Files); o.IsTable() {
			what = "section"
		}
	}
	if len(kinds) == 0 {
		return ""
	}
	return fmt.Sprintf("%s is a %s of %s", name, what, words.Some(kinds, 3))
}

// firstCase returns the first case in the order of names if a file has cases of a job only: tables with other names
// than sections, which contain sections of a job. It returns an empty text otherwise.
func firstCase(doc *decode.Document, knows func(key string) bool) string {
	file, err := doc.LooseTOML()
	if err != nil {
		return ""
	}
	isSection, keys := knowsKey(JobKind.New()), 0
	for name, value := range file {
		table, is := value.(map[string]any)
		if !is || knows(name) || isSection(name) {
			return ""
		}
		for key := range table {
			if !isSection(key) {
				return ""
			}
			keys++
		}
	}
	if keys == 0 {
		return ""
	}
	return slices.Min(slices.Collect(maps.Keys(file)))
}

// knowsKey extends [knowsKey] by the sections of other kinds that the same command takes: these are mistakes in this
// file, not files of another kind.
func (k *Kind) knowsKey(f File) func(key string) bool {
	return func(key string) bool {
		return knowsKey(f)(key) || slices.ContainsFunc(Kinds(),
			func(o *Kind) bool { return o.Command == k.Command && slices.Contains(o.Sections, key) })
	}
}

// knowsKey returns a function that reports whether a struct has a top-level key.
func knowsKey(target any) func(key string) bool {
	o := dialect.Outline(reflect.TypeOf(target).Elem())
	return func(key string) bool { return o.Find(key) != nil }
}
