package study_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/rigid"
	"graft/cluster/worlds"
	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/runner/app"
	"graft/runner/study"
	"graft/runner/study/studytest"
	"graft/runner/worktest"
)

// rigidSet returns a small trace under two schedulers at two arrival factors, with usage and ablations.
func rigidSet(t *testing.T, set ...string) []string {
	path := filepath.Join(t.TempDir(), "jobs.csv")
	var b strings.Builder
	b.WriteString("job_id,gpu_num,submit_time,duration,vc\n")
	for k := range 20 {
		fmt.Fprintf(&b, "%d,%d,%d,%d,a\n", k, []int{8, 4, 1}[k%3], 9000*k, 600+k*k*7919%20_000)
	}
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
	return append([]string{"workload.traces=[" + config.Quote(path) + "]", `cluster.nodes=1`,
		`schedule.schedulers=["fifo", "srtf"]`, "schedule.arrival_factors=[1.0, 2.0]",
		"cluster.usage_every_seconds=7200"}, set...)
}

func TestRigidRunsSurviveFaults(t *testing.T) { studytest.Survives(t, "rigid", "", rigidSet(t)...) }

func TestRigidRunsResume(t *testing.T) { studytest.Resumes(t, 20, "rigid", "", rigidSet(t)...) }

// failingSet returns rigidSet with random failures under two seeds, listed outages, drains and spare nodes.
func failingSet(t *testing.T, set ...string) []string {
	path := filepath.Join(t.TempDir(), "faults.json")
	event := `{"node_id": "%s", "event_time": %g, "event_type": "fault_%s", "fault_type": {"Class": "GPU"}}`
	var events []string
	for k := range 12 {
		node := string(rune('a' + k%3))
		events = append(events, fmt.Sprintf(event, node, float64(k)/10+0.01, "start"),
			fmt.Sprintf(event, node, float64(k)/10+0.05, "end"))
	}
	require.NoError(t, os.WriteFile(path, []byte("["+strings.Join(events, ",\n")+"]"), 0o600))
	return append(rigidSet(t, "failures.file="+config.Quote(path), "failures.file_nodes=5", "schedule.seeds=2",
		"failures.spare_nodes=1", "failures.checkpoint_seconds=100", "failures.restart_seconds=50",
		`failures.outages=[{node=1, from_seconds=40000, to_seconds=50000, kind="drain"}]`), set...)
}

func TestFailingRunsSurviveFaults(t *testing.T) { studytest.Survives(t, "rigid", "", failingSet(t)...) }

func TestFailingRunsResume(t *testing.T) { studytest.Resumes(t, 20, "rigid", "", failingSet(t)...) }

// The outcome has the availability of nodes and the losses of jobs. All schedulers have the same failures for a seed.
func TestOutcomesOfFailures(t *testing.T) {
	f := studytest.Read(t, "rigid", "", failingSet(t, "run.folder="+config.Quote(filepath.Join(t.TempDir(), "run")),
		"failures.rate_factor=20.0", `failures.source="fit"`)...)
	o, err := study.Run(t.Context(), worktest.Env(files.OS{}), worlds.Named("rigid"), f, "", app.FolderOptions{})
	require.NoError(t, err)
	require.Len(t, o.Cells, 2*2*2)
	lost := 0.0
	for _, c := range o.Cells {
		require.Less(t, float64(c.Values["availability_share"]), 1.0)
		require.Positive(t, float64(c.Values["availability_share"]))
		require.LessOrEqual(t, float64(c.Values["hit_jobs"]), float64(c.Values["restarts"]))
		require.InDelta(t, float64(c.Values["failures_mean"])*20, float64(c.Values["restarts"]), 1e-9)
		lost += float64(c.Values["lost_gpu_h"])
	}
	require.Positive(t, lost)
	require.NotEqual(t, o.Cells[0].Values["availability_share"], o.Cells[1].Values["availability_share"], "two seeds")
	for _, c := range o.Cells {
		if c.Scheduler == "srtf" {
			require.NotNil(t, c.Difference)
		}
	}
}

// The resolved file of a run with failures, and of one without, reads back as the same configuration.
func TestResolvedFailuresReadBack(t *testing.T) {
	for _, set := range [][]string{failingSet(t, `failures.on_drain="preempt"`), failingSet(t, `failures.source="fit"`),
		rigidSet(t)} {
		f := studytest.Read(t, "rigid", "", set...)
		path := filepath.Join(t.TempDir(), "config.resolved.toml")
		require.NoError(t, os.WriteFile(path, []byte(config.Resolved(f)), 0o600))
		again := studytest.Read(t, "rigid", path)
		require.Equal(t, f.(*rigid.File).Failures, again.(*rigid.File).Failures)
		require.Equal(t, config.Digest(f.(config.File)), config.Digest(again.(config.File)))
	}
}

// A rate factor of zero is refused, because the default is 1.
func TestNoRateFactorOfZero(t *testing.T) {
	set := failingSet(t, `failures.source="fit"`)
	f := studytest.Read(t, "rigid", "", set...)
	require.EqualValues(t, 1, f.(*rigid.File).Failures.RateFactor)
	_, err := config.ReadNamed[*rigid.File]("rigid", config.Open(files.OS{}, ""),
		append(set, "failures.rate_factor=0.0"))
	require.ErrorContains(t, err, "0.0 means the default here, 1.0; remove rate_factor or write 1.0")
}

// Sizes beyond any machine are configuration errors before there is a run folder.
func TestSizesAreBounded(t *testing.T) {
	for name, set := range map[string]string{
		"GPUs":          `cluster.nodes=1000000`,
		"slow arrivals": "schedule.arrival_factors=[1e-300]", "slower arrivals": "schedule.arrival_factors=[1.0, 1e-9]",
	} {
		folder := filepath.Join(t.TempDir(), "run")
		f := studytest.Read(t, "rigid", "", rigidSet(t, set, "run.folder="+config.Quote(folder))...)
		_, err := study.Run(t.Context(), worktest.Env(files.OS{}), worlds.Named("rigid"), f, "", app.FolderOptions{})
		require.Error(t, err, name)
		require.Equal(t, failure.Configuration, failure.CodeOf(t.Context(), err), "%s: %v", name, err)
		require.NoDirExists(t, folder, name)
	}
}

// Cells that were saved before a change of their trace are simulated again.
func TestCellsAreOfTheirInputs(t *testing.T) {
	set := rigidSet(t)
	folder, w := filepath.Join(t.TempDir(), "run"), worlds.Named("rigid")
	f := studytest.Read(t, "rigid", "", append(set, "run.folder="+config.Quote(folder))...)
	full := worktest.Env(fullDisk{folder: filepath.Join(folder, "arrivals-x2", "srtf")})
	_, err := study.Run(t.Context(), full, w, f, "", app.FolderOptions{})
	require.ErrorContains(t, err, "the disk is full")
	require.FileExists(t, filepath.Join(folder, "arrivals-x1", "fifo", "cell.json"))
	trace := f.(*rigid.File).Workload.Traces[0]
	require.NoError(t, os.WriteFile(trace, []byte("job_id,gpu_num,submit_time,duration,vc\n1,8,0,60,a\n"), 0o600))
	env := worktest.Env(files.OS{})
	again, err := study.Run(t.Context(), env, w, f, "", app.FolderOptions{Resume: true})
	require.NoError(t, err)
	require.InDelta(t, 60.0, float64(again.Cells[0].Values["jct_mean_s"]), 0)
	require.Equal(t, 1, again.Jobs)
}

// The results of a complete run are not shown for changed inputs.
func TestCompleteRunsKeepTheirInputs(t *testing.T) {
	w, env := worlds.Named("rigid"), worktest.Env(files.OS{})
	f := studytest.Read(t, "rigid", "", rigidSet(t, "run.folder="+config.Quote(filepath.Join(t.TempDir(), "run")))...)
	want, err := study.Run(t.Context(), env, w, f, "", app.FolderOptions{})
	require.NoError(t, err)
	got, err := study.Run(t.Context(), env, w, f, "", app.FolderOptions{Resume: true})
	require.NoError(t, err)
	require.Equal(t, want.Cells[0].Values, got.Cells[0].Values)
	trace := f.(*rigid.File).Workload.Traces[0]
	require.NoError(t, os.WriteFile(trace, []byte("job_id,gpu_num,submit_time,duration,vc\n1,8,0,60,a\n"), 0o600))
	_, err = study.Run(t.Context(), env, w, f, "", app.FolderOptions{Resume: true})
	require.ErrorContains(t, err, "its input files have changed since")
	require.Equal(t, failure.Configuration, failure.CodeOf(t.Context(), err))
	require.NoError(t, os.Remove(trace))
	_, err = study.Run(t.Context(), env, w, f, "", app.FolderOptions{Resume: true})
	require.ErrorIs(t, err, os.ErrNotExist)
}

// fullDisk is a file system that refuses to create files in a folder.
type fullDisk struct {
	files.OS
	folder string
}

func (f fullDisk) Create(path string) (files.File, error) {
	if filepath.Dir(path) == f.folder {
		return nil, errors.New("the disk is full")
	}
	return f.OS.Create(path)
}
