package decode

import (
	"fmt"
	"path/filepath"
	"reflect"
)

// FindPaths finds the files of keys whose values are paths. A relative path of the document counts
// from the working folder; where nothing is there, and something is at this path in the folder of
// the document, the value becomes that.
func (r *Reading) FindPaths(keys []string, is func(key, text string) bool, there func(path string) bool) {
	for _, key := range keys {
		o := r.outline.At(key)
		if o == nil || r.broken[key] || r.Given[key].File != r.doc.file || r.doc.file == "" {
			continue
		}
		v := r.target.FieldByIndex(o.index)
		if v.Kind() == reflect.String {
			r.findPath(key, v, is, there)
			continue
		}
		for k := range v.Len() {
			r.findPath(item(key, k), v.Index(k), func(_, text string) bool { return is(key, text) }, there)
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

// Elsewhere adds to an error of a missing file the second place where it was looked for: a
// key has one if nothing was in either.
func (r *Reading) Elsewhere(key string, err error, items ...any) error {
	beside := r.Beside[item(key, items...)]
	if beside == "" {
		return err
	}
	return fmt.Errorf("%w; %s is not there either", err, beside)
}
