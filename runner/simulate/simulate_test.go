package simulate_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/results"
	"graft/runner/app"
	"graft/runner/simulate"
	"graft/runner/workers"
	"graft/runner/worktest"
)

// scenario has two sequences of one decision, on few images.
const scenario = `
[data.synthetic]
size = 16
classes = 2
train = 20
test = 10
[train]
batch = 10
[time]
budget = "400ms"
events = [{at = "200ms", change = "up"}]
[adapt]
rows = 10
[simulate]
actions = ["deepen:conv1", "none"]
[fleet]
engine = "kubernetes"
image = "graft"
claim = "shared"
mount = "/"
`

// After a fault at any write of planning, running or collecting, there is an error or the same table, and a second run
// gives the same table. The worker runs in the test instead of in a separate process.
func TestSimulationsSurviveFaults(t *testing.T) {
	file := filepath.Join(t.TempDir(), "late.toml")
	require.NoError(t, os.WriteFile(file, []byte(scenario), 0o600))
	ctx := context.Background()
	run := func(env *app.Env, folder string, _ bool) error {
		o := simulate.ManifestOptions{Folder: folder,
			Set: []string{`simulate.cache="` + filepath.Join(folder, "..", "cache") + `"`}}
		if _, err := simulate.Manifest(t.Context(), env, file, o); err != nil {
			return err
		}
		if err := simulate.Work(ctx, env, folder, workers.Options{Threads: 1}); err != nil {
			return err
		}
		_, err := simulate.Attach(ctx, env, folder, 0)
		return err
	}
	worktest.SurviveFaults(t, run,
		func(path string) bool { return strings.HasPrefix(path, "table/") && !strings.HasSuffix(path, ".lock") })
}

// A simulation whose initial weights changed is refused, even if all its work is done; with Force, it starts over.
func TestChangedWeightsAreRefused(t *testing.T) {
	dir := t.TempDir()
	file, weights := filepath.Join(dir, "late.toml"), filepath.Join(dir, "a.safetensors")
	require.NoError(t, os.WriteFile(file, []byte(scenario), 0o600))
	env := worktest.Env(files.OS{})
	o := simulate.ManifestOptions{Folder: filepath.Join(dir, "run"), Set: []string{"network.weights=" + weights}}
	run := func() error {
		_, err := simulate.Manifest(t.Context(), env, file, o)
		return err
	}
	require.NoError(t, os.WriteFile(weights, []byte("first"), 0o600))
	require.NoError(t, run())
	require.NoError(t, run(), "the same weights")
	require.NoError(t, os.WriteFile(weights, []byte("second"), 0o600))
	require.ErrorContains(t, run(), "a.safetensors changed since the start of the simulation")
	err := simulate.Work(t.Context(), env, o.Folder, workers.Options{Threads: 1})
	require.ErrorContains(t, err, "a.safetensors changed since the start of the simulation")
	o.Force = true
	require.NoError(t, run())
	o.Force = false
	require.NoError(t, run(), "the new weights")
}

// The same simulation in two folders has two batches of workers, whose names differ: an engine finds workers by name. A
// folder keeps the name that an earlier version of graft gave.
func TestFoldersHaveTheirOwnWorkers(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "late.toml")
	require.NoError(t, os.WriteFile(file, []byte(scenario), 0o600))
	env := worktest.Env(files.OS{})
	name := func(folder string) string {
		text, err := simulate.Manifest(t.Context(), env, file,
			simulate.ManifestOptions{Folder: filepath.Join(dir, folder)})
		require.NoError(t, err)
		_, text, _ = strings.Cut(text, `name: "`)
		name, _, _ := strings.Cut(text, `"`)
		return name
	}
	require.Regexp(t, "^graft-[0-9a-f]{16}$", name("a"))
	require.Equal(t, name("a"), name("a"))
	require.NotEqual(t, name("a"), name("b"))

	m, err := results.ReadManifest(files.OS{}, filepath.Join(dir, "a"))
	require.NoError(t, err)
	earlier := "graft-" + m.ConfigSHA256[:16]
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a", "fleet.json"),
		[]byte(`{"version": 1, "engine": "local", "batch": {"key": "`+earlier+`"}}`), 0o600))
	require.Equal(t, earlier, name("a"))
}
