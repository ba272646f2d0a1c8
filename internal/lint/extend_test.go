package lint

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// addition adds a thing of some kind with one new file and one line.
type addition struct {
	file, text   string // new file
	registry     string // file with the list of the kind; empty if the new file registers itself
	after, line  string // the line is inserted after this text
	args, prints string // command line that shows the thing, and a part of its output
}

var additions = map[string]addition{
	"a kind of file": {
		"config/note.go", `package config

// NoteKind covers files with the section note.
var NoteKind = &Kind{Name: "note", Noun: "note", Files: "files of notes", Title: "a note", Sections: []string{"note"},
	New: func() File { return &Note{} }, Summary: func(f File) (string, error) { return f.(*Note).Note.Text, nil },
	Page: Page{Title: "Keys of a note", Intro: "A note.\n"}}

// Note is the file of a note.
type Note struct {
	Note NoteOptions // the note
	sources
}

// NoteOptions are the keys of a note.
type NoteOptions struct {
	Text string // any text; empty is none
}

// EnsureDefaults has nothing to fill in.
func (n *Note) EnsureDefaults() {}

// Validate accepts every note.
func (n *Note) Validate() error { return nil }
`, "config/kind.go", "kinds := []*Kind{JobKind, ", "NoteKind, ", "config schema --note", `"text"`},
	"a kind of run": {
		"report/runs/note.go", `package runs

// NoteKind covers folders with a note.
var NoteKind = &Kind{Name: "note", Title: "note", Titles: "notes",
	matches: func(f *Folder) bool { return f.Has("note.txt") },
	read: func(f *Folder, r *Run) error {
		r.Ended, r.Quantities = true, []Quantity{{Name: "words", Values: []float64{3}}}
		return nil
	}}
`, "report/runs/kind.go", "return slices.Concat(StudyKinds(), []*Kind{", "NoteKind, ", "report RUN", "words"},
	"a scheduler": {
		"cluster/schedulers/lifo.go", `package schedulers

import "graft/cluster"

// newLIFO starts the latest job first.
func newLIFO(s cluster.Setup) (cluster.Scheduler, error) { return newFIFO(s) }
`, "cluster/schedulers/kinds.go", "return registry.List[cluster.Policy]{\n",
		"\t\t{Name: \"lifo\", About: \"the latest first\", New: newLIFO},\n", "cluster run --help", "the latest first"},
	"a figure": {
		"report/plot/dots.go", `package plot

import "graft/report/runs"

// plotDots draws nothing.
func plotDots(*runs.Run) ([]drawing, error) { return nil, nil }
`, "report/plot/kinds.go", "\treturn registry.List[Kind]{\n", "\t\t{Name: \"dots\", About: \"dots of a job\", of: " +
			"[]*runs.Kind{runs.JobKind}, Draw: single(plotDots)},\n", "plot --help", "dots of a job"},
	"an event": {
		"results/throttled.go", `package results

// EventThrottled says that the device slowed down.
var EventThrottled = NewJobEvent("throttled", EventTraits{About: "the device slowed down"})
`, "", "", "", "version", "graft"},
}

// A new thing of each kind needs one new file and at most one line; a world needs one package and one line. The program
// is built with all of them and shows each. The tree is not changed: the compiler gets the new files as an overlay.
func TestAThingIsOneFileAndOneLine(t *testing.T) {
	if os.Getenv("GRAFT_LONG") == "" {
		t.Skip("left out: a build of the program with one more of each kind of thing; set GRAFT_LONG=1")
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	dir := t.TempDir()
	overlay := map[string]string{}
	put := func(path, text string) {
		file := filepath.Join(dir, strings.ReplaceAll(path, "/", "_"))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		overlay[filepath.Join(root, path)] = file
	}
	for path, text := range toyFiles(t, root) {
		put(path, text)
	}
	for name, a := range additions {
		put(a.file, a.text)
		if a.registry == "" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, a.registry))
		require.NoError(t, err)
		before, behind, found := strings.Cut(string(text), a.after)
		require.True(t, found, "%s: %s has no %q", name, a.registry, a.after)
		put(a.registry, before+a.after+a.line+behind)
	}
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	require.NoError(t, err)
	list, graft, run := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "graft"), filepath.Join(dir, "run")
	require.NoError(t, os.WriteFile(list, text, 0o600))
	require.NoError(t, os.Mkdir(run, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(run, "note.txt"), nil, 0o600))
	build := exec.Command("go", "build", "-overlay", list, "-o", graft, "./runner")
	build.Dir = root
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Run("world", func(t *testing.T) { newToy(t, root, graft).isAWorld() })
	for name, a := range additions {
		out, err := exec.Command(graft, strings.Fields(strings.ReplaceAll(a.args, "RUN", run))...).CombinedOutput()
		require.NoError(t, err, "%s: %s", name, out)
		require.Contains(t, string(out), a.prints, name)
	}
}
