package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/results"
	"graft/results/failure"
	"graft/work/train"
)

// A translated job runs as the original did: it is asked at the beginning of each epoch
// after an up, counts whole epochs only, and ends when the budget is used up.
func TestTranslatedJobsRun(t *testing.T) {
	for agent, text := range map[string]string{
		"RandomAgent":        "",
		"DeterministicAgent": "[agent]\naction_sequence = [0, 3, 1]\n",
	} {
		original := strings.ReplaceAll(originalJob, "[agent]\ndecay_freq = 500\n", text)
		original = strings.ReplaceAll(original, "RandomAgent", agent)
		original = strings.ReplaceAll(original, "[job]", "[job]\nbatchsize = 8")
		original = strings.ReplaceAll(original, "running_time = 70", "running_time = 1.2\ngpu_changes = [{time = 0.3, change = \"up\"}, {time = 0.9, change = \"down\"}]")
		out := filepath.Join(t.TempDir(), "job.toml")
		done(t, "config", "convert", jobFile(t, original), "-o", out)
		o := graft("train", out, "--quiet", "--json", "--folder", filepath.Join(t.TempDir(), "run"), "--set", "data.kind=synthetic", "--set", "data.path=",
			"--set", "data.synthetic.train=64", "--set", "data.synthetic.test=40", "--set", "run.device=cpu")
		require.Equal(t, failure.Done, o.code, o.stderr)
		report := decoded[train.Result](t, o.stdout)
		up, down := report.Events[1], time.Duration(0)
		decisions := 0
		for _, n := range report.Events {
			if n.Event == "decision" {
				decisions++
				require.Zero(t, n.Step, "asked between epochs")
			}
			if n.Event == "down" {
				down = n.Time
			}
		}
		require.Equal(t, results.EventUp, up.Event)
		require.Greater(t, decisions, 2, "asked again and again")
		require.GreaterOrEqual(t, report.Outcome.Used, report.Outcome.Budget)
		require.Equal(t, len(report.Epochs), report.Outcome.Epochs)
		require.Equal(t, report.Epochs[len(report.Epochs)-1].Validation, report.Outcome.Validation)
		require.Equal(t, report.Outcome.Validation, report.Outcome.Test, "the test images decide")
		for _, row := range report.Epochs {
			if row.Time > up.Time && row.Time < down {
				require.InDelta(t, 0.01, row.Rate, 1e-12, "the first rate in each epoch that begins with a question")
			}
		}
	}
}
