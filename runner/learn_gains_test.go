package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/runs"
	"graft/results"
	"graft/simulation/tables"
	"graft/trainer"
)

const gainsData = `[data]
synthetic = {train = 200, test = 60, size = 16, classes = 3, textures = true}
[time]
budget = "500ms"
profile = "round-gpu"
events = [{at = "150ms", change = "up"}, {at = "300ms", change = "up"}]
[train]
batch = 32
`

// A policy that learned from a table with gains reads the same gains in a job, is charged for them as in the table, and
// reaches the accuracy of its sequence.
func TestPoliciesWithGainsDecideAsInTheirTable(t *testing.T) {
	t.Chdir(t.TempDir())
	// Both actions fit at each decision and have gains, whatever the policy learns from the numerics of this processor.
	const actions = "actions = [\"deepen:conv1\", \"deepen:conv2\"]\n"
	write(t, "scenario.toml", gainsData+"[simulate]\n"+actions+"gains = true\n")
	write(t, "learn.toml", "[tables]\nfolders = [\"scenario/table\"]\n[learn]\nmethod = \"forest\"\ntrees = 10\n")
	write(t, "job.toml", gainsData+"[adapt]\ndecider = \"policy\"\npolicy = \"policy\"\n"+actions)
	done(t, "simulate", "scenario.toml", "--folder", "scenario", "--quiet")
	done(t, "learn", "learn.toml", "--folder", "policy", "--quiet")
	done(t, "train", "job.toml", "--folder", "job", "--quiet")

	table, err := tables.Read(files.OS{}, filepath.Join("scenario", "table"))
	require.NoError(t, err)
	require.Equal(t, done(t, "evaluate", "--policy", "policy", "--table", "scenario/table", "--quiet").stdout,
		done(t, "evaluate", "--policy", "policy", "--table", "scenario", "--quiet").stdout, "the run has one table")
	made := decisions(t, "job")
	require.Len(t, made, 2)
	record := table.Find(made[0].Action, made[1].Action)
	require.NotNil(t, record, "%v", made)
	compared := 0
	for k, note := range made {
		require.Len(t, note.Gains, 2)
		for _, g := range note.Gains {
			if g.Action.String() == note.Action {
				require.Equal(t, record.Gain[k], g.Gain)
				compared++
			}
		}
	}
	require.Equal(t, 2, compared, "%v", made)
	o := &runs.JobOutcome{Outcome: &trainer.Outcome{}}
	require.NoError(t, results.ReadOutcome(files.OS{}, "job", o))
	require.Equal(t, record.Accuracy[0], o.Validation.Accuracy)

	done(t, "train", "job.toml", "--folder", "outside", "--quiet", "--set", "time.budget=300ms",
		"--set", `time.events=[{at = "1ms", change = "up"}]`, "--set", "adapt.fallback=random")
	require.Contains(t, decisions(t, "outside")[0].Why, "not trained on such values of")
	fails(t, failure.Configuration, `fallback is "never"; must be one of none, random, gradient, policy`,
		"train", "job.toml", "--folder", "none", "--set", "adapt.fallback=never")
}
