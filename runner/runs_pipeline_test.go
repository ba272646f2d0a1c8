package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/page/pagetest"
	"graft/report/runs"
	"graft/results"
)

// writePipeline writes the folder of a pipeline of one scenario that has reached a stage.
func writePipeline(t testing.TB, dir string, upTo string) {
	t.Helper()
	writeSimulation(t, filepath.Join(dir, "tried"), 16, 2)
	write(t, filepath.Join(dir, runs.ResolvedFile),
		"[pipeline]\nscenarios = [\"tried.toml\"]\n[run]\nseed = 1\nseeds = 3\n[learn]\nsteps = 20\n")
	l := &runs.Journal{Path: filepath.Join(dir, runs.JournalFile), Files: files.OS{}}
	require.NoError(t, l.Plan(results.Manifest{Kind: runs.PipelineKind.Name, Created: when, Graft: "v0.1.0", Seed: 1,
		ConfigSHA256: strings.Repeat("34", 32), Host: "node", CommandLine: []string{"graft", "pipeline", "all.toml"}},
		[]*runs.Stage{{Name: runs.SimulateStage + "tried", State: runs.StageWaiting, Parts: []string{"tried"},
			Files: []string{"tried/table"}},
			{Name: runs.LearnStage, State: runs.StageWaiting, Parts: []string{runs.PolicyFolder},
				Files: []string{runs.PolicyFolder + "/outcome.json"}},
			{Name: runs.EvaluateStage, State: runs.StageWaiting, Parts: []string{runs.EvaluationFolder},
				Files: []string{runs.OutcomeFile}}}))
	for k, e := range l.Stages {
		require.NoError(t, l.Begin(e, when.Add(time.Duration(k)*time.Minute)))
		if e.Name == upTo {
			return
		}
		switch e.Name {
		case runs.LearnStage:
			writePolicies(t, filepath.Join(dir, runs.PolicyFolder), true)
		case runs.EvaluateStage:
			o := writeEvaluation(t, filepath.Join(dir, runs.EvaluationFolder), false, true)
			text, err := json.MarshalIndent(runs.PipelineOutcome{Learned: "policy, voting", Comparison: o.Comparison()},
				"", "  ")
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, runs.OutcomeFile), text, 0o600))
		}
		require.NoError(t, l.End(e, "from", float64(k)+0.5))
	}
	require.NoError(t, l.Reuse(l.Stages[0]))
}

// A report on a pipeline has the figures that the pipeline printed.
func TestReportOfAPipeline(t *testing.T) {
	path, folder := newPipeline(t, "[evaluate]\nleave_out = \"scenario\"\n", 100, 200),
		filepath.Join(t.TempDir(), "run")
	want := done(t, "pipeline", path, "--folder", folder, "--quiet")
	require.Equal(t, failure.Done, graft("pipeline", path, "--folder", folder, "--quiet").code)
	got := done(t, "report", folder)
	for line := range strings.Lines(want.stdout) { // every printed figure
		if strings.HasPrefix(line, "at") || strings.HasPrefix(line, "polic") {
			require.Contains(t, got.stdout, strings.TrimSpace(line))
		}
	}
	for _, part := range []string{"at100", "at200", runs.PolicyFolder, runs.EvaluationFolder, runs.LeftOutFolder} {
		require.Contains(t, got.stdout, filepath.Join(folder, part))
		require.Equal(t, failure.Done, graft("report", filepath.Join(folder, part)).code, part)
	}
	require.Regexp(t, `(?m)^learn +done +[0-9.]+ +1 `, got.stdout)
	r := openRun(t, folder)
	left, err := runs.Open(files.OS{}, filepath.Join(folder, runs.LeftOutFolder))
	require.NoError(t, err)
	require.InDelta(t, valueOf(left, t, "regret"), valueOf(r, t, "left_out_regret"), 1e-9)

	other := filepath.Join(t.TempDir(), "other")
	done(t, "pipeline", path, "--folder", other, "--quiet", "--set", "learn.steps=3")
	side := done(t, "report", folder, other)
	require.Regexp(t, `(?m)^learn\.steps +12 +3$`, side.stdout)
	require.Contains(t, side.stdout, "2 pipelines")
	t.Chdir(t.TempDir())
	text := wrote(t, folder)
	require.Empty(t, pagetest.Check(text).Faults)
	for _, part := range []string{"Simulation ", "Run of policies ", "Evaluation "} {
		require.Contains(t, text, part+folder)
	}
	require.Greater(t, strings.Count(text, "<figure>"), 6)
}

// Unfinished pipelines state their progress, and damaged files are named.
func TestPipelinesThatAreNotWhole(t *testing.T) {
	for stage, says := range map[string]string{runs.SimulateStage + "tried": `learn +waits`,
		runs.LearnStage: `learn +begun, not ended`, runs.EvaluateStage: `evaluate +begun, not ended`} {
		dir := filepath.Join(t.TempDir(), "run")
		writePipeline(t, dir, stage)
		got := done(t, "report", dir)
		require.Regexp(t, says, got.stdout)
		require.Contains(t, got.stdout, "state          not ended")
		require.Contains(t, got.stdout, "run the same pipeline in the same folder to continue")
	}
	for name, c := range map[string]struct {
		spoil func(dir string) error
		code  failure.Code
		says  []string
	}{
		"the journal is cut": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, runs.JournalFile), []byte(`{"run":`), 0o600)
		}, failure.Damaged, []string{"pipeline.json", "damaged", "to rewrite it"}},
		"the journal is empty": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, runs.JournalFile), []byte(`{}`), 0o600)
		}, failure.Damaged, []string{"no stages found"}},
		"the outcome is cut": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, runs.OutcomeFile), []byte(`{`), 0o600)
		}, failure.Damaged, []string{runs.OutcomeFile, "delete the file"}},
		"an empty outcome": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, runs.OutcomeFile), []byte(`{}`), 0o600)
		}, failure.Damaged, []string{"neither a comparison nor trials"}},
		"a part is gone": {func(dir string) error { return os.RemoveAll(filepath.Join(dir, runs.PolicyFolder)) },
			failure.Partial, []string{"learn: ", runs.PolicyFolder, "to recreate it"}},
		"a part is damaged": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, runs.EvaluationFolder, runs.OutcomeFile), []byte("{"), 0o600)
		}, failure.Partial, []string{"evaluate: ", runs.OutcomeFile}},
		"a part has no outcome": {func(dir string) error {
			return os.Remove(filepath.Join(dir, runs.EvaluationFolder, runs.OutcomeFile))
		}, failure.Partial, []string{"evaluate: ", "is incomplete, although"}},
		"a table is damaged": {func(dir string) error {
			return os.Truncate(filepath.Join(dir, "tried", runs.TableFolder, "node-1.jsonl"), 900)
		}, failure.Partial, []string{"simulate tried: "}},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		writePipeline(t, dir, "")
		require.NoError(t, c.spoil(dir), name)
		got := fails(t, c.code, "", "report", dir)
		for _, says := range c.says {
			require.Contains(t, got.stderr, says, name)
		}
		if c.code == failure.Partial && !strings.Contains(name, "no outcome") &&
			!strings.Contains(name, runs.EvaluationFolder) && name != "a part is damaged" {
			require.Contains(t, got.stdout, "changed since", name)
		}
	}
}
