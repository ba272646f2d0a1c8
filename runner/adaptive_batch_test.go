package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/report/plot"
	"graft/report/runs"
	"graft/runner/train"
)

// Events, report, page and a figure show a job's adaptive batch and its goodput.
func TestAdaptiveBatchIsReported(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	args := brief(folder, "--set", "train.batch=16", "--set", "adaptive_batch.on=true", "--set",
		"adaptive_batch.interval=1", "--set", "adaptive_batch.max_batch=64", "--set", "time.budget=2s")
	o := done(t, args...)
	containsAll(t, o.stdout, "images instead of 16", "noise scale")
	again := decoded[train.Result](t, done(t, append(args, "--force", "--json")...).stdout)
	require.Contains(t, o.stdout, again.Outcome.Digest[:12], "the same job has the same digest")
	require.Positive(t, again.Outcome.BatchChanges)
	containsAll(t, done(t, "report", folder).stdout, "GOODPUT", "EFFICIENCY", "batch changes", "images instead of 16")
	page := filepath.Join(t.TempDir(), "page.html")
	done(t, "report", folder, "--html", page)
	containsAll(t, contents(t, page), "Batch and goodput of run", "goodput")
	r := openRun(t, folder)
	for _, kind := range plot.Kinds(plot.Given{}) {
		if kind.Name == "batch" {
			drawings, err := kind.Draw([]*runs.Run{r})
			require.NoError(t, err)
			require.Len(t, drawings, 1)
			legible(t, kind.Name, drawings[0].Figure)
		}
	}
	fails(t, failure.Configuration, "adaptive_batch: max_batch is 8; must be at least train.batch",
		append(args, "--set", "adaptive_batch.max_batch=8")...)
}
