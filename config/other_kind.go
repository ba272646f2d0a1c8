package config

import (
	"fmt"
	"reflect"
	"slices"

	"graft/internal/decode"
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
	return nil
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
