package convert

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/config"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, "run the test with -update if this is meant")
}

func parseJob(name, text string) (*config.Job, error) {
	j := config.NewJob()
	return j, config.Parse(name, []byte(text), j)
}

func parseScenario(name, text string) (*config.Simulation, error) {
	m := config.NewSimulation()
	return m, config.Parse(name, []byte(text), m)
}

// written writes a file into a new folder.
func written(t testing.TB, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
