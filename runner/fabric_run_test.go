package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/study"
	"graft/config"
	"graft/internal/failure"
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
[schedule]
schedulers = ["thrifty", "best-constant"]
[vary]
loads = [0.5, 2]
`

// A run can be reported, plotted and read like other kinds of runs.
func TestFabricRun(t *testing.T) {
	folder := t.TempDir()
	path, run, figures := filepath.Join(folder, "cluster.toml"), filepath.Join(folder, "run"),
		filepath.Join(folder, "figures")
	require.NoError(t, os.WriteFile(path, []byte(smallFabric), 0o644))
	require.Contains(t, done(t, "config", "check", path).stdout,
		"6 episodes with 20 jobs each, of 2 networks, on ramp with 8 servers, under thrifty, best-constant")
	text := done(t, "fabric", "run", path, "--out", run).stdout
	require.Contains(t, text, "3 episodes of 20 jobs each, on ramp with 8 servers; every scheduler gets the same jobs")
	require.Contains(t, text, "Load 2: blocked")
	o := decoded[study.Outcome](t, done(t, "fabric", "run", path, "--out", run, "--resume", "--json").stdout)
	require.Len(t, o.Points, 2)
	r := openRun(t, run)
	require.Empty(t, r.Faults)
	require.Equal(t, "fabric", r.Kind.Name)
	require.InDelta(t, float64(o.Summaries[0].Values["blocked_share"]),
		valueOf(r, t, "load 0.5: "+o.Summaries[0].Scheduler+"_blocked"), 1e-12)
	require.Contains(t, done(t, "report", run).stdout, "best-constant")
	done(t, "plot", run, "--out", figures)
	for _, name := range []string{"run-points-blocked.svg", "run-parts-load-0.5-degree-of-ConvNet.svg",
		"run-gantt-best-constant.svg"} {
		require.FileExists(t, filepath.Join(figures, name))
	}
	fails(t, failure.Usage, "resume its run", "fabric", "run", path, "--out", run)
	fails(t, failure.Usage, "omit the file", "fabric", "run", path, "--compat", "ramp")
}

// The run folder of a learned scheduler serves as a scheduler in a comparison.
func TestLearnedDegrees(t *testing.T) {
	folder := t.TempDir()
	path, learned := filepath.Join(folder, "cluster.toml"), filepath.Join(folder, "learned")
	text := strings.Replace(smallFabric, "[vary]\nloads = [0.5, 2]\n",
		"[learn]\nimitation_workloads = 2\nrounds = 1\n[run]\nseeds = 2\n", 1)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	set := []string{"--set", "demand.train_count=2", "--set", "demand.validation_count=2"}
	out := done(t, append([]string{"learn", path, "--folder", learned}, set...)...).stdout
	require.Contains(t, out, "Blocked share of jobs on the 2 validation workloads, "+
		"which also selected the best schedulers; 'graft fabric run' compares")
	require.Contains(t, out, "constant-4")
	schedulers := "schedule.schedulers=['best-constant'," + config.Quote(learned) + "]"
	o := decoded[study.Outcome](t, done(t, append([]string{"fabric", "run", path, "--out",
		filepath.Join(folder, "run"), "--json", "--set", schedulers}, set...)...).stdout)
	require.Equal(t, study.Candidate{Name: "learned", Learned: 2}, o.Schedulers[1])
	require.Equal(t, 2*3, o.Summaries[1].Cells, "two policies play three episodes")
	done(t, "plot", learned, "--out", filepath.Join(folder, "figures"))
	fails(t, failure.Configuration, "none.safetensors", "fabric", "run", path, "--set",
		"schedule.schedulers=['./none.safetensors']")
}
