package runs

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"graft/config"
	"graft/report/document"
)

// repeatKeys lists keys that may differ between runs of one column: seeds, and keys of the original that do not change
// results.
var repeatKeys = []string{"run.seed", "runner.seed", "runner.folder", "agent.save_file"}

// Material lists the settings that must be equal for runs to share a column of a comparison.
func (r *Run) Material() []config.Setting {
	return slices.DeleteFunc(slices.Clone(r.Settings), func(s config.Setting) bool {
		return slices.Contains(repeatKeys, s.Key) || config.ChangesNoResult(s.Key)
	})
}

// FilesSetting is the name of a setting of [Run.ColumnSettings]: the digest of the files that the configuration names.
const FilesSetting = "(content of files)"

// ColumnSettings returns the settings that distinguish the columns of a comparison, as strings: the configuration, the
// version of graft, the digest of the images, and the [Run.Circumstances]. Seeds and keys that do not change results
// are omitted.
func (r *Run) ColumnSettings() map[string]string {
	all := map[string]string{}
	for _, s := range r.Material() {
		all[s.Key] = s.Text
	}
	if r.Manifest.Graft != "" {
		all["(version of graft)"] = r.Manifest.Graft
	}
	if digest := r.Manifest.DatasetSHA256; digest != "" { // the configuration has only its name
		all["(images)"] = document.ShortDigest(digest)
	}
	for _, s := range r.Circumstances() {
		all[s.Key] = s.Text
	}
	if plan, err := ReadSweepPlan(r.Files, r.Path); r.Kind == SweepKind && err == nil {
		all["(cases)"] = plan.casesText()
	}
	if r.Settings == nil { // only its path identifies a table outside of a run
		all["(folder)"] = r.Path
	}
	return all
}

// Circumstances lists what affects the results of a run and is not in its configuration, with names in parentheses: the
// version of LibTorch, the digest of the files that the configuration names, and changes during the run: of its budget
// when it was resumed, of its LibTorch, and of its devices over HTTP.
func (r *Run) Circumstances() (list []config.Setting) {
	m := r.Manifest
	add := func(key, text string) {
		if text != "" {
			list = append(list, config.Setting{Key: key, Text: text})
		}
	}
	library, budget, files := m.LibTorch, "", ""
	switch {
	case m.OtherLibTorch && m.Fork != "":
		library = "changed when the run forked or resumed"
	case m.OtherLibTorch:
		library = "changed when the run resumed"
	}
	if m.OtherBudget {
		budget = "changed when the run resumed"
	}
	if m.FilesSHA256 != "" { // the configuration has only their names
		files = document.ShortDigest(m.FilesSHA256)
	}
	add("(version of LibTorch)", library)
	add(FilesSetting, files)
	add("(time.budget)", budget)
	add("(changes while it ran)", r.live)
	return list
}

// casesText identifies the cases of a sweep with their settings: with a few settings by their text, and otherwise by a
// digest.
func (p *SweepPlan) casesText() string {
	const most = 80
	var parts []string
	for _, c := range p.Reported() {
		text := strings.Join(c.Set, ", ")
		if text != c.Name {
			text = c.Name + ": " + text
		}
		parts = append(parts, strings.TrimSuffix(text, ": "))
	}
	if text := strings.Join(parts, "; "); len(text) <= most {
		return text
	}
	return fmt.Sprintf("%d cases, %s", len(parts), document.ShortDigest(DigestOfTexts(parts...)))
}

// Fingerprint returns a string that identifies the column of a comparison to which a run with these settings belongs.
// Runs in the same column have equal fingerprints.
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

// CommonName returns the common prefix of the last elements of paths, without trailing numbers.
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
