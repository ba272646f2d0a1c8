package runs

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"graft/results/document"
)

// seedKeys are those in which the runs of a column may differ, and nameKeys those that
// say where things are kept.
var (
	seedKeys = []string{"run.seed", "runner.seed"}
	nameKeys = []string{"run.folder", "run.listen", "runner.folder", "agent.save_file"}
)

// Compared are the settings in which runs of different columns differ: the
// configuration but for seed and folders, and what the manifest knows beside it.
func (r *Run) Compared() map[string]string {
	all := map[string]string{}
	for _, s := range r.Settings {
		if !slices.Contains(seedKeys, s.Key) && !slices.Contains(nameKeys, s.Key) && !strings.HasPrefix(s.Key, "checkpoint.") {
			all[s.Key] = s.Text
		}
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
