package table

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/runner/app"
	"graft/runner/worktest"
	"graft/simulation/tables"
	"graft/simulation/tables/tabletest"
)

// Writing a table gives the same table after a fault at any earlier write.
func TestWritingSurvivesFaults(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "one")
	require.NoError(t, tabletest.Folder(dir, "one", 1, 4, 1))
	found, err := tables.Check(files.OS{}, dir)
	require.NoError(t, err)
	worktest.SurviveFaults(t, func(env *app.Env, folder string, again bool) error {
		if err := Write(env.Files, found, folder, again); err != nil {
			return err
		}
		report, err := Check(env.Files, []string{folder, dir})
		require.Equal(t, failure.Done, failure.CodeOf(t.Context(), err))
		require.Equal(t, report.Tables[1].Table.Records, report.Tables[0].Table.Records)
		return err
	}, func(path string) bool { return strings.HasSuffix(path, ".jsonl") || path == "scenario.json" })
}
