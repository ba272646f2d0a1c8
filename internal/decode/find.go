package decode

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// FindPaths resolves the paths in the document: the values of the given keys, and of keys with the tag "path". The
// callback is(key, value) reports whether a value is a path; there(path) reports whether a file exists. A relative path
// means a file in the working directory. If the file exists only in the document's folder, FindPaths replaces the value
// with the path of that file.
func (r *Reading) FindPaths(keys []string, is func(key, text string) bool, there func(path string) bool) {
	keys, words := slices.Clone(keys), map[string]bool{}
	for _, o := range r.outline.Leaves() {
		if o.pathed != "" {
			keys, words[o.Name()] = append(keys, o.Name()), o.pathed == pathOrWord
		}
	}
	for _, key := range keys {
		o := r.outline.At(key)
		may := func(key, text string) bool { return is(key, text) && (!words[key] || looksLikePath(text)) }
		if o == nil || r.broken[key] || r.Given[key].File != r.doc.file || r.doc.file == "" {
			continue
		}
		v := r.target.FieldByIndex(o.index)
		if v.Kind() == reflect.String {
			r.findPath(key, v, may, there)
			continue
		}
		for k := range v.Len() {
			r.findPath(item(key, k), v.Index(k), func(_, text string) bool { return may(key, text) }, there)
		}
	}
}

func (r *Reading) findPath(key string, v reflect.Value, is func(key, text string) bool, there func(path string) bool) {
	text := v.String()
	beside := filepath.Join(filepath.Dir(r.doc.file), text)
	switch {
	case text == "" || filepath.IsAbs(text) || beside == filepath.Clean(text) || !is(key, text) || there(text):
	case there(beside):
		v.SetString(beside)
	default:
		r.Beside[key] = beside
	}
}

func item(key string, items ...any) string { return key + fmt.Sprint(items...) }

// Elsewhere extends an error about a missing file: it adds the second path at which FindPaths looked for the file.
func (r *Reading) Elsewhere(key string, err error, items ...any) error {
	beside := r.Beside[item(key, items...)]
	if beside == "" {
		return err
	}
	return fmt.Errorf("%w; %s does not exist either", err, beside)
}

// pathOrWord is the value of the tag path of keys that hold a path or another word.
const pathOrWord = "word"

// looksLikePath distinguishes paths from words: they have a separator, or the extension of a file.
func looksLikePath(text string) bool {
	return strings.ContainsAny(text, "/"+string(filepath.Separator)) || filepath.Ext(text) != ""
}
