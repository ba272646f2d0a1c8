package fabric_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/runner/app"
	"graft/runner/fabric"
)

// studyGraphs returns the folder of the published profiles, or skips the test.
func studyGraphs(t *testing.T) string {
	t.Helper()
	folder := filepath.FromSlash("../../../shared/reference/ramp/graphs/small")
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("left out: %s is not there; put the recorded results beside the tree", folder)
	}
	return folder
}

// The best constant degree blocks the recorded share of jobs, which does not differ significantly from the published
// learned policy.
func TestPublishedExperiments(t *testing.T) {
	env := &app.Env{Files: files.OS{}, Now: time.Now, Log: zap.NewNop()}
	r, err := fabric.Experiment(context.Background(), env,
		fabric.ExperimentOptions{Graphs: studyGraphs(t), Limits: []string{"A"}})
	require.NoError(t, err)
	require.Len(t, r.Best, 1)
	require.Equal(t, "constant 4", r.Best[0].Agent)
	require.InDelta(t, 0.2148, r.Best[0].Blocked, 5e-5)
	require.Equal(t, "no significant difference", r.Best[0].Verdict)
	most := slices.IndexFunc(r.Rows, func(row fabric.ExperimentRow) bool { return row.Agent == "max_parallelism" })
	require.GreaterOrEqual(t, most, 0)
	require.InDelta(t, 0.2584, r.Rows[most].Blocked, 5e-5)
}

// Learned policies are stored as files. A resumed study uses the stored policies, and another study does not overwrite
// them.
func TestPoliciesOfTheStudy(t *testing.T) {
	if os.Getenv("GRAFT_LONG") == "" {
		t.Skip("left out: the study with learned policies; set GRAFT_LONG=1")
	}
	env := &app.Env{Files: files.OS{}, Now: time.Now, Log: zap.NewNop()}
	out := filepath.Join(t.TempDir(), "policies")
	o := fabric.ExperimentOptions{Graphs: studyGraphs(t), Out: out, Limits: []string{"A"}, Episodes: 1,
		Learn: fabric.TrainingOptions{Method: "ape-x", Seeds: 2, Updates: 2}}
	first, err := fabric.Experiment(context.Background(), env, o)
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(out, "study.csv"))
	_, err = fabric.Experiment(context.Background(), env, o)
	require.ErrorContains(t, err, `ape-x-A-1.safetensors already exists; rerun the command with option "resume"`)

	require.NoError(t, os.Remove(filepath.Join(out, "ape-x-A-2.safetensors")))
	o.Learn.Resume = true
	again, err := fabric.Experiment(context.Background(), env, o)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Equal(t, "ape-x", first.Rows[len(first.Rows)-1].Agent)
	o.Learn.Updates = 3
	_, err = fabric.Experiment(context.Background(), env, o)
	require.ErrorContains(t, err, `was trained for 2 updates, but option "updates" is 3`)
	require.NoError(t, os.WriteFile(filepath.Join(out, "ape-x-A-1.safetensors"), []byte("damaged"), 0o644))
	_, err = fabric.Experiment(context.Background(), env, o)
	require.Error(t, err)
	stopped, stop := context.WithCancel(context.Background())
	stop()
	o.Out = filepath.Join(t.TempDir(), "other")
	_, err = fabric.Experiment(stopped, env, o)
	require.Equal(t, failure.Requeue, failure.CodeOf(stopped, err))
	require.ErrorContains(t, err, `rerun the command with option "resume"`)
}
