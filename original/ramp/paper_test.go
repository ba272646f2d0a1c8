package ramp_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/fabric"
	"graft/original/ramp"
)

// small lists the networks of the paper's experiments, in the order of the pool.
var small = []string{"alexnet", "gnmt", "resnet18", "squeezenet1_0", "vgg16"}

// paperStudy returns an episode of the paper's size: 1,001 jobs, one every 1,000 s, on 32 servers.
func paperStudy(t testing.TB, arrivals [][3]any) *fabric.Study {
	t.Helper()
	s := &fabric.Study{
		Network: &fabric.Ramp{Groups: 4, Racks: 4, Servers: 2, Channels: 1, Bandwidth: 1.6e12, Latency: 50e-9,
			IO: 100e-9, Quirks: ramp.Quirks()},
		Options: fabric.Options{Until: 1e6, More: true, Next: 1e3 * float64(len(arrivals)), Quirks: ramp.Quirks()},
	}
	s.Options.EnsureDefaults()
	models := map[string]int{}
	for k, name := range small {
		models[name] = k
		s.Models = append(s.Models, fabric.NewModel(profile(t, "small", name+".txt").
			Mirror(fabric.Mirror(ramp.Quirks()))))
	}
	for k, row := range arrivals {
		s.Jobs = append(s.Jobs, fabric.Job{Model: models[row[1].(string)], Limit: row[2].(float64), Steps: 50,
			Arrival: 1e3 * float64(k)})
	}
	s.Prepare()
	return s
}

func TestPaperScaleIsThatOfTheSimulator(t *testing.T) {
	var golden []map[string]any
	recorded(t, "paper_scale_upstream.json", &golden)
	var input struct {
		Arrivals map[string][][3]any `json:"arrivals"`
	}
	recorded(t, "arrivals_paper_scale.json", &input)
	for _, want := range golden {
		name := want["dist"].(string) + "0"
		world, err := fabric.NewWorld(paperStudy(t, input.Arrivals[name]))
		require.NoError(t, err)
		decider := fabric.Decider(fabric.InTime{})
		if fixed, ok := want["fix"].(string); ok {
			decider = fabric.Constant{Parts: int(fixed[0] - '0')}
		}
		require.Equal(t, want["return"], rewardsOf(t, world, decider))
		got := ramp.Statistics(world)
		for _, name := range []string{
			"num_jobs_arrived", "num_jobs_completed", "num_jobs_blocked", "blocking_rate", "acceptance_rate",
			"mean_load_rate", "mean_demand_total_throughput", "mean_cluster_throughput", "mean_num_jobs_running",
			"mean_num_mounted_workers", "mean_cluster_worker_utilisation_frac", "mean_mounted_worker_utilisation_frac",
			"mean_communication_overhead_frac",
		} {
			requireClose(t, want[name], got[name].(float64), name)
		}
		for _, name := range []string{
			"job_completion_time", "job_completion_time_speedup", "jobs_completed_max_partitions_per_op",
			"jobs_completed_num_mounted_workers", "job_communication_overhead_time",
		} {
			requireClose(t, want["mean_"+name], mean(got[name].([]float64)), name)
		}
	}
}

// rewardsOf plays an episode and returns the sum of its rewards: 1 for each accepted job, -1 for each other job.
func rewardsOf(t *testing.T, w *fabric.World, d fabric.Decider) (sum float64) {
	t.Helper()
	reward := ramp.Reward{Kind: "job_acceptance", Success: 1, Fail: -1}
	for w.Waiting() != nil {
		degree, err := d.Degree(w)
		require.NoError(t, err)
		decision, err := new(ramp.Scales).Decide(w, degree)
		require.NoError(t, err)
		one, err := reward.Of(nil, decision)
		require.NoError(t, err)
		sum += one
	}
	return sum
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	return sum / float64(len(list))
}
