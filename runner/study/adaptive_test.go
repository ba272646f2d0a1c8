package study_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/adaptive"
	adaptiveworld "graft/cluster/adaptive/world"
	"graft/cluster/study"
	"graft/cluster/worlds"
	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
	simulations "graft/runner/study"
	"graft/runner/study/studytest"
	"graft/runner/worktest"
)

// adaptiveSet returns a small study: a few jobs of the example on one node.
func adaptiveSet(t *testing.T, set ...string) []string {
	t.Helper()
	trace := filepath.Join(t.TempDir(), "few.csv")
	require.NoError(t, os.WriteFile(trace, []byte("name,time,application,num_replicas,batch_size\na,10,vision,2,128\n"+
		"b,70,speech,1,16\nc,95,vision,4,256\n"), 0o600))
	return append([]string{"adaptive.data=" + config.Quote(adaptiveExample+"/applications"),
		"workload.traces=[" + config.Quote(trace) + "]", "adaptive.nodes=1", "adaptive.gpus_per_node=4",
		`schedule.schedulers=["tiresias", "optimus", "srtf"]`}, set...)
}

// runAdaptive simulates into a folder.
func runAdaptive(ctx context.Context, t *testing.T, fsys files.FS, folder string, resume bool,
	set ...string) (*adaptiveworld.File, *study.Outcome, error) {
	t.Helper()
	f := adaptiveFile(t, "", append(set, "run.folder="+config.Quote(folder))...)
	o, err := simulations.Run(ctx, worktest.Env(fsys), worlds.Named("adaptive"), f, "",
		app.FolderOptions{Resume: resume})
	return f, o, err
}

// After a fault or kill at any write, a resumed run ends with the same bytes.
func TestAdaptiveRunsSurviveFaults(t *testing.T) {
	studytest.Survives(t, "adaptive", "", adaptiveSet(t, "schedule.ablate=true")...)
}

func TestAdaptiveRunsResume(t *testing.T) {
	runs := 6 // half a second each
	if os.Getenv("GRAFT_LONG") != "" {
		runs = 20
	}
	studytest.Resumes(t, runs, "adaptive", "", adaptiveSet(t, "schedule.ablate=true",
		`schedule.schedulers=["pollux", "goodput", "lucid", "srtf"]`, "schedule.seeds=2", "pollux.generations=2",
		"pollux.population=4", "adaptive.nodes=2", "adaptive.gpus_per_node=4")...)
}

// refusing is a file system that refuses writes below folders with a name.
type refusing struct {
	files.OS
	name string
}

func (r refusing) Create(path string) (files.File, error) {
	if strings.Contains(path, string(filepath.Separator)+r.name+string(filepath.Separator)) {
		return nil, errors.New("the disk is full")
	}
	return r.OS.Create(path)
}

// A run that is killed after some simulations runs only the others when resumed.
func TestResumedRunsKeepWhatEnded(t *testing.T) {
	set, folder := adaptiveSet(t), filepath.Join(t.TempDir(), "run")
	_, whole, err := runAdaptive(t.Context(), t, files.OS{}, filepath.Join(t.TempDir(), "run"), false, set...)
	require.NoError(t, err)
	_, _, err = runAdaptive(t.Context(), t, refusing{name: "srtf"}, folder, false, set...)
	require.ErrorContains(t, err, "the disk is full")
	_, resumed, err := runAdaptive(t.Context(), t, refusing{name: "optimus"}, folder, true, set...)
	require.NoError(t, err, "what ended is not written again")
	whole.Folder = resumed.Folder
	written := &study.Outcome{}
	require.NoError(t, results.ReadOutcome(files.OS{}, folder, written))
	require.Equal(t, whole.Cells, resumed.Cells)
	require.Equal(t, whole.Remarks, resumed.Remarks)
	_, again, err := runAdaptive(t.Context(), t, refusing{name: "srtf"}, folder, true, set...)
	require.NoError(t, err)
	require.Equal(t, written.Cells, again.Cells, "a finished run is read")
	require.NoFileExists(t, filepath.Join(folder, "srtf", "cell.json"))
}

// A stopped run exits with the code for requeueing.
func TestStoppedRuns(t *testing.T) {
	set, folder := adaptiveSet(t), filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := runAdaptive(ctx, t, files.OS{}, folder, false, set...)
	require.Equal(t, failure.Requeue, failure.CodeOf(t.Context(), err))
	require.ErrorContains(t, err, `is incomplete: the run was stopped; rerun the command with option "resume"`)
	_, _, err = runAdaptive(t.Context(), t, files.OS{}, folder, true, set...)
	require.NoError(t, err)
}

// The metrics of every scheduler, for adaptive and rigid jobs, agree with each other and with the tables.
func TestMetricsOfAdaptiveSchedulers(t *testing.T) {
	var names []string
	for _, s := range adaptiveworld.Schedulers(adaptiveFile(t, "", adaptiveSet(t)...).SchedulerOptions, 0) {
		if s.Rigid == nil || !s.Rigid.Profiles { // the example has no node for a profiler
			names = append(names, s.Name)
		}
	}
	folder := filepath.Join(t.TempDir(), "run")
	f, o, err := runAdaptive(t.Context(), t, files.OS{}, folder, false, adaptiveSet(t,
		"schedule.schedulers="+config.QuoteList(names), "pollux.generations=5", "pollux.population=10",
		"schedule.seeds=2")...)
	require.NoError(t, err)
	r, err := runs.Open(files.OS{}, folder)
	require.NoError(t, err)
	for k := range o.Cells {
		checkTables(t, f, r, &o.Cells[k])
	}
	require.Equal(t, "pollux-seed-1", o.Cells[3].Folder)
	require.Regexp(t, `^Over \d+ decisions of goodput, the objective is within`, o.Remarks[len(o.Remarks)-1])
	for _, s := range o.Schedulers {
		adapts := s.Name == "pollux" || s.Name == "goodput" || s.Name == "tiresias" || s.Name == "optimus"
		require.Equal(t, adapts, s.Mark == "", s.Name)
	}
}

// checkTables compares the metrics of a cell of three jobs with its tables.
func checkTables(t *testing.T, f *adaptiveworld.File, r *runs.Run, cell *study.CellOutcome) {
	t.Helper()
	value := func(key string) float64 { return float64(cell.Values[key]) }
	jobs, err := runs.Numbers(r, cell.Folder, "jobs.csv", "arrival [s]", "start [s]", "end [s]", "jct [s]",
		"restarts", "device_time [s]", "goodput")
	require.NoError(t, err, cell.Scheduler)
	jct, held, restarts := 0.0, 0.0, 0.0
	for j := range jobs["jct [s]"] {
		require.Equal(t, jobs["end [s]"][j]-jobs["arrival [s]"][j], jobs["jct [s]"][j])
		require.GreaterOrEqual(t, jobs["start [s]"][j], jobs["arrival [s]"][j])
		require.Positive(t, jobs["goodput"][j])
		jct, held, restarts = jct+jobs["jct [s]"][j], held+jobs["device_time [s]"][j], restarts+jobs["restarts"][j]
	}
	require.InDelta(t, jct/3, value("jct_mean_s"), 1e-9)
	require.InDelta(t, held/3600, value("device_time_h"), 1e-9)
	require.Equal(t, restarts, value("restarts"))
	require.LessOrEqual(t, held, value("makespan_s")*4)
	rounds, err := runs.Numbers(r, cell.Folder, "series.csv", "time [s]", "unfinished [jobs]", "running [jobs]",
		"used [devices]")
	require.NoError(t, err)
	used := 0.0
	for at := range rounds["time [s]"] {
		require.LessOrEqual(t, rounds["running [jobs]"][at], rounds["unfinished [jobs]"][at])
		require.LessOrEqual(t, rounds["used [devices]"][at], 4.0)
		used += rounds["used [devices]"][at] * f.Adaptive.Interval
	}
	require.Less(t, math.Abs(used-held), 4*2*3*f.Adaptive.Interval,
		"%s: rounds and jobs count the same device-seconds", cell.Scheduler)
	changes, err := runs.Numbers(r, cell.Folder, "allocations.csv", "time [s]", "devices", "batch")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(changes["devices"]), 3+int(restarts))
}

// Without interference, a single job takes as long as its application, under each rigid scheduler.
func TestOneRigidJob(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "one.csv")
	require.NoError(t, os.WriteFile(trace,
		[]byte("name,time,application,num_replicas,batch_size\na,60,vision,1,64\n"), 0o600))
	_, o, err := runAdaptive(t.Context(), t, files.OS{}, filepath.Join(t.TempDir(), "run"), false, adaptiveSet(t,
		"workload.traces=["+config.Quote(trace)+"]", `schedule.schedulers=["fifo", "fair", "tiresias"]`)...)
	require.NoError(t, err)
	apps, err := adaptive.ReadApplications(files.OS{}, adaptiveExample+"/applications", nil)
	require.NoError(t, err)
	alone, err := apps["vision"].OneDevice()
	require.NoError(t, err)
	for _, cell := range o.Cells {
		require.InDelta(t, alone+30, float64(cell.Values["jct_mean_s"]), 1, cell.Scheduler)
		require.InDelta(t, alone/(alone+30), float64(cell.Values["goodput"]), 1e-3)
		require.False(t, cell.Difference.Whole(), "of one job there is no interval")
	}
}

// Makespan and used device time count from the first submission, so that they do not depend on the origin of the times
// in a table. Pollux's scripts count from second 0.
func TestAdaptiveMakespanCountsFromTheFirstSubmission(t *testing.T) {
	values := func(first int, set ...string) (makespan, used []float64) {
		trace := filepath.Join(t.TempDir(), "two.csv")
		require.NoError(t, os.WriteFile(trace, fmt.Appendf(nil, "name,time,application,num_replicas,batch_size\n"+
			"a,%d,vision,2,128\nb,%d,speech,1,16\n", first, first+600), 0o600))
		_, o, err := runAdaptive(t.Context(), t, files.OS{}, filepath.Join(t.TempDir(), "run"), false,
			adaptiveSet(t, append(set, "workload.traces=["+config.Quote(trace)+"]")...)...)
		require.NoError(t, err)
		for _, c := range o.Cells {
			makespan = append(makespan, float64(c.Values["makespan_s"]))
			used = append(used, float64(c.Values["used_share"]))
		}
		return makespan, used
	}
	schedulers := `schedule.schedulers=["tiresias", "optimus", "fifo"]`
	makespan, used := values(0, schedulers)
	later, same := values(1_000_000*60, schedulers)
	require.InDeltaSlice(t, makespan, later, 1e-3)
	require.InDeltaSlice(t, used, same, 1e-9)
	compat := []string{`schedule.schedulers=["tiresias"]`, "adaptive.compat=\"pollux\""}
	makespan, _ = values(0, compat...)
	later, _ = values(6000, compat...)
	require.InDelta(t, makespan[0]+6000, later[0], 1e-9)
}

// Interference between jobs does not apply under rigid schedulers, which the report states.
func TestAdaptiveInterferenceIsStated(t *testing.T) {
	path := filepath.Join(adaptiveExample, "compare.toml")
	text := "adaptive.interference does not slow jobs down under schedulers marked *"
	plain := strings.Join(adaptiveFile(t, path).Study().Plan().Remarks, "\n")
	require.NotContains(t, plain, text)
	require.Contains(t, strings.Join(adaptiveFile(t, path, "adaptive.interference=0.25").Study().Plan().Remarks, "\n"),
		text)
}
