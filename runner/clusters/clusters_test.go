package clusters_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/runs"
	"graft/runner/app"
	"graft/runner/clusters"
	"graft/runner/worktest"
)

// configured is the configuration of a small trace under two schedulers.
func configured(t *testing.T, set ...string) *config.Cluster {
	t.Helper()
	dir := t.TempDir()
	jobs := "job_id,gpu_num,submit_time,duration,vc\n1,8,0,6000,a\n2,4,600,600,a\n3,8,1200,60,a\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "jobs.csv"), []byte(jobs), 0o600))
	c, err := config.ReadCluster(files.OS{}, "", append([]string{"cluster.trace=" + config.Quote(filepath.Join(dir,
		"jobs.csv")), `cluster.nodes="1"`, `schedule.schedulers=["fifo", "srtf"]`}, set...))
	require.NoError(t, err)
	return c
}

func codeOf(t *testing.T, err error) failure.Code {
	t.Helper()
	require.Error(t, err)
	return failure.CodeOf(t.Context(), err)
}

// Whatever fails or kills a run at whichever write, resuming it ends in the same bytes.
func TestRunsSurviveFaults(t *testing.T) {
	c := configured(t, "output.every=3600")
	worktest.SurviveFaults(t, func(env *app.Env, folder string, again bool) error {
		own := *c
		own.Output.Folder = folder
		_, err := clusters.Run(context.Background(), env, &own, app.FolderOptions{Resume: again})
		return err
	}, func(path string) bool { return path != runs.LockFile })
}

// A finished run is read when it is resumed, and nothing is written.
func TestFinishedRunsAreRead(t *testing.T) {
	c := configured(t)
	c.Output.Folder = filepath.Join(t.TempDir(), "run")
	first, err := clusters.Run(t.Context(), worktest.Env(files.OS{}), c, app.FolderOptions{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	again, err := clusters.Run(ctx, worktest.Env(files.OS{}), c, app.FolderOptions{Resume: true})
	require.NoError(t, err)
	require.Equal(t, first.Cells[1].All, again.Cells[1].All)
	require.Equal(t, first.Folder, again.Folder)
}

// Sizes that no machine could hold are usage errors before there is a run folder.
func TestSizesAreBounded(t *testing.T) {
	for name, set := range map[string]string{
		"nodes": `cluster.nodes="1000000000"`, "nodes above 64 bits": `cluster.nodes="99999999999999999999"`,
		"no nodes": `cluster.nodes="0"`,
		"GPUs":     `cluster.nodes="1000000"`, "slow load": "schedule.loads=[1e-300]",
		"slower load": "schedule.loads=[1.0, 1e-9]",
	} {
		c := configured(t, set)
		c.Output.Folder = filepath.Join(t.TempDir(), "run")
		_, err := clusters.Run(t.Context(), worktest.Env(files.OS{}), c, app.FolderOptions{})
		require.Equal(t, failure.Usage, codeOf(t, err), "%s: %v", name, err)
		require.NoDirExists(t, c.Output.Folder, name)
	}
	c := configured(t, `schedule.schedulers=["fair"]`)
	for _, budget := range []float64{-1, math.Inf(1), math.NaN()} {
		_, err := clusters.Follow(t.Context(), worktest.Env(files.OS{}), c,
			clusters.TimelineOptions{Job: "1", Budget: budget})
		require.Equal(t, failure.Usage, codeOf(t, err), budget)
	}
}

func TestTimelinesSurviveFaults(t *testing.T) {
	c := configured(t, `schedule.schedulers=["fair"]`)
	worktest.SurviveFaults(t, func(env *app.Env, folder string, again bool) error {
		timeline, err := clusters.Follow(context.Background(), env, c, clusters.TimelineOptions{Job: "1", Budget: 100})
		if err != nil {
			return err
		}
		if err := env.Files.MkdirAll(folder); err != nil {
			return err
		}
		return timeline.Save(env.Files, filepath.Join(folder, "one.csv"), again)
	}, func(path string) bool { return path == "one.csv" })
}

// refusing is a file system without any write below a folder.
type refusing struct {
	files.OS
	folder string
}

func (r refusing) Create(path string) (files.File, error) {
	if filepath.Dir(path) == r.folder {
		return nil, errors.New("the disk is full")
	}
	return r.OS.Create(path)
}

// A run that was killed after one simulation does only the other when it is resumed, unless its
// inputs have changed.
func TestResumedRunsKeepWhatEnded(t *testing.T) {
	dir := t.TempDir()
	run := func(c *config.Cluster, name, full string, resume bool) error {
		own := *c
		own.Output.Folder = filepath.Join(dir, name)
		env := worktest.Env(refusing{folder: filepath.Join(own.Output.Folder, full)})
		_, err := clusters.Run(t.Context(), env, &own, app.FolderOptions{Resume: resume})
		return err
	}
	c := configured(t)
	require.NoError(t, run(c, "whole", "none", false))
	require.ErrorContains(t, run(c, "killed", "srtf", false), "the disk is full")
	require.NoError(t, os.CopyFS(filepath.Join(dir, "other"), os.DirFS(filepath.Join(dir, "killed"))))
	require.NoError(t, run(c, "killed", "fifo", true), "what ended is not written again")
	for _, name := range []string{runs.OutcomeFile, runs.ClusterStream + ".csv"} {
		whole, err := os.ReadFile(filepath.Join(dir, "whole", name))
		require.NoError(t, err)
		killed, err := os.ReadFile(filepath.Join(dir, "killed", name))
		require.NoError(t, err)
		require.Equal(t, string(whole), string(killed), name)
	}
	require.NoError(t, os.WriteFile(c.Cluster.Trace,
		[]byte("job_id,gpu_num,submit_time,duration,vc\n1,8,0,60,a\n"), 0o600))
	require.ErrorContains(t, run(c, "other", "fifo", true), "the disk is full",
		"of another trace it is simulated again")
}
