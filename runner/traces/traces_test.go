package traces_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/trace"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/runner/app"
	"graft/runner/traces"
	"graft/runner/worktest"
)

// whole reports whether a file is not the leftover of a killed write.
func whole(path string) bool { return !files.IsLeftover(filepath.Base(path)) }

// generate writes a small trace, and the nodes and profiles of its cluster.
func generate(env *app.Env, folder string, again bool) error {
	if err := env.Files.MkdirAll(folder); err != nil {
		return err
	}
	o := traces.GenerateOptions{GenerateOptions: trace.GenerateOptions{Jobs: 5, Days: 2, Nodes: 2},
		VCFile: filepath.Join(folder, "nodes.csv"), Data: filepath.Join(folder, "data"), Force: again}
	_, err := traces.Generate(env, filepath.Join(folder, "jobs.csv"), o)
	return err
}

func TestGeneratingSurvivesFaults(t *testing.T) { worktest.SurviveFaults(t, generate, whole) }

func TestConvertingSurvivesFaults(t *testing.T) {
	in := t.TempDir()
	require.NoError(t, generate(worktest.Env(files.OS{}), in, true))
	worktest.SurviveFaults(t, func(env *app.Env, folder string, again bool) error {
		if err := env.Files.MkdirAll(folder); err != nil {
			return err
		}
		out := filepath.Join(folder, "jobs.swf")
		c, err := traces.Convert(env, filepath.Join(in, "jobs.csv"), out,
			traces.ConvertOptions{To: "swf", Force: again})
		if err == nil {
			require.Equal(t, 5, c.Jobs)
		}
		return err
	}, whole)
}

// Sizes beyond any machine are usage errors before anything is written.
func TestSizesAreBounded(t *testing.T) {
	env, dir := worktest.Env(files.OS{}), t.TempDir()
	for name, o := range map[string]trace.GenerateOptions{
		"jobs": {Jobs: 2_000_000_000}, "days": {Days: 1_000_000_000}, "nodes": {Nodes: 1_000_000_000},
		"GPUs":             {GPUsPerNode: 1_000_000_000},
		"virtual clusters": {VCs: 1_000_000_000}, "users": {Users: 1_000_000_000}, "load": {Load: 1e300},
	} {
		_, err := traces.Generate(env, filepath.Join(dir, "jobs.csv"), traces.GenerateOptions{GenerateOptions: o})
		require.Equal(t, failure.Usage, failure.CodeOf(t.Context(), err), name)
		require.ErrorContains(t, err, "; expected ", name)
	}
	_, err := traces.Describe(env, filepath.Join(dir, "jobs.csv"), traces.DescribeOptions{GPUsPerNode: 1_000_000_000})
	require.Equal(t, failure.Usage, failure.CodeOf(t.Context(), err))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}
