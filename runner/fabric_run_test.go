package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/internal/failure"
	"graft/report/runs"
)

// smallFabric is a cluster of eight servers under two loads.
const smallFabric = `[fabric]
bandwidth = 1e10
size = [2, 2, 2]
[graphs]
models = ["ConvNet", "CIFARResNet20"]
[demand]
jobs = 20
test_count = 3
[degree]
deciders = ["thrifty", "best-constant"]
[vary]
loads = [0.5, 2]
`

// A run of a file is reported, drawn and read as those of other kinds are.
func TestFabricRun(t *testing.T) {
	folder := t.TempDir()
	path, run, figures := filepath.Join(folder, "cluster.toml"), filepath.Join(folder, "run"),
		filepath.Join(folder, "figures")
	require.NoError(t, os.WriteFile(path, []byte(smallFabric), 0o644))
	require.Contains(t, done(t, "config", "check", path).stdout,
		"6 episodes of 20 jobs of 2 networks on ramp of 8 servers under thrifty, best-constant")
	text := done(t, "fabric", "run", path, "--out", run).stdout
	require.Contains(t, text, "3 episodes of 20 jobs on ramp of 8 servers, with the same jobs under each decider")
	require.Contains(t, text, "Load 2: jobs blocked, %")
	o := decoded[runs.FabricOutcome](t, done(t, "fabric", "run", path, "--out", run, "--resume", "--json").stdout)
	require.Len(t, o.Points, 2)
	r := openRun(t, run)
	require.Empty(t, r.Faults)
	require.Equal(t, "fabric", r.Kind.Name)
	require.InDelta(t, o.Points[0].Cells[0].Blocked,
		valueOf(r, t, "load 0.5: "+o.Points[0].Cells[0].Decider+"_blocked"), 1e-12)
	require.Contains(t, done(t, "report", run).stdout, "best-constant")
	done(t, "plot", run, "--out", figures)
	for _, name := range []string{"run-blocked.svg", "run-degrees-thrifty.svg", "run-gantt-best-constant.svg"} {
		require.FileExists(t, filepath.Join(figures, name))
	}
	fails(t, failure.Usage, "resume that run", "fabric", "run", path, "--out", run)
	fails(t, failure.Usage, "leave out the file", "fabric", "run", path, "--compat", "ramp")
}

// A learned decider is compared with others by its run folder.
func TestLearnedDegrees(t *testing.T) {
	folder := t.TempDir()
	path, learned := filepath.Join(folder, "cluster.toml"), filepath.Join(folder, "learned")
	text := strings.Replace(smallFabric, "[vary]\nloads = [0.5, 2]\n",
		"[learn]\nlessons = 2\nrounds = 1\n[run]\nseeds = 2\n", 1)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	set := []string{"--set", "demand.train_count=2", "--set", "demand.validation_count=2"}
	out := done(t, append([]string{"learn", path, "--folder", learned}, set...)...).stdout
	require.Contains(t, out, "Shares of the jobs that are blocked, on the 2 workloads of validation, "+
		"by which the best were chosen: 'graft fabric run' compares")
	require.Contains(t, out, "constant-4")
	deciders := "degree.deciders=['best-constant'," + config.Quote(learned) + "]"
	o := decoded[runs.FabricOutcome](t, done(t, append([]string{"fabric", "run", path, "--out",
		filepath.Join(folder, "run"), "--json", "--set", deciders}, set...)...).stdout)
	k := slices.IndexFunc(o.Points[0].Cells, func(c runs.FabricCell) bool { return c.Decider == "learned" })
	require.Equal(t, 2, o.Points[0].Cells[k].Seeds)
	done(t, "plot", learned, "--out", filepath.Join(folder, "figures"))
	fails(t, failure.Configuration, "none.safetensors", "fabric", "run", path, "--set",
		"degree.deciders=['./none.safetensors']")
}
