package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/files"
	"graft/original/learn"
	"graft/results"
	"graft/results/document"
	"graft/results/failure"
	"graft/results/plot"
	"graft/results/runs"
	"graft/simulation/tables"
)

// goldenFigures holds figures that were drawn against files.
func goldenFigures(t *testing.T, drawn map[string]string, names ...string) {
	t.Helper()
	for _, name := range names {
		require.Contains(t, drawn, name)
		path := filepath.Join("testdata", "plot", name)
		if *updateGolden {
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte(drawn[name]), 0o644))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err, "write it with -update")
		require.Equal(t, string(want), drawn[name], "look at %s, then write it again with -update", name)
	}
}

// readable holds the labels and units of all figures of runs.
func readable(t *testing.T, given plot.Given, paths ...string) {
	t.Helper()
	var list []*runs.Run
	for _, path := range paths {
		r, err := runs.Open(files.OS{}, path)
		require.NoError(t, err)
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
	evaluation, left, pipeline := filepath.Join(dir, "evaluation"), filepath.Join(dir, "left"), filepath.Join(dir, "pipeline")
	writeEvaluation(t, evaluation, false, true)
	writeEvaluation(t, left, true, true)
	writePipeline(t, pipeline, "")
	drawn, o := plotInto(t, t.TempDir(), evaluation, left, pipeline, "--kind", "regret,stages,ranks,learning")
	require.Equal(t, failure.Done, o.code, o.stderr)
	goldenFigures(t, drawn, "evaluation-regret.svg", "pipeline-stages.svg")
	for _, name := range []string{"pipeline-regret.svg", "tried-ranks.svg", "policy-learning.svg"} {
		require.Contains(t, drawn, name)
	}
	drawn, o = plotInto(t, t.TempDir(), evaluation, left, "--kind", "bars")
	require.Equal(t, failure.Done, o.code, o.stderr)
	goldenFigures(t, drawn, "evaluation-bars.svg")
	require.Contains(t, drawn["left-bars.svg"], "know the other tables only")
	readable(t, plot.Given{}, evaluation, left, pipeline)

	require.NoError(t, os.RemoveAll(filepath.Join(pipeline, runs.EvaluationFolder)))
	drawn, o = plotInto(t, t.TempDir(), pipeline, "--kind", "bars")
	require.Equal(t, failure.Partial, o.code)
	require.Contains(t, drawn, "pipeline-bars.svg", "the outcome says as much without intervals")
	open := filepath.Join(dir, "open")
	writePipeline(t, open, runs.LearnStage)
	drawn, o = plotInto(t, t.TempDir(), open)
	require.Equal(t, failure.Done, o.code, o.stderr)
	require.Len(t, drawn, 3, "the stage that was done, with the tree and the ranks of its table")
}

func TestPlotThroughput(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for seed := range uint64(3) {
		for _, name := range []string{"slow", "fast"} {
			path := filepath.Join(dir, fmt.Sprintf("%s-%d", name, seed+1))
			writeJob(t, path, writtenJob{seed: seed + 1, epochs: map[string]int{"slow": 6, "fast": 12}[name] + int(seed), accuracy: 0.5,
				resolved: fmt.Sprintf("[run]\nseed = %d\n[train]\nname = %q\n", seed+1, name)})
			paths = append(paths, path)
		}
	}
	writeJob(t, filepath.Join(dir, "open"), writtenJob{seed: 1, epochs: 3, accuracy: 0.5, open: true})
	drawn, o := plotInto(t, t.TempDir(), append(paths, filepath.Join(dir, "open"), "--kind", "throughput")...)
	require.Equal(t, failure.Done, o.code, o.stderr)
	goldenFigures(t, drawn, "slow-1-and-6-throughput-epochs.svg", "slow-1-and-6-throughput-overhead.svg")
	require.Contains(t, drawn["slow-1-and-6-throughput-epochs.svg"], ">slow, 3 seeds<")
	readable(t, plot.Given{}, paths...)
	drawn, o = plotInto(t, t.TempDir(), paths[0], "--kind", "throughput")
	require.Equal(t, failure.Done, o.code, o.stderr)
	require.Len(t, drawn, 2, "one job will do")
}

// writeStudy makes the run folder of a policy of the original's that became better over
// episodes, in a way of learning and from a seed.
func writeStudy(t *testing.T, dir, way string, seed uint64, rise float64) {
	t.Helper()
	run, err := results.Create(files.OS{}, dir, results.CreateOptions{Resolved: fmt.Sprintf("[run]\nseed = %d\n[policy]\nweights = %q\n", seed, way)}, results.Manifest{Created: when, Seed: seed})
	require.NoError(t, err)
	var records []tables.Record
	for k := range 16 {
		records = append(records, tables.Record{Sequence: []string{tried.Actions[k/4], tried.Actions[k%4]}, Left: []float64{9, 8}, Accuracy: []float64{0.5 + float64(k)/64}, Seeds: []int64{1}})
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
			lesson.Ends, lesson.Objectives = append(lesson.Ends, int32(end)), append(lesson.Objectives, share-0.1*float64(k%3))
		}
		require.NoError(t, book.Episodes(row*each, lesson))
		require.NoError(t, book.Row(learn.Row{Episodes: each * (row + 1), Objective: 0.1, Accuracy: 0.5, Expected: 0.5 + 0.2*rise*float64(row+1)/12 + float64(seed)/100, Temperature: 2}))
	}
	require.NoError(t, run.Close())
}

// Policies that differ in their seed alone are one curve, and are held against the
// first, or against a threshold that is given.
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
		drawn, o := plotInto(t, t.TempDir(), append(append([]string{}, paths...), more...)...)
		require.Equal(t, failure.Done, o.code, o.stderr)
		return drawn
	}
	const name = "scratch-1-and-5-"
	drawn := draw("--kind", "episodes,transfer")
	goldenFigures(t, drawn, name+"episodes.svg", name+"transfer.svg")
	require.Contains(t, drawn[name+"transfer.svg"], "what scratch, 3 seeds has in the end")
	given := draw("--kind", "transfer", "--threshold", "60")[name+"transfer.svg"]
	require.Contains(t, given, "Threshold: 60 %, as given.")
	require.NotEqual(t, drawn[name+"transfer.svg"], given)
	threshold := 60.0
	readable(t, plot.Given{Threshold: &threshold}, paths...)
	_, o := plotInto(t, t.TempDir(), append(paths[:3], "--kind", "transfer")...)
	require.Equal(t, failure.Failed, o.code, "seeds of one way are held against nothing")
	_, o = plotInto(t, t.TempDir(), paths[0], "--threshold", "NaN")
	require.Equal(t, failure.Usage, o.code)
}

// The path of a policy that is named stands in the tree of any table.
func TestPlotPolicyInTables(t *testing.T) {
	s := newShed(t)
	drawn, o := plotInto(t, t.TempDir(), s.path("early"), s.path("late"), "--policy", s.path("run"))
	require.Equal(t, failure.Done, o.code, o.stderr)
	for _, name := range []string{"early-tree.svg", "late-tree.svg"} {
		require.Contains(t, drawn[name], ">optimum, ")
		require.Contains(t, drawn[name], ">policy, ")
	}
	require.Contains(t, drawn["early-late-decisions.svg"], ">early</text>")
	r := s.report("policy=run", "table=early")
	at := verdictOf(t, r.Tables[0], "run, voting").Accuracy
	require.Contains(t, drawn["early-tree.svg"], ">policy, "+document.ShareText(&at)+"<")
	without, o := plotInto(t, t.TempDir(), s.path("early"))
	require.Equal(t, failure.Done, o.code, o.stderr)
	require.NotContains(t, without["early-tree.svg"], ">policy, ")
	require.NotContains(t, without, "early-decisions.svg")

	_, o = plotInto(t, t.TempDir(), s.path("early"), "--policy", s.path("nowhere"))
	require.Equal(t, failure.Failed, o.code)
	_, o = plotInto(t, t.TempDir(), s.path("early"), "--vocab", "v")
	require.Equal(t, failure.Usage, o.code)
	l := newLegacyRuns(t)
	l.write("table/config.toml", "[runner]\nseed = 42\nfolder = \"table\"\n[scheduler]\nrunning_time = 100\nstart_time = 40\n[job]\nmodel = \"ConvNet2\"\ndataset = \"cifar10\"\n[agent]\naction_set_size = 4\nnum_actions = 2\n")
	drawn, o = plotInto(t, t.TempDir(), l.path("table"), "--kind", "tree", "--policy", l.path("learned"), "--vocab", l.path("vocab"))
	require.Equal(t, failure.Done, o.code, o.stderr)
	require.Contains(t, drawn["table-tree.svg"], ">policy, ")
	drawn, o = plotInto(t, t.TempDir(), s.path("early"), "--kind", "tree", "--policy", l.path("learned"), "--vocab", l.path("vocab"))
	require.Equal(t, failure.Partial, o.code, "the policy chooses among other actions")
	require.Contains(t, o.stderr, "follow learned: ")
	require.Contains(t, drawn["early-tree.svg"], ">optimum, ", "the rest is drawn")
}
