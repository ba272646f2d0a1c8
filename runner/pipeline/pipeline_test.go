package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/internal/files"
	"graft/report/runs"
	"graft/runner/app"
	"graft/runner/simulate"
	"graft/runner/workers"
	"graft/runner/worktest"
	"graft/simulation/tables/tabletest"
)

// written writes the file of a pipeline with the given number of scenarios.
func written(t *testing.T, scenarios int, leaveOut string) string {
	dir := t.TempDir()
	var paths []string
	for k := range scenarios {
		path := filepath.Join(dir, fmt.Sprintf("s%d.toml", k))
		require.NoError(t, os.WriteFile(path,
			fmt.Appendf(nil, "[data.synthetic]\nsize = 16\nchannels = 1\nclasses = 4\ntrain = 120\ntest = 40\n"+
				"[time]\nbudget = \"%dms\"\nevents = [{at = \"100ms\", change = \"up\"}]\n[simulate]\n"+
				"actions = [\"deepen:conv2\", \"none\"]\n", 400+k), 0o600))
		paths = append(paths, fmt.Sprintf("%q", path))
	}
	path := filepath.Join(dir, "all.toml")
	require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, "[pipeline]\nscenarios = [%s]\n[run]\nseeds = 1\n"+
		"[policy]\nhidden = 4\n[learn]\nsteps = 1\n[evaluate]\nleave_out = %q\n",
		strings.Join(paths, ", "), leaveOut), 0o600))
	return path
}

// madeUp returns synthetic tables that replace simulations, by scenario name.
func madeUp(t *testing.T) fs.FS {
	dir := t.TempDir()
	for k := range 2 {
		name := fmt.Sprintf("s%d", k)
		require.NoError(t, tabletest.Folder(filepath.Join(dir, name, runs.TableFolder), name, 1, 4, uint64(k)))
	}
	return os.DirFS(dir)
}

// copied returns a substitute for a simulation that copies a synthetic table.
func copied(tables fs.FS) func(*app.Env, string, string) error {
	return func(_ *app.Env, _, folder string) error {
		table, err := fs.Sub(tables, filepath.Base(folder))
		return errors.Join(err, os.RemoveAll(folder), os.CopyFS(folder, table))
	}
}

// simulated runs a simulation with one worker in this process.
func simulated(env *app.Env, path, folder string) error {
	set := []string{"data.synthetic.train=20", "data.synthetic.test=10", "train.batch=10", "adapt.rows=10",
		`fleet.image="graft"`, `fleet.claim="shared"`, `fleet.mount="/"`}
	if _, err := simulate.Manifest(context.Background(), env, path, simulate.ManifestOptions{Set: set, Folder: folder,
		Force: true}); err != nil {
		return err
	}
	if err := simulate.Work(context.Background(), env, folder, workers.Options{Threads: 1}); err != nil {
		return err
	}
	_, err := simulate.Attach(context.Background(), env, folder, 0)
	return err
}

// ran runs a pipeline with a substitute for simulations.
func ran(path string, simulate func(env *app.Env, path, folder string) error, env *app.Env,
	folder string) (*Result, error) {
	c, err := config.ReadPipeline(env.Files, path, nil)
	if err != nil {
		return nil, err
	}
	return ranWith(c, simulate, env, folder, Options{})
}

func ranWith(c *config.Pipeline, simulate func(env *app.Env, path, folder string) error, env *app.Env, folder string,
	o Options) (*Result, error) {
	p := &pipeline{Pipeline: c, o: o, env: env, folder: folder}
	p.simulate = func(_ context.Context, path, folder string) error { return simulate(env, path, folder) }
	return p.run(context.Background())
}

// After a fault at any write, a pipeline ends in an error or with the same bytes. A second run then ends with the same
// bytes.
func TestPipelinesSurviveFaults(t *testing.T) {
	path := written(t, 1, config.LeaveNone)
	kept := []string{filepath.Join("s0", runs.TableFolder, "grid-1.jsonl"), runs.OutcomeFile,
		filepath.Join(runs.PolicyFolder, runs.VoteFile), filepath.Join(runs.PolicyFolder, runs.SeedFile(1)),
		filepath.Join(runs.PolicyFolder, runs.OutcomeFile), filepath.Join(runs.EvaluationFolder, "verdicts.csv"),
		filepath.Join(runs.EvaluationFolder, runs.OutcomeFile)}
	worktest.SurviveFaults(t, func(env *app.Env, folder string, _ bool) error {
		_, err := ran(path, simulated, env, folder)
		return err
	}, func(path string) bool { return slices.Contains(kept, path) })
}

// The learning file records the options that were used to learn.
func TestLearningFileIsARecord(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	_, err := ran(written(t, 2, "scenario"), copied(madeUp(t)), worktest.Env(files.OS{}), folder)
	require.NoError(t, err)
	l, err := config.ReadTreeLearning(files.OS{}, filepath.Join(folder, runs.LearnFile), nil)
	require.NoError(t, err)
	given, err := os.ReadFile(filepath.Join(folder, runs.PolicyFolder, runs.ConfigFile))
	require.NoError(t, err)
	record, err := os.ReadFile(filepath.Join(folder, runs.LearnFile))
	require.NoError(t, err)
	require.Equal(t, string(record), string(given))
	resolved, err := os.ReadFile(filepath.Join(folder, runs.PolicyFolder, runs.ResolvedFile))
	require.NoError(t, err)
	require.Equal(t, l.Resolved(), string(resolved))
	run, err := runs.Open(files.OS{}, filepath.Join(folder, runs.PolicyFolder))
	require.NoError(t, err)
	require.Equal(t, l.Digest(), run.Manifest.ConfigSHA256)
	require.Equal(t, string(record), l.Resolved(), "defaults are written down")
}

// With force, a pipeline restarts, and the existing folder is moved aside.
func TestForceBeginsAnew(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	c, err := config.ReadPipeline(files.OS{}, written(t, 2, config.LeaveNone), nil)
	require.NoError(t, err)
	run := func(o Options) []bool {
		r, err := ranWith(c, copied(madeUp(t)), worktest.Env(files.OS{}), folder, o)
		require.NoError(t, err)
		var skipped []bool
		for _, s := range r.Stages {
			skipped = append(skipped, s.Skipped)
		}
		return skipped
	}
	all := []bool{false, false, false, false}
	require.Equal(t, all, run(Options{Force: true}), "there is no folder yet")
	require.NotEqual(t, all, run(Options{}))
	require.NoDirExists(t, folder+".1")
	require.Equal(t, all, run(Options{Force: true}))
	require.FileExists(t, filepath.Join(folder+".1", runs.OutcomeFile))
}
