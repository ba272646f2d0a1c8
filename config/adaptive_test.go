package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/adaptive"
	"graft/internal/files"
)

// adaptiveCopy is a copy of the example that a test may change.
func adaptiveCopy(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("../scenarios/adaptive")))
	return dir
}

// What a run folder keeps of a file is the same file; results depend on the contents of all that it names.
func TestAdaptiveFile(t *testing.T) {
	dir := adaptiveCopy(t)
	path := filepath.Join(dir, "compare.toml")
	a := must(ReadAdaptive(files.OS{}, path, nil))
	require.Equal(t, AdaptiveKind, KindOf(files.OS{}, path))
	require.Contains(t, must(a.Summary()), "72 jobs of workload-1, workload-2, "+
		"workload-3 on 4 nodes of 4 devices under pollux, goodput, optimus, tiresias, fifo, srtf, fair")
	again := must(ReadAdaptive(files.OS{}, written(t, "config.resolved.toml", a.Resolved()), nil))
	require.Equal(t, a.Digest(), again.Digest())
	require.Empty(t, differences(a, again))
	require.Equal(t, a.Digest(),
		must(ReadAdaptive(files.OS{}, path, []string{"schedule.workers=1", "output.folder=\"x\""})).Digest())
	digests := map[string]bool{a.Digest(): true}
	for _, set := range []string{"schedule.seed=1", "schedule.seeds=2", "adaptive.interference=0.25",
		"pollux.fairness=1.0", "adaptive.delay_seconds=10.0", `adaptive.quirks=["whole-seconds"]`} {
		digests[must(ReadAdaptive(files.OS{}, path, []string{set})).Digest()] = true
	}
	for _, name := range []string{"applications.csv", "traces/speech/validation-64.csv", "traces/vision/placements.csv",
		"workloads/busy/workload-2.csv"} {
		changed := filepath.Join(dir, "applications", name)
		text := must(os.ReadFile(changed))
		require.NoError(t, os.WriteFile(changed, append(text, '\n'), 0o600)) // an empty line means nothing
		digests[must(ReadAdaptive(files.OS{}, path, nil)).Digest()] = true
	}
	require.Len(t, digests, 11)
}

// Quirks that are kept are none, those that are named, or all.
func TestAdaptiveQuirks(t *testing.T) {
	read := func(set ...string) (*Adaptive, error) {
		return ReadAdaptive(files.OS{}, "", append([]string{`adaptive.data="../scenarios/adaptive/applications"`,
			`adaptive.traces=["workload-1.csv"]`}, set...))
	}
	require.Empty(t, must(read()).Quirks())
	one := must(read(`adaptive.quirks=["whole-seconds"]`))
	require.Equal(t, cluster.Quirks{"whole-seconds"}, one.Workloads()[0].Study.Options.Quirks)
	all := must(read(`adaptive.compat="pollux"`))
	require.Equal(t, cluster.QuirksOf(adaptive.Quirks()), all.Workloads()[0].Study.Options.Quirks)
	_, err := read(`adaptive.compat="pollux"`, `adaptive.quirks=["whole-seconds"]`)
	require.ErrorContains(t, err, "quirks is set beside compat pollux, which keeps all; leave out one of them")
}

// Each scheduler has a name of its own. Lucid needs a node for its profiler, beside those of the largest job.
func TestAdaptiveSchedulers(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range AdaptiveSchedulers(adaptive.SchedulerOptions{}, 0) {
		require.False(t, seen[s.Name], s.Name)
		seen[s.Name] = true
		require.NotEmpty(t, s.About)
	}
	require.True(t, seen["tiresias"] && seen["rigid-tiresias"] && seen["backfill"] && seen["lucid"])
	set := []string{`adaptive.data="../scenarios/adaptive/applications"`, `adaptive.traces=["workload-1.csv"]`,
		`schedule.schedulers=["lucid"]`, "adaptive.devices=4"}
	_, err := ReadAdaptive(files.OS{}, "", append(set, "adaptive.nodes=4"))
	require.NoError(t, err)
	_, err = ReadAdaptive(files.OS{}, "", append(set, "adaptive.nodes=2"))
	require.ErrorContains(t, err, "lucid keeps one node for its profiler")
}

// A workload is a file, or a name in the folder of data; two that would share a folder are an error.
func TestAdaptiveTraces(t *testing.T) {
	dir := adaptiveCopy(t)
	path := filepath.Join(dir, "compare.toml")
	busy := filepath.Join(dir, "applications", "workloads", "busy", "workload-1.csv")
	for _, name := range []string{"workload-1.csv", "busy/workload-1.csv", "workloads/busy/workload-1.csv", busy} {
		a := must(ReadAdaptive(files.OS{}, path, []string{"adaptive.traces=[" + Quote(name) + "]"}))
		require.Equal(t, busy, a.Workloads()[0].Path)
		require.Equal(t, "workload-1", a.Workloads()[0].Name)
	}
	_, err := ReadAdaptive(files.OS{}, path, []string{`adaptive.traces=["workload-1.csv", "busy/workload-1.csv"]`})
	require.ErrorContains(t, err, "would have the same name busy-workload-1 in the run folder; rename a file")
	require.NoError(t, os.Remove(filepath.Join(dir, "applications", "traces", "vision", "placements.csv")))
	_, err = ReadAdaptive(files.OS{}, path, nil)
	require.ErrorContains(t, err, "application vision has no folder in")
	require.NoError(t, os.Remove(filepath.Join(dir, "applications", "applications.csv")))
	_, err = ReadAdaptive(files.OS{}, path, nil)
	require.ErrorContains(t, err, `traces[2]: read `, "the fault of each workload is found")
	require.ErrorContains(t, err, `expected the name of an application: language, speech`)
}
