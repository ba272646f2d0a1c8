package fabric_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	wire "graft/cluster/fabric"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/runner/app"
	"graft/runner/fabric"
)

// A step refuses to replace existing files without the option force, and never replaces its graph.
func TestStepReplacesFilesOnlyOnRequest(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("chain.txt", []byte(chainProfile), 0o600))
	env := &app.Env{Files: files.OS{}, Now: time.Now, Log: zap.NewNop()}
	step := func(trace, figure string, force bool) error {
		_, err := fabric.Step(env, "chain.txt", fabric.StepOptions{Trace: trace, Figure: figure, Force: force,
			Options: wire.Options{Strategy: wire.Data, Memory: 1e9}})
		return err
	}
	for _, kept := range []string{"old.json", "old.svg"} {
		require.NoError(t, os.WriteFile(kept, []byte("kept"), 0o600))
	}
	refuses := func(trace, figure string, force bool, says string) {
		err := step(trace, figure, force)
		require.ErrorContains(t, err, says)
		require.Equal(t, failure.Usage, failure.CodeOf(t.Context(), err))
	}
	refuses("old.json", "new.svg", false, `old.json already exists: choose another file, or replace it with option`)
	refuses("new.json", "old.svg", false, "old.svg already exists")
	refuses("both.svg", "./both.svg", false, "options trace and figure name the same file")
	refuses("chain.txt", "", true, "are the same file")
	for _, path := range []string{"new.json", "new.svg", "both.svg"} {
		require.NoFileExists(t, path, "nothing is written")
	}
	require.NoError(t, step("old.json", "old.svg", true))
	for _, path := range []string{"old.json", "old.svg"} {
		data, err := os.ReadFile(filepath.Clean(path))
		require.NoError(t, err)
		require.NotEqual(t, "kept", string(data))
	}
}
