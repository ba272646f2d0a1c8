package study_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/worlds"
	"graft/config"
	"graft/internal/files"
	"graft/runner/app"
	"graft/runner/study"
	"graft/runner/study/studytest"
	"graft/runner/worktest"
)

// Reports of the worlds without parts of GPUs state that jobs get whole GPUs, also for parts of several GPUs.
func TestReportsStateTheJobsOnWholeGPUs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.csv")
	require.NoError(t, os.WriteFile(path, []byte("id,submit [s],duration [s],gpus,share [1/1000]\n"+
		"a,0,7200,1,0\nb,60,7200,1,500\nc,60,7200,2,500\n"), 0o600))
	remarks := func(world string, set ...string) string { return remarksOn(t, path, world, set...) }
	const whole = "Jobs that request a part of a GPU: 2. They count as jobs of whole GPUs."
	require.Contains(t, remarks("adaptive", "adaptive.data="+config.Quote(adaptiveExample+"/applications"),
		`schedule.schedulers=["tiresias"]`), whole)
	require.Contains(t, remarks("elastic", `elastic.speeds="analytic"`, `schedule.schedulers=["fifo"]`), whole)
	require.Contains(t, remarks("rigid", "cluster.nodes=5", `schedule.schedulers=["fifo"]`),
		"Jobs that request parts of several GPUs: 1. They get whole GPUs.")
}

// remarksOn simulates a trace, and returns the remarks of the report.
func remarksOn(t *testing.T, path, world string, set ...string) string {
	t.Helper()
	f := studytest.Read(t, world, "", append(set, "workload.traces=["+config.Quote(path)+"]",
		"run.folder="+config.Quote(filepath.Join(t.TempDir(), "run")))...)
	o, err := study.Run(t.Context(), worktest.Env(files.OS{}), worlds.Named(world), f, "", app.FolderOptions{})
	require.NoError(t, err, world)
	return strings.Join(o.Remarks, "\n")
}

// Reports of every world state the jobs of a cluster trace that are left out, and those that count in another way.
func TestReportsStateTheJobsLeftOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.csv")
	require.NoError(t, os.WriteFile(path, []byte("job_id,gpu_num,submit_time,duration,state\n"+
		"a,1,0,7200,COMPLETED\nb,40,60,7200,COMPLETED\ncpu1,0,60,10,COMPLETED\ncpu2,0,60,10,COMPLETED\n"+
		"never,1,70,0,CANCELLED\nfailed,1,70,0,FAILED\n"), 0o600))
	remarks := func(world string, set ...string) string { return remarksOn(t, path, world, set...) }
	const both = "Left out of the trace: 2 jobs without GPUs, 1 job that never started"
	rigid := remarks("rigid", "cluster.nodes=5", `schedule.schedulers=["fifo"]`)
	require.Contains(t, rigid, both+".")
	require.Contains(t, rigid, "Jobs without a duration: 1. They end when they start, and count in all means.")
	adaptive := remarks("adaptive", "adaptive.data="+config.Quote(adaptiveExample+"/applications"),
		"adaptive.nodes=2", `schedule.schedulers=["tiresias"]`)
	require.Contains(t, adaptive, both+", 1 job without a duration.")
	require.Contains(t, adaptive, "Jobs that request more GPUs than their application or the cluster allows: 1.")
	elastic := remarks("elastic", `elastic.speeds="analytic"`, "elastic.nodes=20", `schedule.schedulers=["fifo"]`)
	require.Contains(t, elastic, both+", 1 job without a duration.")
	require.Contains(t, elastic, "1 job requested more than")
}
