package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/model"
	"graft/net2net"
	"graft/original/learn"
	"graft/report/document"
	"graft/report/figure"
	"graft/report/plot"
	"graft/report/runs"
	"graft/results"
	"graft/simulation/tables"
)

// plotInto plots runs, and returns the files by name and the printed output.
func plotInto(t *testing.T, dir string, args ...string) (map[string]string, outcome) {
	t.Helper()
	o := graft(append([]string{"plot", "--out", dir}, args...)...)
	all := map[string]string{}
	entries, _ := os.ReadDir(dir) // on a failure the folder may be missing
	for _, e := range entries {
		text := contents(t, filepath.Join(dir, e.Name()))
		all[e.Name()] = text
	}
	return all, o
}

// plotted plots runs, which must succeed.
func plotted(t *testing.T, dir string, args ...string) (map[string]string, outcome) {
	t.Helper()
	drawn, o := plotInto(t, dir, args...)
	return drawn, ends(t, o, failure.Done, "")
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
		files, o := plotted(t, t.TempDir(), runs[name], "--kind", strings.Join(append(want, "networks", "heat"), ","))
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

// Bad folders are named and left out, and the rest is plotted.
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
	require.Equal(t, plot.Written{Figure: "curves", Runs: []string{good}, File: filepath.Join(out, "good-curves.svg")},
		report.Written[0])
}

func TestPlotFlags(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "job")
	writeJob(t, dir, writtenJob{seed: 1, epochs: 3, accuracy: 0.5})
	for _, wrong := range [][]string{{"--format", "gif"}, {"--width", "wide"}, {"--theme", "blue"}, {"--kind", "pie"},
		{"--x", "flops"}} {
		_, o := plotInto(t, filepath.Join(t.TempDir(), "none"), append(wrong, dir)...)
		require.Equal(t, failure.Usage, o.code)
		require.Contains(t, o.stderr, wrong[0])
	}
	_, o := plotInto(t, t.TempDir(), dir, "--kind", "tree")
	require.Equal(t, failure.Failed, o.code)
	require.Contains(t, o.stderr, "no figure fits these runs")
	require.Contains(t, o.stderr, "tree is a figure of")
	require.Empty(t, o.stdout)
}

// A folder of runs stands for its runs, and runs that differ only in their seed are one curve.
func TestPlotOfSeveralRuns(t *testing.T) {
	dir := t.TempDir()
	for seed, name := range []string{"a", "b", "c"} {
		writeJob(t, filepath.Join(dir, name),
			writtenJob{seed: uint64(seed), epochs: 6, accuracy: 0.5 + float64(seed)/100})
	}
	writeJob(t, filepath.Join(dir, "other"), writtenJob{seed: 1, epochs: 6, accuracy: 0.4,
		resolved: "[run]\nseed = 1\n[time]\nbudget = \"50s\"\n"})
	files, _ := plotted(t, t.TempDir(), dir, "--kind", "accuracy")
	text := files["a-and-3-accuracy.svg"]
	require.Contains(t, text, "a and 2 more seeds<")
	require.Contains(t, text, ">other<")

	writePolicy(t, filepath.Join(dir, "scratch"), 1, true)
	writePolicy(t, filepath.Join(dir, "transfer"), 2, true)
	write(t, filepath.Join(dir, "transfer", runs.ResolvedFile), "[run]\nseed = 2\n[policy]\nweights = \"scratch\"\n")
	files, _ = plotted(t, t.TempDir(), dir, "--kind", "transfer")
	require.Contains(t, files["scratch-transfer-transfer.svg"], "jump-start")
}

// Every label of every figure of every run is inside the figure and overlaps no other, and every axis of a quantity has
// its unit.
func TestFiguresOfRunsCanBeRead(t *testing.T) {
	for name, path := range writeAll(t) {
		r := openRun(t, path)
		for _, kind := range plot.Kinds(plot.Given{}) {
			for _, group := range kind.Groups([]*runs.Run{r}) {
				drawings, _ := kind.Draw(group) // another test checks errors
				for _, d := range drawings {
					legible(t, name+" "+kind.Name, d.Figure)
				}
			}
		}
	}
}

// counts holds axes of plain counts and of quantities without a unit.
var counts = []string{"episodes", "episode", "steps", "parameters", "devices", "objective",
	"rank of the sequence", "temperature", "reward held out"}

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

// The figures of policies need tables and policies, so this test trains policies first.
func TestPlotOfPoliciesThatLearned(t *testing.T) {
	path, folder := classFile(t, ""), filepath.Join(t.TempDir(), "run")
	done(t, "learn", path, "--set", "run.seeds=2", "--set", "policy.hidden=16", "--set", "learn.steps=20",
		"--folder", folder)
	written, o := plotted(t, t.TempDir(), folder)
	containsAll(t, written, "run-learning.svg", "run-bars.svg", "run-heat.svg", "run-tree-one.svg", "run-tree-two.svg")
	for _, word := range append(slices.Clone(plot.ChooserNames), "one", "two") {
		require.Contains(t, written["run-bars.svg"], ">"+word+"</text>")
	}
	require.Contains(t, written["run-tree-one.svg"], ">policy, ")
	r := openRun(t, folder)
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

// Layers that surgery kept are drawn next to themselves, even if surgery renamed them.
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
	s, err := plot.SurgeryFigure(before, after, nil, "deepen conv2")
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

// A network that runs as a graph is drawn by its modules with parameters.
func TestSurgeryOfGraphsIsDrawn(t *testing.T) {
	before, err := model.Zoo("SmallLLaMA", model.ZooOptions{Input: model.Shape{12}, Tokens: 30})
	require.NoError(t, err)
	after, changes := before.Sketch(), []*net2net.Change(nil)
	for _, text := range []string{"deepen:blocks.1", "widen:blocks.0.up:600"} {
		action, err := net2net.ParseAction(text)
		require.NoError(t, err)
		change, err := net2net.Apply(after, action, net2net.Options{})
		require.NoError(t, err)
		changes = append(changes, change)
	}
	s, err := plot.SurgeryFigure(before, after, changes, "both")
	require.NoError(t, err)
	legible(t, "graph", s)
	known, added, wider := map[string]bool{}, map[string]int{}, []string{}
	for _, l := range s.Before.Layers {
		known[l.Key] = true
	}
	for _, l := range s.After.Layers {
		switch {
		case !known[l.Key]:
			added[l.Block]++
		case l.Wider:
			wider = append(wider, l.Block+" "+l.Name)
		}
	}
	require.Equal(t, map[string]int{"blocks.2": 9}, added, "the new block, of nine modules")
	require.Len(t, s.After.Layers, len(s.Before.Layers)+9)
	require.Equal(t, []string{"blocks.0 Linear 128 to 600", "blocks.0 Linear 128 to 600", "blocks.0 Linear 600 to 128"},
		wider)
}

// The networks of a job are drawn from its file and its actions, and its report explains the axes that were widened.
func TestGraphsOfJobsAreDrawn(t *testing.T) {
	longOnly(t, "drawings of a job on text; graphs and jobs are drawn apart")
	t.Chdir(t.TempDir())
	texts(t, ".")
	write(t, "job.toml", fmt.Sprintf(textJob, "SmallLLaMA", `["deepen:blocks.1", "widen:tok:160"]`))
	done(t, "train", "job.toml", "--folder", "job", "--quiet")
	drawn, _ := plotted(t, t.TempDir(), "job", "--kind", "networks")
	require.Contains(t, drawn["job-networks.svg"], ">Embedding 28 × 160</text>")
	require.Contains(t, drawn["job-networks.svg"], "Only modules with parameters")
	require.Contains(t, done(t, "report", "job").stdout,
		"widen:tok:160: width of the residual stream, which all blocks share.")
	require.NoError(t, os.RemoveAll("texts"))
	again, _ := plotted(t, t.TempDir(), "job", "--kind", "networks")
	require.Equal(t, drawn, again, "without the data")

	texts(t, ".")
	write(t, "net.toml", done(t, "model", "show", "SmallLLaMA", "--toml").stdout)
	write(t, "job.toml", strings.Replace(fmt.Sprintf(textJob, "net.toml", `["deepen:blocks.1", "none"]`), "name =",
		"file =", 1))
	done(t, "train", "job.toml", "--folder", "file", "--quiet", "--set", "data.tokens=bytes")
	drawn, _ = plotted(t, t.TempDir(), "file", "--kind", "networks")
	require.Contains(t, drawn["file-networks.svg"], ">blocks.2</text>", "a network of a file, as imports write")
	require.NoError(t, os.Remove("net.toml"))
	_, o := plotInto(t, t.TempDir(), "file", "--kind", "networks")
	require.Contains(t, o.stderr, "run 'graft plot' in the folder in which the job was started")
}

// goldenFigures compares figures with golden files.
func goldenFigures(t *testing.T, drawn map[string]string, names ...string) {
	t.Helper()
	for _, name := range names {
		require.Contains(t, drawn, name)
		golden(t, "plot/"+name, drawn[name])
	}
}

// readable checks the labels and units of all figures of runs.
func readable(t *testing.T, given plot.Given, paths ...string) {
	t.Helper()
	var list []*runs.Run
	for _, path := range paths {
		r := openRun(t, path)
		list = append(list, r)
	}
	for _, kind := range plot.Kinds(given) {
		for _, group := range kind.Groups(list) {
			drawings, err := kind.Draw(group)
			require.NoError(t, err, kind.Name)
			for _, d := range drawings {
				legible(t, kind.Name, d.Figure)
			}
		}
	}
}

func TestPlotEvaluationsAndPipelines(t *testing.T) {
	dir := t.TempDir()
	evaluation, left, pipeline := filepath.Join(dir, "evaluation"), filepath.Join(dir, "left"),
		filepath.Join(dir, "pipeline")
	writeEvaluation(t, evaluation, false, true)
	writeEvaluation(t, left, true, true)
	writePipeline(t, pipeline, "")
	drawn, o := plotted(t, t.TempDir(), evaluation, left, pipeline, "--kind", "regret,stages,ranks,learning")
	goldenFigures(t, drawn, "evaluation-regret.svg", "pipeline-stages.svg")
	containsAll(t, drawn, "pipeline-regret.svg", "tried-ranks.svg", "policy-learning.svg")
	drawn, o = plotted(t, t.TempDir(), evaluation, left, "--kind", "bars")
	goldenFigures(t, drawn, "evaluation-bars.svg")
	require.Contains(t, drawn["left-bars.svg"], "use only the other tables")
	readable(t, plot.Given{}, evaluation, left, pipeline)

	require.NoError(t, os.RemoveAll(filepath.Join(pipeline, runs.EvaluationFolder)))
	drawn, o = plotInto(t, t.TempDir(), pipeline, "--kind", "bars")
	require.Equal(t, failure.Partial, o.code)
	require.Contains(t, drawn, "pipeline-bars.svg", "the outcome says as much without intervals")
	open := filepath.Join(dir, "open")
	writePipeline(t, open, runs.LearnStage)
	drawn, o = plotted(t, t.TempDir(), open)
	require.Len(t, drawn, 3, "the stage that was done, with the tree and the ranks of its table")
}

func TestPlotThroughput(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for seed := range uint64(3) {
		for _, name := range []string{"slow", "fast"} {
			path := filepath.Join(dir, fmt.Sprintf("%s-%d", name, seed+1))
			writeJob(t, path, writtenJob{seed: seed + 1,
				epochs: map[string]int{"slow": 6, "fast": 12}[name] + int(seed), accuracy: 0.5,
				resolved: fmt.Sprintf("[run]\nseed = %d\n[train]\nname = %q\n", seed+1, name)})
			paths = append(paths, path)
		}
	}
	writeJob(t, filepath.Join(dir, "open"), writtenJob{seed: 1, epochs: 3, accuracy: 0.5, open: true})
	drawn, _ := plotted(t, t.TempDir(), append(paths, filepath.Join(dir, "open"), "--kind", "throughput")...)
	goldenFigures(t, drawn, "slow-1-and-6-throughput-epochs.svg", "slow-1-and-6-throughput-overhead.svg")
	require.Contains(t, drawn["slow-1-and-6-throughput-epochs.svg"], ">slow, 3 seeds<")
	readable(t, plot.Given{}, paths...)
	drawn, _ = plotted(t, t.TempDir(), paths[0], "--kind", "throughput")
	require.Len(t, drawn, 2, "one job will do")
}

// writeStudy writes the run folder of a policy of the original system that improved over episodes.
func writeStudy(t *testing.T, dir, way string, seed uint64, rise float64) {
	t.Helper()
	run, err := results.Create(files.OS{}, dir,
		results.CreateOptions{Resolved: fmt.Sprintf("[run]\nseed = %d\n[policy]\nweights = %q\n", seed, way)},
		results.Manifest{Created: when, Seed: seed})
	require.NoError(t, err)
	var records []tables.Record
	for k := range 16 {
		records = append(records, tables.Record{Sequence: []string{tried.Actions[k/4], tried.Actions[k%4]},
			Left: []float64{9, 8}, Accuracy: []float64{0.5 + float64(k)/64}, Seeds: []int64{1}})
	}
	table, err := tables.New(tried, records)
	require.NoError(t, err)
	book, err := learn.OpenFolder(run, table, "")
	require.NoError(t, err)
	const each = 20
	for row := range 12 {
		var lesson learn.EpisodeResults
		for k := range each {
			share := min(1, (float64(row*each+k)+0.5)/240*rise)
			end := min(15, int(16*share*(0.7+0.3*math.Sin(float64(row*each+k+int(seed))))))
			lesson.Ends, lesson.Objectives = append(lesson.Ends, int32(end)),
				append(lesson.Objectives, share-0.1*float64(k%3))
		}
		require.NoError(t, book.Episodes(row*each, lesson))
		require.NoError(t, book.Row(learn.Row{Episodes: each * (row + 1), Objective: 0.1, Accuracy: 0.5,
			Expected: 0.5 + 0.2*rise*float64(row+1)/12 + float64(seed)/100, Temperature: 2}))
	}
	require.NoError(t, run.Close())
}

// Policies that differ only in their seed are one curve, and are compared with the first curve or a given threshold.
func TestPlotLearningOfSeveral(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for _, way := range []string{"scratch", "transfer"} {
		for seed := range uint64(3) {
			path := filepath.Join(dir, fmt.Sprintf("%s-%d", way, seed+1))
			writeStudy(t, path, way, seed, map[string]float64{"scratch": 0.8, "transfer": 1.2}[way])
			paths = append(paths, path)
		}
	}
	draw := func(more ...string) map[string]string {
		drawn, _ := plotted(t, t.TempDir(), append(append([]string{}, paths...), more...)...)
		return drawn
	}
	const name = "scratch-1-and-5-"
	drawn := draw("--kind", "episodes,transfer")
	goldenFigures(t, drawn, name+"episodes.svg", name+"transfer.svg")
	require.Contains(t, drawn[name+"transfer.svg"], "the final value of scratch, 3 seeds")
	given := draw("--kind", "transfer", "--threshold", "60")[name+"transfer.svg"]
	require.Contains(t, given, "Threshold: 60 %, from the options.")
	require.NotEqual(t, drawn[name+"transfer.svg"], given)
	threshold := 60.0
	readable(t, plot.Given{Threshold: &threshold}, paths...)
	_, o := plotInto(t, t.TempDir(), append(paths[:3], "--kind", "transfer")...)
	require.Equal(t, failure.Failed, o.code, "seeds of one way are held against nothing")
	_, o = plotInto(t, t.TempDir(), paths[0], "--threshold", "NaN")
	require.Equal(t, failure.Usage, o.code)
}

// The tree of any table shows the path of a policy given with --policy.
func TestPlotPolicyInTables(t *testing.T) {
	s := newShed(t)
	drawn, o := plotted(t, t.TempDir(), s.path("early"), s.path("late"), "--policy", s.path("run"))
	for _, name := range []string{"early-tree.svg", "late-tree.svg"} {
		require.Contains(t, drawn[name], ">optimum, ")
		require.Contains(t, drawn[name], ">policy, ")
	}
	require.Contains(t, drawn["early-late-decisions.svg"], ">early</text>")
	r := s.report("policy=run", "table=early")
	at := verdictOf(t, r.Tables[0], "run, voting").Accuracy
	require.Contains(t, drawn["early-tree.svg"], ">policy, "+document.ShareText(&at)+"<")
	without, o := plotted(t, t.TempDir(), s.path("early"))
	require.NotContains(t, without["early-tree.svg"], ">policy, ")
	require.NotContains(t, without, "early-decisions.svg")

	_, o = plotInto(t, t.TempDir(), s.path("early"), "--policy", s.path("nowhere"))
	require.Equal(t, failure.Failed, o.code)
	_, o = plotInto(t, t.TempDir(), s.path("early"), "--vocab", "v")
	require.Equal(t, failure.Usage, o.code)
	l := newLegacyRuns(t)
	l.write("table/config.toml", "[runner]\nseed = 42\nfolder = \"table\"\n[scheduler]\nrunning_time = 100\n"+
		"start_time = 40\n[job]\nmodel = \"ConvNet2\"\ndataset = \"cifar10\"\n[agent]\naction_set_size = 4\n"+
		"num_actions = 2\n")
	drawn, o = plotted(t, t.TempDir(), l.path("table"), "--kind", "tree", "--policy", l.path("learned"), "--vocab",
		l.path("vocab"))
	require.Contains(t, drawn["table-tree.svg"], ">policy, ")
	drawn, o = plotInto(t, t.TempDir(), s.path("early"), "--kind", "tree", "--policy", l.path("learned"), "--vocab",
		l.path("vocab"))
	require.Equal(t, failure.Partial, o.code, "the policy chooses among other actions")
	require.Contains(t, o.stderr, "apply policy learned: ")
	require.Contains(t, drawn["early-tree.svg"], ">optimum, ", "the rest is drawn")
}
