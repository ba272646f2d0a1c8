package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"

	"graft/internal/decode"
	"graft/internal/files"
)

// Values lists all keys of a file in its order.
func Values(f File) []Value { return dialect.Values(f, f.Origins().Given()) }

// Resolved is a file with every value filled in, from which the same options are read.
func Resolved(f any) string { return dialect.Resolved(f) }

// Described is Resolved with the description of each key as a comment above it.
func Described(f File) string { return dialect.Described(f) }

// Digest is a SHA-256 in hex over all that results depend on: the keys, or those of the file's own
// DigestSections, and its Contents. A file may have a digest of its own.
func Digest(f File) string {
	if own, has := f.(interface{ Digest() string }); has {
		return own.Digest()
	}
	var sections []string
	more := func(io.Writer) {}
	if s, has := f.(interface{ DigestSections() []string }); has {
		sections = s.DigestSections()
	}
	if c, has := f.(decode.CheckedFile); has {
		more = c.Contents
	}
	return digest(f, more, sections...)
}

// digest is the digest of the keys of sections on which results depend, then of more; no sections are all.
func digest(f File, more func(io.Writer), sections ...string) string {
	h := sha256.New()
	if len(sections) == 0 {
		sections = []string{""}
	}
	for _, section := range sections {
		writeKeys(h, f, section)
	}
	more(h)
	return hex.EncodeToString(h.Sum(nil))
}

// writeKeys writes the keys with a prefix on which results depend.
func writeKeys(w io.Writer, f File, prefix string) {
	for _, v := range Values(f) {
		if strings.HasPrefix(v.Key, prefix) && v.Result == decode.Material && !v.Absent {
			fmt.Fprintf(w, "%s = %s\n", oldName(v.Key), v.Text)
		}
	}
}

// differences lists the keys on which results depend and whose values differ, each as
// "key was its value and is ours".
func differences(now, was File) []string { return decode.Differences(Values(now), Values(was)) }

// Changes lists the differences of a file from one of its kind, with which a run began.
func Changes(fsys files.FS, path string, now File) string {
	list := ""
	if was, err := kindOfFile(now).Read(fsys, path, nil); err == nil {
		list = strings.Join(differences(now, was), ", ")
	}
	return cmp.Or(list, "a file that it reads has changed")
}

// kindOfFile is the kind of a file that was read.
func kindOfFile(f File) *Kind {
	k := slices.IndexFunc(Kinds(), func(k *Kind) bool { return reflect.TypeOf(k.New()) == reflect.TypeOf(f) })
	return Kinds()[k]
}

// ChangesNoResult says whether the results of a run are the same whatever a key such as
// run.folder says, in files of all kinds. Keys change results unless their fields' tag
// is result:"none".
func ChangesNoResult(key string) bool { return withoutResult()[key] }

var withoutResult = sync.OnceValue(func() map[string]bool {
	keys := map[string]bool{}
	for _, k := range Kinds() {
		for _, v := range Values(k.New()) {
			if v.Result == decode.None {
				keys[v.Key] = true
			}
		}
	}
	return keys
})
