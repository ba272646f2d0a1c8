package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/contrast"
	"graft/report/runs"
	"graft/results"
)

// studyArm is an arm of a synthetic sweep: its accuracies by seed at each swept value. Zero is a failed trial.
type studyArm struct {
	name string
	at   map[string][]float64
}

// writeStudySweep writes the run folder of a completed sweep over time.budget.
func writeStudySweep(t testing.TB, dir string, budgets []string, arms ...studyArm) {
	t.Helper()
	run, err := results.Create(files.OS{}, dir, results.CreateOptions{Resolved: "[run]\nseed = 1\n"},
		results.Manifest{Kind: runs.SweepKind.Name, Created: when, Graft: "v0.1.0", Seed: 1, Device: "cpu",
			Profile: "laptop", ConfigSHA256: strings.Repeat("56", 32), Network: filepath.Base(dir), Host: "node",
			CommandLine: []string{"graft", "train", "job.toml"}})
	require.NoError(t, err)
	plan, o := &runs.SweepPlan{}, &runs.SweepOutcome{Failed: []runs.FailedTrial{}}
	for _, a := range arms {
		for _, budget := range budgets {
			values, has := a.at[budget]
			if !has {
				continue
			}
			set := "time.budget=" + budget
			c := &runs.SweepCase{Name: a.name + " " + set, Set: []string{set}, Key: a.name + "-" + budget,
				Digest: strings.Repeat("ab", 32)}
			made := &runs.CaseOutcome{Name: c.Name, Set: c.Set, Trials: []runs.TrialOutcome{}}
			for k, v := range values {
				c.Seeds = append(c.Seeds, int64(k+1))
				if v == 0 {
					o.Failed = append(o.Failed, runs.FailedTrial{Case: c.Name, Seed: int64(k + 1), Why: "loss is NaN"})
					continue
				}
				made.Trials = append(made.Trials, runs.TrialOutcome{Seed: int64(k + 1),
					Values: map[string]float64{"test_accuracy": v, "validation_accuracy": v}})
			}
			plan.Cases, o.Cases = append(plan.Cases, c), append(o.Cases, made)
		}
	}
	text, err := json.Marshal(plan)
	require.NoError(t, err)
	write(t, filepath.Join(dir, runs.SweepFile), string(text))
	o.Summarize(o.Cases[0].Name)
	require.NoError(t, run.WriteOutcome(o))
	require.NoError(t, run.Close())
}

// writeArms writes a study of two sweeps into the working folder, and its file of contrasts. One trial failed, and one
// arm is missing at a budget.
func writeArms(t testing.TB) {
	t.Helper()
	writeStudySweep(t, "plain", []string{"8s", "16s"},
		studyArm{"never", map[string][]float64{"8s": {0.60, 0.62, 0.61}, "16s": {0.70, 0.71, 0.72}}},
		studyArm{"early", map[string][]float64{"8s": {0.61, 0.62, 0.63}, "16s": {0.74, 0.75, 0.77}}},
		studyArm{"late", map[string][]float64{"8s": {0.63, 0.64, 0.65}, "16s": {0.75, 0.77, 0}}})
	writeStudySweep(t, "residual", []string{"4s", "8s"},
		studyArm{"never", map[string][]float64{"4s": {0.50, 0.52, 0.51}, "8s": {0.55, 0.56, 0.57}}},
		studyArm{"early", map[string][]float64{"4s": {0.51, 0.53, 0.52}, "8s": {0.58, 0.60, 0.59}}},
		studyArm{"late", map[string][]float64{"8s": {0.58, 0.605, 0.6}}})
	write(t, "contrasts.toml", "baseline = \"never\"\n[[contrast]]\n"+
		"question = \"Does growing late beat growing early?\"\n"+
		"arm = \"late\"\nagainst = \"early\"\n[[contrast]]\narm = \"early\"\nagainst = \"never\"\n"+
		"[[failed]]\nvalue = 0.1\n")
}

func TestContrastsOfAStudy(t *testing.T) {
	t.Chdir(t.TempDir())
	writeArms(t)
	for name, flags := range map[string][]string{"contrasts.txt": nil, "contrasts.json": {"--json"},
		"contrasts.csv": {"--csv"}, "contrasts.md": {"--markdown"}} {
		got := done(t, append([]string{"report", "plain", "residual", "--contrasts", "contrasts.toml"}, flags...)...)
		goldenReport(t, name, got.stdout)
	}
	require.Contains(t, done(t, "report", "plain", "--contrasts", "contrasts.toml", "--latex").stdout, `\toprule`)
}

func TestFaultyContrasts(t *testing.T) {
	t.Chdir(t.TempDir())
	writeArms(t)
	writeJob(t, "job", writtenJob{seed: 1, epochs: 6, accuracy: 0.5})
	require.NoError(t, os.CopyFS("copy", os.DirFS("plain")))
	report := func(args ...string) []string {
		return append([]string{"report", "--contrasts", "contrasts.toml"}, args...)
	}
	fails(t, failure.Usage, "./plain is named twice", report("plain", "./plain")...)
	fails(t, failure.Usage, "copy is a copy of the sweep in plain", report("plain", "copy")...)
	fails(t, failure.Usage, "job is not a sweep", report("plain", "job")...)
	fails(t, failure.Usage, "[contrasts html]", report("plain", "--html", "page.html")...)
	fails(t, failure.Failed, "no such file", report("plain", "none")...)
	fails(t, failure.Failed, "none.toml", "report", "plain", "--contrasts", "none.toml")
	write(t, "contrasts.toml", "[[contrast]]\narm = \"lat\"\nagainst = \"early\"\n")
	fails(t, failure.Configuration, "contrasts.toml:2:7: arm: no sweep has an arm \"lat\"; did you mean late?",
		report("plain")...)
}

// The report of a sweep in progress uses the completed trials, names the others, and ends with code 3.
func TestContrastsOfASweepInProgress(t *testing.T) {
	t.Chdir(t.TempDir())
	writeSweep(t, "open", true)
	write(t, "contrasts.toml", "metric = \"validation loss\"\n[[contrast]]\narm = \"as configured\"\n"+
		"against = \"never\"\n")
	got := fails(t, failure.Partial, "open: 4 of 12 trials ended", "report", "open", "--contrasts", "contrasts.toml")
	require.Contains(t, got.stdout, "left out: open: no value of never")
	require.Contains(t, got.stdout, "open: never: seeds 1, 2, 3, 4 not ended")
}

// Losses are read from the trials, because the outcomes of sweeps do not contain them.
func TestContrastsOfLosses(t *testing.T) {
	t.Chdir(t.TempDir())
	writeSweep(t, "compared", false)
	write(t, "contrasts.toml", "metric = \"validation loss\"\n[[contrast]]\narm = \"as configured\"\n"+
		"against = \"never\"\n")
	got := done(t, "report", "compared", "--contrasts", "contrasts.toml", "--json")
	r := contrast.Report{}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &r))
	require.Equal(t, "nats", r.DifferenceUnit)
	folder := runs.Folder{Path: "compared", Files: files.OS{}}
	sum := 0.0
	for _, seed := range []string{"1", "2", "3", "4"} {
		sum += lossOf(t, folder.At("trials/as-configured/seed-"+seed)) - lossOf(t, folder.At("trials/never/seed-"+seed))
	}
	require.InDelta(t, sum/4, r.Contrasts[0].Over.Mean, 1e-12)
}

func lossOf(t *testing.T, folder string) float64 {
	t.Helper()
	var o struct{ Validation struct{ Loss float64 } }
	require.NoError(t, json.Unmarshal([]byte(contents(t, filepath.Join(folder, runs.OutcomeFile))), &o))
	return o.Validation.Loss
}
