package runs

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"graft/config"
	"graft/results/document"
)

// apartKeys are seeds, in which runs that are compared as one may differ, and the
// original's keys that change no result.
var apartKeys = []string{"run.seed", "runner.seed", "runner.folder", "agent.save_file"}

// Material lists the settings in which runs must agree to be compared as one.
func (r *Run) Material() []config.Setting {
	return slices.DeleteFunc(slices.Clone(r.Settings), func(s config.Setting) bool {
		return slices.Contains(apartKeys, s.Key) || config.ChangesNoResult(s.Key)
	})
}

// Compared maps the settings in which runs of different columns differ to their texts: the
// configuration but for seeds and what changes no result, and what the manifest adds to it.
func (r *Run) Compared() map[string]string {
	all := map[string]string{}
	for _, s := range r.Material() {
		all[s.Key] = s.Text
	}
	if r.Manifest.Graft != "" {
		all["(version of graft)"] = r.Manifest.Graft
	}
	if digest := r.Manifest.DatasetSHA256; digest != "" { // of which the configuration has the name only
		all["(images)"] = document.ShortDigest(digest)
	}
	if r.Settings == nil { // a table that lies alone: what it is called is all that tells it
		all["(folder)"] = r.Path
	}
	return all
}

// Fingerprint is equal for runs of one column.
func (r *Run) Fingerprint(settings map[string]string) string {
	keys := make([]string, 0, len(settings))
	for key := range settings {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	var b strings.Builder
	fmt.Fprintln(&b, r.Kind.Name, r.Ended)
	for _, key := range keys {
		fmt.Fprintf(&b, "%q %q\n", key, settings[key])
	}
	return b.String()
}

// CommonName is what the last parts of paths begin with, up to a number that tells
// them apart.
func CommonName(paths []string) string {
	first := filepath.Base(paths[0])
	if len(paths) == 1 {
		return first
	}
	common := first
	for _, path := range paths[1:] {
		base := filepath.Base(path)
		for !strings.HasPrefix(base, common) {
			common = common[:len(common)-1]
		}
	}
	common = strings.TrimRight(strings.TrimRight(common, "0123456789"), "-_. ")
	for _, word := range []string{"seed", "run"} {
		common = cmp.Or(strings.TrimRight(strings.TrimSuffix(common, word), "-_. "), common)
	}
	return cmp.Or(common, first)
}

// Word is how JSON names an aim.
func (a aim) Word() string {
	return map[aim]string{upward: "more", downward: "less"}[a]
}
