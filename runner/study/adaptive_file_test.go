package study_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/adaptive"
	adaptiveworld "graft/cluster/adaptive/world"
	"graft/cluster/study"
	"graft/cluster/worlds"
	"graft/config"
	"graft/internal/files"
)

const adaptiveExample = "../../scenarios/adaptive"

func readAdaptive(path string, set ...string) (*adaptiveworld.File, error) {
	f, err := config.ReadNamed[study.File]("adaptive", config.Open(files.OS{}, path), set)
	if err != nil {
		return nil, err
	}
	return f.(*adaptiveworld.File), nil
}

// adaptiveFile reads a valid file.
func adaptiveFile(t *testing.T, path string, set ...string) *adaptiveworld.File {
	t.Helper()
	f, err := readAdaptive(path, set...)
	require.NoError(t, err)
	return f
}

// exampleSet returns assignments for a workload of the example, without its file.
func exampleSet(set ...string) []string {
	return append([]string{"adaptive.data=" + config.Quote(adaptiveExample+"/applications"),
		`workload.traces=["workload-1.csv"]`}, set...)
}

// adaptiveCopy returns a folder with a copy of the example, which a test may change.
func adaptiveCopy(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(adaptiveExample)))
	return dir
}

// The resolved file in a run folder is the same configuration. The digest covers the contents of all files that it
// names.
func TestAdaptiveFile(t *testing.T) {
	dir := adaptiveCopy(t)
	path := filepath.Join(dir, "compare.toml")
	f := adaptiveFile(t, path)
	require.Equal(t, config.KindNamed("adaptive"), config.KindOf(files.OS{}, path))
	summary, err := f.Summary()
	require.NoError(t, err)
	require.Contains(t, summary, "72 jobs of workload-1, workload-2, workload-3 on 16 GPUs of 4 nodes under pollux, "+
		"goodput, optimus, tiresias, fifo, srtf, fair")
	resolved := filepath.Join(t.TempDir(), "config.resolved.toml")
	require.NoError(t, os.WriteFile(resolved, []byte(config.Resolved(f)), 0o600))
	again := adaptiveFile(t, resolved)
	require.Equal(t, config.Digest(f), config.Digest(again))
	require.Equal(t, config.Resolved(f), config.Resolved(again))
	require.Equal(t, config.Digest(f),
		config.Digest(adaptiveFile(t, path, "schedule.workers=1", "run.folder=\"x\"")))
	digests := map[string]bool{config.Digest(f): true}
	for _, set := range []string{"schedule.seed=1", "schedule.seeds=2", "adaptive.interference=0.25",
		"pollux.fairness=1.0", "adaptive.delay_seconds=10.0", `adaptive.quirks=["whole-seconds"]`,
		"schedule.ablate=true", `schedule.against="fair"`} {
		digests[config.Digest(adaptiveFile(t, path, set))] = true
	}
	for _, name := range []string{"applications.csv", "traces/speech/validation-64.csv", "traces/vision/placements.csv",
		"workloads/busy/workload-2.csv"} {
		changed := filepath.Join(dir, "applications", name)
		text, err := os.ReadFile(changed)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(changed, append(text, '\n'), 0o600)) // same content
		digests[config.Digest(adaptiveFile(t, path))] = true
	}
	require.Len(t, digests, 13)
}

// The quirks of a study are none, the named ones, or all.
func TestAdaptiveQuirks(t *testing.T) {
	quirks := func(set ...string) any {
		return adaptiveFile(t, "", exampleSet(set...)...).Study().Plan().Facts["quirks"]
	}
	require.Empty(t, quirks())
	require.Equal(t, []string{"whole-seconds"}, quirks(`adaptive.quirks=["whole-seconds"]`))
	require.Equal(t, []string(cluster.QuirksOf(adaptive.Quirks())), quirks(`adaptive.compat="pollux"`))
	_, err := readAdaptive("", exampleSet(`adaptive.compat="pollux"`, `adaptive.quirks=["whole-seconds"]`)...)
	require.ErrorContains(t, err,
		`quirks is set, but compat = "pollux" enables all quirks anyway; remove one of the two keys`)
}

// Each scheduler has a unique name. Lucid needs a node for its profiler, in addition to the nodes of the largest job.
func TestAdaptiveSchedulers(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range worlds.Named("adaptive").Schedulers() {
		require.False(t, seen[s.Name], s.Name)
		seen[s.Name] = true
		require.NotEmpty(t, s.About)
		_, err := adaptive.Named(s.Name)
		require.Equal(t, err != nil, len(s.Without) > 0, "the original has no rigid jobs: %s", s.Name)
	}
	require.True(t, seen["tiresias"] && seen["rigid-tiresias"] && seen["backfill"] && seen["lucid"])
	require.Equal(t, []string{"tiresias", "optimus", "pollux", "goodput"},
		adaptiveFile(t, "", exampleSet()...).Schedule.Schedulers)
	lucid := exampleSet(`schedule.schedulers=["lucid"]`, "adaptive.gpus_per_node=4")
	adaptiveFile(t, "", append(lucid, "adaptive.nodes=4")...)
	for set, says := range map[string]string{
		"adaptive.nodes=2": "job vision-3 requests 8 devices, but lucid reserves one node for its profiler",
		`adaptive.compat="pollux"`: "scheduler lucid is rigid, but compat = \"pollux\" allows only schedulers for " +
			"adaptive jobs; remove the scheduler, or set compat to \"none\"",
		`schedule.schedulers=["runs/learned"]`: "scheduler runs/learned is a path, but adaptive jobs do not " +
			"support learned schedulers",
		`schedule.schedulers=["fifo", "fifo"]`:   "duplicate fifo",
		`schedule.against="fifo"`:                `against is "fifo"; expected one of the schedulers lucid`,
		`adaptive.traces=["workload-1.csv"]`:     "traces was removed: renamed to workload.traces",
		"schedule.worth=true":                    "worth was removed: renamed to schedule.ablate",
		`output.folder="runs/x"`:                 "output.folder was renamed to run.folder",
		"workload.traces=[]":                     "traces is missing; expected at least one table of jobs",
		`workload.traces=["", "workload-2.csv"]`: `file "" not found`,
	} {
		_, err := readAdaptive("", append(lucid, set)...)
		require.ErrorContains(t, err, says)
	}
}

// A workload is a file, or a name in the data folder. Two workloads that would share a folder are an error.
func TestAdaptiveTraces(t *testing.T) {
	dir := adaptiveCopy(t)
	path := filepath.Join(dir, "compare.toml")
	busy := filepath.Join(dir, "applications", "workloads", "busy", "workload-1.csv")
	for _, name := range []string{"workload-1.csv", "busy/workload-1.csv", "workloads/busy/workload-1.csv", busy} {
		p := adaptiveFile(t, path, "workload.traces=["+config.Quote(name)+"]").Study().Plan()
		require.Equal(t, []string{busy}, p.Facts["traces"])
		require.Equal(t, []string{"workload-1"}, p.Workloads)
	}
	_, err := readAdaptive(path, `workload.traces=["workload-1.csv", "busy/workload-1.csv"]`)
	require.ErrorContains(t, err, "is named twice; name each trace once")
	require.NoError(t, os.Remove(filepath.Join(dir, "applications", "traces", "vision", "placements.csv")))
	_, err = readAdaptive(path)
	require.ErrorContains(t, err, "application vision has no folder in")
	require.NoError(t, os.Remove(filepath.Join(dir, "applications", "applications.csv")))
	_, err = readAdaptive(path)
	for _, name := range []string{"workload-1", "workload-2", "workload-3"} {
		require.ErrorContains(t, err, name+".csv:", "the fault of each workload is found")
	}
	require.ErrorContains(t, err, `expected one of the applications: language, speech`)
}
