package world

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/cluster/node"
	"graft/internal/files"
)

// tracedFile returns a file whose tasks are the jobs of a trace.
func tracedFile(t *testing.T, trace string) *File {
	path := filepath.Join(t.TempDir(), "jobs.csv")
	require.NoError(t, os.WriteFile(path, []byte(trace), 0o600))
	f := New()
	f.Workload.Traces = []string{path}
	f.EnsureDefaults()
	return f
}

// Estimates of the jobs of a trace have the errors of tasks.estimate_error, and the other values stay the same.
func TestTracedTasksHaveEstimateErrors(t *testing.T) {
	f := tracedFile(t, "id,submit [s],duration [s],gpus\n"+strings.Repeat("1,0,1000,1\n", 50))
	exact, err := f.traceTasks(files.OS{})
	require.NoError(t, err)
	f.Tasks.EstimateError = 0.5
	specs, err := f.traceTasks(files.OS{})
	require.NoError(t, err)
	least, most := time.Hour, time.Duration(0)
	for k := range specs {
		least, most = min(least, specs[k].Estimate), max(most, specs[k].Estimate)
		require.Zero(t, exact[k].Estimate, "the true duration")
		specs[k].Estimate = 0
	}
	require.Equal(t, exact, specs)
	require.InDelta(t, 500, least.Seconds(), 100)
	require.InDelta(t, 1500, most.Seconds(), 100)
}

// Jobs that request more memory than the largest GPU has are counted, and jobs whose end is unknown are left out.
func TestTracedTasksThatDoNotFit(t *testing.T) {
	f := tracedFile(t, "id,submit [s],duration [s],gpus,memory [MiB],limit [s],state\n1,0,10,1,20000,0,COMPLETED\n"+
		"2,0,10,1,40000,0,COMPLETED\n3,0,100000,1,0,60,RUNNING\n")
	f.Machine.GPUs, f.Machine.Memory, f.Machine.Memories = 0, 0, []float64{16384, 32768}
	specs, err := f.traceTasks(files.OS{})
	require.NoError(t, err)
	require.Len(t, specs, 2)
	require.Equal(t, []float64{20_000, 32_768}, []float64{specs[0].Memory, specs[1].Memory})
	require.Equal(t, 1, f.omitted)
	require.Contains(t, strings.Join(f.Warnings(), ""), "1 task requested more GPU memory")
}

// Keys of generated tasks that do not apply to the tasks of the file are named, and a flow has one weight.
func TestKeysOfOtherTasks(t *testing.T) {
	f := New()
	f.Task = []Task{{Name: "b", Flow: "x"}, {Name: "a", Flow: "x", Weight: 3}, {Name: "x"}}
	f.Tasks.EstimateError = 0.2
	f.EnsureDefaults()
	require.Contains(t, strings.Join(f.Warnings(), ""), "tasks.estimate_error has no effect on these tasks")
	specs, err := expand(f.Task)
	require.NoError(t, err)
	require.Equal(t, []node.Spec{{Name: "b", Kind: "b", Flow: "x", Cores: 100, Weight: 3, Tickets: 1},
		{Name: "a", Kind: "a", Flow: "x", Cores: 100, Weight: 3, Tickets: 1},
		{Name: "x", Kind: "x", Flow: "x", Cores: 100, Weight: 3, Tickets: 1}}, specs)
	f.Task[0].Weight, f.Task[2].After = 1, []string{"none"}
	_, err = expand(f.Task)
	require.ErrorContains(t, err, "task a has the weight 3, but another task of flow x has 1; set the weight of a flow")
	require.ErrorContains(t, err, "unknown task \"none\"", "all faults are named")
}
