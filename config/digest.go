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

// Values lists all keys of a file with their values, in the order of the fields in the file's struct.
func Values(f File) []Value { return dialect.Values(f, f.Origins().Given()) }

// Resolved returns the text of a file with the value of every key, including defaults. Reading the text gives the same
// options.
func Resolved(f any) string { return dialect.Resolved(f) }

// Described returns the text of Resolved with the description of each key as a comment above it.
func Described(f File) string { return dialect.Described(f) }

// Digest returns a SHA-256, in hex, of everything that determines results: the file's keys and the output of its method
// Contents. If the file has a method DigestSections, only the keys of these sections are included. A file with a method
// Digest determines its own digest.
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

// digest hashes the keys of the sections that results depend on, then the output of more. No sections means all.
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

// writeKeys writes the keys with a prefix that results depend on.
func writeKeys(w io.Writer, f File, prefix string) {
	for _, v := range Values(f) {
		if strings.HasPrefix(v.Key, prefix) && v.Result == decode.Material && !v.Absent {
			fmt.Fprintf(w, "%s = %s\n", v.First, v.Text)
		}
	}
}

// differences lists the keys that results depend on and whose values differ, each as "key was its value and is ours".
func differences(now, was File) []string { return decode.Differences(Values(now), Values(was)) }

// Changes lists the keys whose values differ between the file at a path and now, which holds newer options of the same
// kind. It says so if this version cannot read the file, for example because a key was removed.
func Changes(fsys files.FS, path string, now File) string {
	was, err := kindOfFile(now).Read(fsys, path, nil)
	if err != nil {
		return fmt.Sprintf("this version of graft cannot read %s ('graft config check %[1]s' says why)", path)
	}
	return cmp.Or(strings.Join(differences(now, was), ", "), changedContent(now))
}

// changedContent states that a file has changed whose name has not, and which file it can be.
func changedContent(f File) string {
	var named []string
	if c, has := f.(interface{ OneJob() *Job }); has {
		named = c.OneJob().namedFiles()
	}
	switch len(named) {
	case 0:
		return "the content of a file that the configuration reads has changed"
	case 1:
		return "the content of " + named[0] + " has changed"
	}
	return "the content of one of these files has changed: " + strings.Join(named, ", ")
}

// namedFiles lists the keys of a job that name files on whose content results depend, with their values.
func (j *Job) namedFiles() (list []string) {
	for _, v := range Values(j) {
		path := strings.Trim(v.Text, `"`)
		switch v.Key {
		case "time.profile", "adapt.decider":
			if !files.IsPath(path) {
				continue
			}
		case "program.command":
			path = j.Program.String()
		case "network.file", "time.timeline", "adapt.policy", "adapt.vocabulary":
		default:
			continue
		}
		if path != "" {
			list = append(list, fmt.Sprintf("%s (%s)", v.Key, path))
		}
	}
	return list
}

// kindOfFile returns the kind of a parsed file.
func kindOfFile(f File) *Kind {
	k := slices.IndexFunc(Kinds(), func(k *Kind) bool { return reflect.TypeOf(k.New()) == reflect.TypeOf(f) })
	return Kinds()[k]
}

// ChangesNoResult reports whether a key, such as run.folder, has no effect on results in any kind of file. Fields of
// such keys have the tag result:"none".
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
