package runs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/report/runs"
	"graft/results"
)

// A run that is named in several ways counts once, under its first name.
func TestRunsNamedTwiceCountOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a", "b"} {
		run, err := results.Create(files.OS{}, name, results.CreateOptions{}, results.Manifest{Kind: "job"})
		require.NoError(t, err)
		require.NoError(t, run.Close())
	}
	require.NoError(t, os.Symlink("a", "link"))
	whole, err := filepath.Abs("b")
	require.NoError(t, err)
	all, skipped := runs.OpenAll(files.OS{}, []string{"b", "./a", "link", "a", whole, "*", "../" + filepath.Base(
		filepath.Dir(whole)) + "/a/"})
	require.Empty(t, skipped)
	var paths []string
	for _, r := range all {
		paths = append(paths, r.Path)
	}
	require.Equal(t, []string{"b", "a"}, paths)
}
