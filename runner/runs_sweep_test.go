package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/runs"
	"graft/results"
)

// writeSweep writes the run folder of a comparison of three arms and four seeds. An open one has started its second
// arm.
func writeSweep(t testing.TB, dir string, open bool) {
	t.Helper()
	run, err := results.Create(files.OS{}, dir, results.CreateOptions{Resolved: "[run]\nseed = 1\n[compare]\n" +
		"seeds = 4\n"}, results.Manifest{Kind: runs.SweepKind.Name, Created: when, Graft: "v0.1.0", Seed: 1,
		Device: "cpu", Profile: "laptop", ConfigSHA256: strings.Repeat("56", 32), Network: "ConvSmall", Host: "node",
		CommandLine: []string{"graft", "compare", "job.toml"}})
	require.NoError(t, err)
	seeds := []int64{1, 2, 3, 4}
	arms := map[string][]float64{"as configured": {0.7, 0.74, 0.71, 0.75}, "never": {0.6, 0.62, 0.61, 0.66},
		"final from scratch": {0.61, 0.62, 0.6}}
	plan := &runs.SweepPlan{Comparison: &runs.SweepComparison{Configured: "as configured", Baseline: "never",
		Sequences: 9, Tried: 1}}
	o := &runs.SweepOutcome{Failed: []runs.FailedTrial{},
		Comparison: &runs.ComparisonOutcome{SweepComparison: *plan.Comparison, SelectionSeeds: []int64{5, 6},
			Best:       []string{"deepen:conv1", "none"},
			Candidates: []runs.Candidate{{Sequence: []string{"deepen:conv1", "none"}, Validation: 0.71, N: 2}}}}
	for _, name := range []string{"as configured", "never", "final from scratch"} {
		c := &runs.SweepCase{Name: name, Set: []string{}, Key: strings.ReplaceAll(name, " ", "-"), Seeds: seeds,
			Digest: strings.Repeat("ab", 32)}
		plan.Cases = append(plan.Cases, c)
		made := &runs.CaseOutcome{Name: name, Set: c.Set}
		for k, accuracy := range arms[name] {
			trial := runs.SweepTrial{Case: c, Seed: seeds[k]}
			if open && len(plan.Cases) > 1 {
				continue
			}
			writeJob(t, filepath.Join(dir, trial.Folder()),
				writtenJob{seed: uint64(trial.Seed), epochs: 6, accuracy: accuracy})
			one, err := runs.ReadTrial(&runs.Folder{Path: dir, Files: files.OS{}}, trial)
			require.NoError(t, err)
			made.Trials = append(made.Trials, *one)
		}
		o.Cases = append(o.Cases, made)
	}
	text, err := json.Marshal(plan)
	require.NoError(t, err)
	write(t, filepath.Join(dir, runs.SweepFile), string(text))
	if !open {
		twin := o.Cases[1].Trials[3]
		twin.Same = "never"
		o.Cases[2].Trials = append(o.Cases[2].Trials, twin)
		o.Summarize("never")
		require.NoError(t, run.WriteOutcome(o))
	}
	require.NoError(t, run.Close())
}

// comparedJob is a job of a few steps that adapts.
const comparedJob = "[data.synthetic]\nsize = 16\ntrain = 40\ntest = 10\nclasses = 3\n[time]\nbudget = \"150ms\"\n" +
	"events = [{at = \"50ms\", change = \"up\"}]\n[train]\nbatch = 20\n[run]\nthreads = 1\n" +
	"[adapt]\nrows = 10\ndecider = \"script\"\nactions = [\"deepen:conv1\"]\n[compare]\n" +
	"actions = [\"deepen:conv1\", \"none\"]\n"

// Trials end with the same bytes for any number of workers, and each trial is a separate run.
func TestTrialsOfManyWorkers(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, "job.toml", comparedJob)
	want := map[string]string{}
	for _, workers := range []int{1, 2} {
		folder := filepath.Join(fmt.Sprint(workers), "compared")
		p, out := process(t, "compare", "job.toml", "--folder", folder, "--seeds", "3", "--selection-seeds", "1",
			"--workers", fmt.Sprint(workers), "--quiet")
		require.Equal(t, failure.Done, left(t, p), out)
		require.Contains(t, out.String(), "Compared with never: ")
		got := map[string]string{runs.OutcomeFile: contents(t, filepath.Join(folder, runs.OutcomeFile))}
		tables, err := filepath.Glob(filepath.Join(folder, runs.TrialsFolder, "*", "*", "epochs.csv"))
		require.NoError(t, err)
		require.Len(t, tables, 17)
		for _, path := range tables {
			there, _ := filepath.Rel(folder, path)
			got[there] = contents(t, path)
		}
		if workers == 1 {
			want = got
		}
		require.Equal(t, want, got, "%d workers", workers)
	}
	trial := filepath.Join("1", "compared", runs.TrialsFolder, "never", "seed-2")
	require.Contains(t, done(t, "report", trial).stdout, "test accuracy")
	done(t, "export", trial, "--out", "never.onnx")
	ends(t, graft("compare", "job.toml", "--folder", filepath.Join("1", "compared"), "--seeds", "3",
		"--selection-seeds", "1", "--resume", "--json", "--quiet"), failure.Done, "")
	require.NoError(t, os.RemoveAll(dir))
}

func TestFlagsOfTrials(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "job.toml", comparedJob)
	fails(t, failure.Usage, "--listen applies to a single job", "train", "job.toml", "--seeds", "2", "--listen",
		"127.0.0.1:0", "--quiet")
	fails(t, failure.Usage, "--seeds is 0; must be at least 1", "train", "job.toml", "--seeds", "0", "--quiet")
	fails(t, failure.Usage, "--sweep optimizer.lr: expected a key and values", "train", "job.toml", "--sweep",
		"optimizer.lr", "--quiet")
}

// The figure shows every seed's difference and the table's interval, and the page of the run shows the figure.
func TestDifferencesAreDrawn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "comparison")
	writeSweep(t, dir, false)
	drawn, _ := plotted(t, t.TempDir(), dir, "--kind", "differences")
	goldenFigures(t, drawn, "comparison-differences.svg")
	figure := drawn["comparison-differences.svg"]
	require.Contains(t, figure, "as configured: mean +10.2 points (+7.62 to +12.9); values +10, +12, +10, +9.")
	require.Contains(t, figure, "final from scratch: mean 0 points (−1.71 to +1.71); values +1, 0, −1, 0.")
	require.NotContains(t, figure, "never: mean", "the baseline has no row")
	page := filepath.Join(t.TempDir(), "page.html")
	done(t, "report", dir, "--html", page)
	require.Contains(t, contents(t, page), "Difference in test accuracy from never, comparison")
}
