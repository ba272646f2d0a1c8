package adaptive

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/elastic"
	"graft/cluster/schedulers"
	"graft/trainer/goodput"
)

// A job alone takes the same time as an adaptive, a rigid and an elastic job, because all three use the same step
// times.
func TestWorldsAgreeOnOneJob(t *testing.T) {
	for k := range 40 {
		r := rand.New(rand.NewPCG(5, uint64(k)))
		s := drawStudy(r, nil)
		s.Options.Interference = 0
		s.Jobs = s.Jobs[:1]
		job := &s.Jobs[0]
		kind, err := Named("tiresias")
		require.NoError(t, err)
		w, err := s.Run(context.Background(), kind)
		require.NoError(t, err)
		took := w.Jobs()[0].Ended - w.Jobs()[0].Started

		rigid, err := s.Rigid()
		require.NoError(t, err)
		policy, err := schedulers.Named("fifo")
		require.NoError(t, err)
		o, err := rigid.Run(context.Background(), policy, cluster.Options{})
		require.NoError(t, err)
		require.InDelta(t, math.Ceil(took), float64(o.Jobs[0].End-o.Jobs[0].Trace.Submit), 1, "case %d", k)

		placement := compact(job.Devices, s.Options.Devices)
		b := job.App.Limits.Share(job.Batch, job.Devices, false)
		step, _, err := job.App.times.Step(placement, b.Device)
		require.NoError(t, err)
		steps := elastic.Steps{"app": {Times: job.App.times, Device: b.Device}}
		d := elastic.Deployment{Model: &elastic.JobType{Name: "app", EpochSize: 1}}
		for node, n := range placement {
			for range n {
				d.Workers = append(d.Workers, node)
			}
		}
		require.InDelta(t, float64(job.Devices), steps.Epochs(d, step), 1e-9,
			"an epoch of a step of each worker, case %d", k)
		require.GreaterOrEqual(t, steps.Limit(d.Model, job.Devices, 0, step), steps.Epochs(d, step)*(1-1e-12))
		require.NoError(t, steps.Check(d.Model, job.Devices))
	}
}

// A rigid job spread over nodes slows down in proportion to its step time. On another number of devices, it runs as
// fast as that number does with the same batch.
func TestRatesOfPlacements(t *testing.T) {
	speed := goodput.Speed{ComputeStart: 0.01, ComputeExample: 0.001, NodesStart: 0.1, NodesDevice: 0.01,
		NodeStart: 0.01, NodeDevice: 0.001, Overlap: 2}
	app := made("app", goodput.Limits{Least: 16, Most: 256, DeviceLeast: 8, DeviceMost: 64}, 2, 0, speed, 1)
	study, err := Study{Jobs: []Spec{{Name: "a", App: app, Devices: 2, Batch: 64}},
		Options: Options{Devices: 4}}.Rigid()
	require.NoError(t, err)
	job := &cluster.Job{Trace: &study.Jobs[0]}
	step := func(device int, placement ...int) float64 {
		s, _, err := speed.Step(placement, device)
		require.NoError(t, err)
		return s
	}
	for name, c := range map[string]struct {
		nodes []cluster.Share
		want  float64
	}{
		"as it asked for":     {[]cluster.Share{{Node: 0, GPUs: 0b11}}, 1},
		"spread over nodes":   {[]cluster.Share{{Node: 0, GPUs: 1}, {Node: 3, GPUs: 1}}, step(32, 2) / step(32, 1, 1)},
		"on twice as many":    {[]cluster.Share{{Node: 1, GPUs: 0b1111}}, step(32, 2) / step(16, 4)},
		"on one of its nodes": {[]cluster.Share{{Node: 1, GPUs: 0b1000}}, step(32, 2) / (step(32, 1) + 0.01 + 0.032)},
	} {
		rate, _ := study.Speed.Rates(cluster.Placement{Job: job, Nodes: c.nodes})
		require.InDelta(t, c.want, rate, 1e-9, name)
	}
	require.Less(t, step(32, 2), step(32, 1, 1))
}
