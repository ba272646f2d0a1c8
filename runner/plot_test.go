package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/files"
	"graft/model"
	"graft/net2net"
	"graft/results/failure"
	"graft/results/figure"
	"graft/results/plot"
	"graft/results/runs"
)

// plotInto draws runs and returns the names and bytes of the files, and what was printed.
func plotInto(t *testing.T, dir string, args ...string) (map[string]string, outcome) {
	t.Helper()
	o := graft(append([]string{"plot", "--out", dir}, args...)...)
	all := map[string]string{}
	entries, _ := os.ReadDir(dir) // without it there is none
	for _, e := range entries {
		text := contents(t, filepath.Join(dir, e.Name()))
		all[e.Name()] = text
	}
	return all, o
}

func TestPlotDrawsWhatFits(t *testing.T) {
	runs := writeAll(t)
	for name, want := range map[string][]string{
		"job":        {"curves", "spent", "timeline"},
		"open":       {"curves", "timeline"},
		"policy":     {"learning"},
		"simulation": {"ranks", "tree"},
		"table":      {"ranks", "tree"},
		"original":   {"curves", "learning", "timeline"},
	} {
		files, o := plotInto(t, t.TempDir(), runs[name], "--kind", strings.Join(append(want, "networks", "heat"), ","))
		require.Equal(t, failure.Done, o.code, "%s: %s", name, o.stderr)
		var names []string
		for file, text := range files {
			require.Contains(t, text, "<svg ", file)
			names = append(names, strings.TrimSuffix(file[strings.LastIndex(file, "-")+1:], ".svg"))
		}
		slices.Sort(names)
		require.Equal(t, want, names, name)
		require.Equal(t, 1+len(want), strings.Count(o.stdout, "\n"), o.stdout)
	}
}

// What is wrong is named and left out; the rest is drawn.
func TestPlotOfBadFolders(t *testing.T) {
	dir := t.TempDir()
	bad := badFolders(t, dir)
	good := filepath.Join(t.TempDir(), "good")
	writeJob(t, good, writtenJob{seed: 1, epochs: 6, accuracy: 0.5})
	args := []string{good}
	for name := range bad {
		args = append(args, filepath.Join(dir, name))
	}
	out := t.TempDir()
	files, o := plotInto(t, out, args...)
	require.Equal(t, failure.Partial, o.code, o.stderr)
	require.Contains(t, files, "good-timeline.svg")
	for name, says := range bad {
		require.Regexp(t, "left out: .*/"+name+".*"+says, o.stderr)
	}
	_, o = plotInto(t, out, args[1:]...)
	require.Equal(t, failure.Damaged, o.code)

	var report plot.Report
	_, o = plotInto(t, out, append(args, "--json")...)
	require.NoError(t, json.Unmarshal([]byte(o.stdout), &report))
	require.Len(t, report.Skipped, len(bad))
	require.Equal(t, plot.Written{Figure: "curves", Runs: []string{good}, File: filepath.Join(out, "good-curves.svg")}, report.Written[0])
}

func TestPlotFlags(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "job")
	writeJob(t, dir, writtenJob{seed: 1, epochs: 3, accuracy: 0.5})
	for _, wrong := range [][]string{{"--format", "gif"}, {"--width", "wide"}, {"--theme", "blue"}, {"--kind", "pie"}} {
		_, o := plotInto(t, filepath.Join(t.TempDir(), "none"), append(wrong, dir)...)
		require.Equal(t, failure.Usage, o.code)
		require.Contains(t, o.stderr, wrong[0])
	}
	_, o := plotInto(t, t.TempDir(), dir, "--kind", "tree")
	require.Equal(t, failure.Failed, o.code)
	require.Contains(t, o.stderr, "none of the figures fits")
}

// A folder of runs stands for them; what differs in its seed alone is one curve.
func TestPlotOfSeveralRuns(t *testing.T) {
	dir := t.TempDir()
	for seed, name := range []string{"a", "b", "c"} {
		writeJob(t, filepath.Join(dir, name), writtenJob{seed: uint64(seed), epochs: 6, accuracy: 0.5 + float64(seed)/100})
	}
	writeJob(t, filepath.Join(dir, "other"), writtenJob{seed: 1, epochs: 6, accuracy: 0.4, resolved: "[run]\nseed = 1\n[time]\nbudget = \"50s\"\n"})
	files, o := plotInto(t, t.TempDir(), dir, "--kind", "accuracy")
	require.Equal(t, failure.Done, o.code, o.stderr)
	text := files["a-and-3-accuracy.svg"]
	require.Contains(t, text, "a and 2 more seeds<")
	require.Contains(t, text, ">other<")

	writePolicy(t, filepath.Join(dir, "scratch"), 1, true)
	writePolicy(t, filepath.Join(dir, "transfer"), 2, true)
	write(t, filepath.Join(dir, "transfer", runs.ResolvedFile), "[run]\nseed = 2\n[policy]\nweights = \"scratch\"\n")
	files, o = plotInto(t, t.TempDir(), dir, "--kind", "transfer")
	require.Equal(t, failure.Done, o.code, o.stderr)
	require.Contains(t, files["scratch-transfer-transfer.svg"], "jump-start")
}

// Every label of every figure of every run lies inside and alone, and every axis of a
// quantity has its unit.
func TestFiguresOfRunsCanBeRead(t *testing.T) {
	for name, path := range writeAll(t) {
		r, err := runs.Open(files.OS{}, path)
		require.NoError(t, err)
		for _, kind := range plot.Kinds(plot.Given{}) {
			for _, group := range kind.Groups([]*runs.Run{r}) {
				drawings, _ := kind.Draw(group) // what cannot be drawn is another test's
				for _, d := range drawings {
					legible(t, name+" "+kind.Name, d.Figure)
				}
			}
		}
	}
}

// counts are axes of plain counts and of what has no unit.
var counts = []string{"episodes", "episode", "steps", "parameters", "devices", "aim", "objective", "rank of the sequence", "temperature", "reward held out"}

func legible(t *testing.T, name string, f figure.Figure) {
	t.Helper()
	for _, width := range []float64{figure.Column, figure.Wide} {
		require.Empty(t, f.Layout(width).Faults(), name)
	}
	var axes []figure.Axis
	switch f := f.(type) {
	case *figure.Chart:
		axes = append(axes, f.X)
		for _, p := range f.Panels {
			axes = append(axes, p.Y)
		}
	case *figure.Bars:
		axes = append(axes, f.X)
	case *figure.Heat:
		axes = append(axes, f.X)
	case *figure.Tree:
		axes = append(axes, f.Value)
	}
	for _, a := range axes {
		require.True(t, a.Unit != "" || slices.Contains(counts, a.Name), "%s: the axis %q has no unit", name, a.Name)
	}
}

// The figures of policies need tables and policies, which learning makes.
func TestPlotOfPoliciesThatLearned(t *testing.T) {
	path, folder := classFile(t, ""), filepath.Join(t.TempDir(), "run")
	done(t, "learn", path, "--set", "run.seeds=2", "--set", "policy.hidden=16", "--set", "learn.steps=20", "--folder", folder)
	written, o := plotInto(t, t.TempDir(), folder)
	require.Equal(t, failure.Done, o.code, o.stderr)
	containsAll(t, written, "run-learning.svg", "run-bars.svg", "run-heat.svg", "run-tree-one.svg", "run-tree-two.svg")
	for _, word := range append(slices.Clone(plot.ChooserNames), "one", "two") {
		require.Contains(t, written["run-bars.svg"], ">"+word+"</text>")
	}
	require.Contains(t, written["run-tree-one.svg"], ">policy, ")
	r, err := runs.Open(files.OS{}, folder)
	require.NoError(t, err)
	for _, kind := range plot.Kinds(plot.Given{}) {
		for _, group := range kind.Groups([]*runs.Run{r}) {
			drawings, err := kind.Draw(group)
			require.NoError(t, err)
			for _, d := range drawings {
				legible(t, kind.Name, d.Figure)
			}
		}
	}
	text := contents(t, filepath.Join(folder, runs.ResolvedFile))
	moved := strings.ReplaceAll(text, "/one\"", "/gone\"")
	write(t, filepath.Join(folder, runs.ResolvedFile), moved)
	written, o = plotInto(t, t.TempDir(), folder)
	require.Equal(t, failure.Partial, o.code)
	require.Contains(t, written["run-bars.svg"], "vote of all seeds", "the outcome says as much without the tables")
}

// Layers that surgery kept stand beside themselves, though it gave them other names.
func TestSurgeryIsDrawn(t *testing.T) {
	before, err := model.Zoo("ConvSmall", model.ZooOptions{})
	require.NoError(t, err)
	after := before.Sketch()
	for _, text := range []string{"deepen:conv2", "widen:conv3:64"} {
		action, err := net2net.ParseAction(text)
		require.NoError(t, err)
		_, err = net2net.Apply(after, action, net2net.Options{})
		require.NoError(t, err)
	}
	s, err := plot.SurgeryFigure(before, after, "deepen conv2")
	require.NoError(t, err)
	state := map[string][]string{}
	known := map[string]bool{}
	for _, l := range s.Before.Layers {
		known[l.Key] = true
	}
	for _, l := range s.After.Layers {
		switch {
		case !known[l.Key]:
			state["new"] = append(state["new"], l.Name)
		case l.Wider:
			state["wider"] = append(state["wider"], l.Name)
		default:
			delete(known, l.Key)
		}
	}
	require.Equal(t, []string{"Conv2d 32 to 32, 3×3", "BatchNorm2d 32×16×16", "ReLU 32×16×16"}, state["new"])
	require.Equal(t, "Conv2d 32 to 64, 3×3", state["wider"][0])
	require.Len(t, known, len(state["wider"]), "nothing is gone")
	legible(t, "surgery", s)
}
