package adaptive_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/runs"
	"graft/runner/adaptive"
	"graft/runner/app"
	"graft/runner/worktest"
)

// example is the configuration of the example with a few jobs.
func example(t *testing.T, set ...string) *config.Adaptive {
	t.Helper()
	trace := filepath.Join(t.TempDir(), "few.csv")
	require.NoError(t, os.WriteFile(trace, []byte("name,time,application,num_replicas,batch_size\na,10,vision,2,128\n"+
		"b,70,speech,1,16\nc,95,vision,4,256\n"), 0o600))
	c, err := config.ReadAdaptive(files.OS{}, "",
		append([]string{`adaptive.data="../../scenarios/adaptive/applications"`,
			"adaptive.traces=[" + config.Quote(trace) + "]", "adaptive.nodes=1",
			`schedule.schedulers=["tiresias", "optimus", "srtf"]`}, set...))
	require.NoError(t, err)
	return c
}

func run(t *testing.T, c *config.Adaptive, fsys files.FS, folder string, resume bool) (*runs.AdaptiveOutcome, error) {
	own := *c
	own.Output.Folder = folder
	return adaptive.Run(t.Context(), worktest.Env(fsys), &own, app.FolderOptions{Resume: resume})
}

// Whatever fails or kills a run at whichever write, resuming it ends in the same bytes.
func TestRunsSurviveFaults(t *testing.T) {
	c := example(t, "schedule.worth=true")
	worktest.SurviveFaults(t, func(env *app.Env, folder string, again bool) error {
		own := *c
		own.Output.Folder = folder
		_, err := adaptive.Run(context.Background(), env, &own, app.FolderOptions{Resume: again})
		return err
	}, func(path string) bool { return path != runs.LockFile })
}

// refusing is a file system without any write below folders of a name.
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

// A run that was killed after some simulations does only the others when it is resumed.
func TestResumedRunsKeepWhatEnded(t *testing.T) {
	c, folder := example(t), filepath.Join(t.TempDir(), "run")
	whole, err := run(t, c, files.OS{}, filepath.Join(t.TempDir(), "run"), false)
	require.NoError(t, err)
	_, err = run(t, c, refusing{name: "srtf"}, folder, false)
	require.ErrorContains(t, err, "the disk is full")
	resumed, err := run(t, c, refusing{name: "optimus"}, folder, true)
	require.NoError(t, err, "what ended is not written again")
	whole.Folder = resumed.Folder
	require.Equal(t, whole, resumed)
	again, err := run(t, c, refusing{name: "srtf"}, folder, true)
	require.NoError(t, err)
	require.Equal(t, whole.Cells, again.Cells, "a finished run is read")
	require.NoFileExists(t, filepath.Join(folder, "srtf", "cell.json"))
}

// The figures of every scheduler, of adaptive and of rigid jobs, agree with each other and with the tables.
func TestFiguresOfAllSchedulers(t *testing.T) {
	var names []string
	for _, d := range config.AdaptiveSchedulers(example(t).SchedulerOptions, 0) {
		if d.Rigid == nil || !d.Rigid.Profiles { // the example has no node for a profiler
			names = append(names, d.Name)
		}
	}
	c, folder := example(t, "schedule.schedulers="+config.QuoteList(names), "pollux.generations=5",
		"pollux.population=10", "schedule.seeds=2"), filepath.Join(t.TempDir(), "run")
	o, err := run(t, c, files.OS{}, folder, false)
	require.NoError(t, err)
	r, err := runs.Open(files.OS{}, folder)
	require.NoError(t, err)
	for k := range o.Cells {
		cell := &o.Cells[k]
		jobs, err := runs.Numbers(r, o.CellFolder(cell), runs.AdaptiveJobsFile, "submission_s", "start_s",
			"end_s", "jct_s", "restarts", "device_s", "goodput")
		require.NoError(t, err, cell.Scheduler)
		jct, held, restarts := 0.0, 0.0, 0.0
		for j := range jobs["jct_s"] {
			require.Equal(t, jobs["end_s"][j]-jobs["submission_s"][j], jobs["jct_s"][j])
			require.GreaterOrEqual(t, jobs["start_s"][j], jobs["submission_s"][j])
			require.Positive(t, jobs["goodput"][j])
			jct, held, restarts = jct+jobs["jct_s"][j], held+jobs["device_s"][j], restarts+jobs["restarts"][j]
		}
		require.InDelta(t, jct/3, cell.Mean, 1e-9)
		require.InDelta(t, held/3600, cell.DeviceHours, 1e-9)
		require.Equal(t, restarts, float64(cell.Restarts))
		require.LessOrEqual(t, held, cell.Makespan*4)
		rounds, err := runs.Numbers(r, o.CellFolder(cell), runs.AdaptiveRoundsFile, "time_s", "unfinished_jobs",
			"running_jobs", "devices")
		require.NoError(t, err)
		used := 0.0
		for at := range rounds["time_s"] {
			require.LessOrEqual(t, rounds["running_jobs"][at], rounds["unfinished_jobs"][at])
			require.LessOrEqual(t, rounds["devices"][at], 4.0)
			used += rounds["devices"][at] * c.Adaptive.Interval
		}
		require.Less(t, math.Abs(used-held), 4*2*3*c.Adaptive.Interval,
			"%s: rounds and jobs count the same device-seconds", cell.Scheduler)
		changes, err := runs.Numbers(r, o.CellFolder(cell), runs.AdaptiveAllocationsFile, "time_s",
			"devices", "batch")
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(changes["devices"]), 3+cell.Restarts)
	}
	require.Equal(t, "pollux-seed-1", o.CellFolder(&o.Cells[3]))
}

// A stopped run asks to be queued again.
func TestStoppedRuns(t *testing.T) {
	c, folder := example(t), filepath.Join(t.TempDir(), "run")
	c.Output.Folder = folder
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := adaptive.Run(ctx, worktest.Env(files.OS{}), c, app.FolderOptions{})
	require.Equal(t, failure.Requeue, failure.CodeOf(t.Context(), err))
	require.ErrorContains(t, err, "is incomplete: context canceled; go on with option resume")
	_, err = run(t, c, files.OS{}, folder, true)
	require.NoError(t, err)
}

// Without interference of others a job alone runs as its application does, under each rigid scheduler.
func TestOneRigidJob(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "one.csv")
	require.NoError(t, os.WriteFile(trace,
		[]byte("name,time,application,num_replicas,batch_size\na,60,vision,1,64\n"), 0o600))
	c := example(t, "adaptive.traces=["+config.Quote(trace)+"]", `schedule.schedulers=["fifo", "fair", "tiresias"]`)
	o, err := run(t, c, files.OS{}, filepath.Join(t.TempDir(), "run"), false)
	require.NoError(t, err)
	alone, err := c.Workloads()[0].Study.Jobs[0].App.OneDevice()
	require.NoError(t, err)
	for _, cell := range o.Cells {
		require.InDelta(t, alone+30, cell.Mean, 1, cell.Scheduler)
		require.InDelta(t, alone/(alone+30), cell.Goodput, 1e-3)
		require.Nil(t, cell.Against)
	}
}
