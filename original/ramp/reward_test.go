package ramp_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/fabric"
	"graft/original/ramp"
)

// variants holds the recorded rewards.
var variants = map[string]ramp.Reward{
	"job_acceptance":                  {Kind: "job_acceptance", Success: 1, Fail: -1},
	"lookahead_default":               {Kind: "lookahead_job_completion_time", Factor: 1},
	"lookahead_norm10":                {Kind: "lookahead_job_completion_time", Factor: 10, Scale: 10},
	"lookahead_log":                   {Kind: "lookahead_job_completion_time", Factor: 1, Log: true},
	"lookahead_inverse_norm":          {Kind: "lookahead_job_completion_time", Factor: 1, Scale: 1, Inverse: true},
	"mean_compute_throughput":         {Kind: "mean_compute_throughput", Scale: 1, Log: true},
	"mean_cluster_throughput":         {Kind: "mean_cluster_throughput", Scale: 1},
	"mean_cluster_throughput_raw_log": {Kind: "mean_cluster_throughput", Log: true},
	"mean_demand_total_throughput":    {Kind: "mean_demand_total_throughput", Scale: 1},
	"multi_objective":                 {Kind: "multi_objective_jct_blocking", Weight: 1},
	"multi_objective_w2_log":          {Kind: "multi_objective_jct_blocking", Weight: 2, Log: true},
}

// rewarded is an episode with its observations and rewards.
type rewarded struct {
	ramp.Episode
	Name   string
	Scales ramp.Scales `json:"jobs_params"`
	Models map[string]struct {
		Nodes [][]float64 `json:"node_features"`
		Edges [][]float64 `json:"edge_features"`
		From  []int       `json:"edges_src"`
		To    []int       `json:"edges_dst"`
	} `json:"model_features"`
	Steps []struct {
		Job     int       `json:"job_idx"`
		Values  []float64 `json:"graph_features"`
		Mask    []int     `json:"action_mask"`
		Action  int
		Reward  float64 `json:"env_reward"`
		Rewards map[string]float64
	}
}

// Observations are within 1e-6 and rewards within 1e-9 of the original's.
func TestObservationsAndRewards(t *testing.T) {
	var all []rewarded
	recorded(t, "obs_rewards.json", &all)
	for k, folder := range []string{"toy", "small"} {
		e := &all[k]
		for name := range e.Models {
			e.FileOrder = append(e.FileOrder, name+".txt")
		}
		world := newWorld(t, &e.Episode, folder)
		requireGraphs(t, e, world)
		for _, step := range e.Steps {
			require.Equal(t, step.Job, world.Waiting().ID)
			o := e.Scales.Observe(world)
			require.InDeltaSlice(t, step.Values, o.Values, 1e-6, "%s, job %d", e.Name, step.Job)
			for degree, allowed := range step.Mask {
				require.Equal(t, allowed == 1, o.Mask[degree])
			}
			d, err := e.Scales.Decide(world, step.Action)
			require.NoError(t, err)
			require.Len(t, step.Rewards, len(variants))
			for name, want := range step.Rewards {
				r := variants[name]
				got, err := r.Of(&e.Scales, d)
				require.NoError(t, err)
				require.InDelta(t, want, got, 1e-9*max(1, abs(want)), "%s, job %d, %s", e.Name, step.Job, name)
			}
			require.Equal(t, step.Rewards["job_acceptance"], step.Reward)
		}
	}
	_, err := (&ramp.Reward{Kind: "odd"}).Of(nil, nil)
	require.ErrorContains(t, err, "reward \"odd\" is unknown")
}

func abs(x float64) float64 { return max(x, -x) }

// requireGraphs compares the features of each network that a policy reads.
func requireGraphs(t *testing.T, e *rewarded, world *fabric.World) {
	t.Helper()
	for k := range world.Study().Models {
		m := &world.Study().Models[k]
		want, got := e.Models[m.Name], ramp.Graph(m)
		require.Len(t, got.Nodes, len(want.Nodes), m.Name)
		for n := range want.Nodes {
			require.InDeltaSlice(t, want.Nodes[n], got.Nodes[n], 1e-6, "%s, operation %d", m.Name, n)
		}
		require.Len(t, got.Ties, len(want.Edges), m.Name)
		for n := range want.Edges {
			require.InDeltaSlice(t, want.Edges[n], got.Ties[n], 1e-6, "%s, transfer %d", m.Name, n)
			require.Equal(t, [2]int{want.From[n], want.To[n]}, got.Edges[n], "%s, transfer %d", m.Name, n)
		}
	}
}
