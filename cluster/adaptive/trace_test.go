package adaptive

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/trace"
	"graft/cluster/trace/tracetest"
	"graft/files"
	"graft/goodput"
)

// sized are applications that take about a device-hour quarter, five and fifty.
func sized() map[string]*Application {
	apps := map[string]*Application{}
	for name, seconds := range map[string]float64{"small": 9, "small-too": 9, "medium": 180, "large": 1800} {
		apps[name] = made(name, goodput.Limits{Least: 16, Most: 128, DeviceLeast: 16, DeviceMost: 64}, 1, 0, goodput.Speed{ComputeStart: seconds, Overlap: 1}, 1)
	}
	apps["alone"] = made("alone", goodput.Limits{Least: 64, Most: 64, DeviceLeast: 64, DeviceMost: 64}, 1, 64, goodput.Speed{ComputeStart: 18, Overlap: 1}, 1)
	return apps
}

func TestTracesGetApplicationsOfTheirSize(t *testing.T) {
	apps := sized()
	for _, c := range []struct {
		job           trace.Job
		app           string
		devices, size int
	}{
		{trace.Job{ID: "a", GPUs: 1, Duration: 3601}, "medium", 1, 16},
		{trace.Job{ID: "b", GPUs: 4, Duration: 9000}, "medium", 4, 64},
		{trace.Job{ID: "c", GPUs: 8, Duration: 9000}, "large", 8, 128},
		{trace.Job{ID: "d", GPUs: 8, Duration: 900_000}, "large", 8, 128},
		{trace.Job{ID: "e", GPUs: 64, Duration: 3600}, "large", 8, 128},
		{trace.Job{ID: "f", GPUs: 8, Duration: 1, Model: "large"}, "large", 8, 128},
		{trace.Job{ID: "g", GPUs: 8, Duration: 1, Model: "alone"}, "alone", 1, 64},
	} {
		specs, err := FromTrace([]trace.Job{c.job}, apps)
		require.NoError(t, err)
		got := specs[0]
		require.Equal(t, Spec{Name: c.job.ID, App: apps[c.app], Devices: c.devices, Batch: c.size}, got, c.job.ID)
	}
}

// Jobs of a class are spread over its applications, and a job's does not depend on other jobs.
func TestApplicationsOfTracesDependOnTheJobAlone(t *testing.T) {
	apps, count := sized(), map[string]int{}
	var jobs []trace.Job
	for k := range 300 {
		jobs = append(jobs, trace.Job{ID: fmt.Sprint(k), GPUs: 1, Duration: 60})
	}
	all, err := FromTrace(jobs, apps)
	require.NoError(t, err)
	for k := range jobs {
		one, err := FromTrace(jobs[k:k+1], apps)
		require.NoError(t, err)
		require.Equal(t, one[0], all[k])
		count[all[k].App.Name]++
	}
	require.Len(t, count, 3)
	for name, n := range count {
		require.Greater(t, n, 60, name)
	}
}

// Every format of traces is a workload.
func TestTracesAreWorkloads(t *testing.T) {
	for name, text := range map[string]string{"ours": tracetest.Ours, "Helios": tracetest.Helios, "Philly": tracetest.Philly, "Tiresias": tracetest.Tiresias,
		"Alibaba's of 2020": tracetest.Alibaba2020, "Alibaba's of 2023": tracetest.Alibaba2023, "SWF": tracetest.SWF} {
		dir := folder(t, map[string]any{"jobs.csv": text})
		specs, err := load(dir)
		require.NoError(t, err, name)
		want, err := trace.ReadAll(files.OS{}, filepath.Join(dir, "jobs.csv"), trace.Options{Origin: trace.FirstJob, OnlyGPU: true})
		require.NoError(t, err, name)
		require.NotEmpty(t, specs, name)
		require.Len(t, specs, len(want.Jobs), name)
		_, err = NewWorld(Study{Jobs: specs}, Kinds()[0])
		require.NoError(t, err, name)
	}
}

func TestFaultyTracesAreRefused(t *testing.T) {
	_, err := load(folder(t, map[string]any{"jobs.csv": tracetest.Tiresias + "1,x,10,1,vgg,500,1\n"}))
	require.ErrorContains(t, err, "jobs.csv:3")
}
