package fabric_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"graft/internal/files"
	"graft/runner/app"
	"graft/runner/fabric"
)

// chainProfile is a PipeDream profile of two operations.
const chainProfile = "node1 -- Input0 -- forward_compute_time=1.0, backward_compute_time=2.0, " +
	"activation_size=1000.0, parameter_size=0.0\n" +
	"node2 -- Linear(8) -- forward_compute_time=2.0, backward_compute_time=4.0, activation_size=500.0, " +
	"parameter_size=800.0\n\tnode1 -- node2\n"

// episode is an episode of two jobs on eight servers.
const episode = `{"agent": "max_parallelism", "seed": 1, "file_order": ["chain.txt"],
"config": {"topology_config": {"type": "ramp",
"kwargs": {"num_communication_groups": 2, "num_racks_per_communication_group": 2,
"num_servers_per_rack": 2, "num_channels": 1, "total_node_bandwidth": 1e12,
"intra_gpu_propagation_latency": 5e-8, "worker_io_latency": 1e-7}},
"jobs_config": {"replication_factor": 3, "job_interarrival_time_dist": {"_target_": "a.Fixed", "val": 10},
"max_acceptable_job_completion_time_frac_dist": {"_target_": "a.Uniform", "min_val": 0.5, "max_val": 1},
"job_sampling_mode": "remove", "num_training_steps": 2},
"max_simulation_run_time": null, "max_partitions_per_op": 8, "min_op_run_time_quantum": 0.01},
"arrivals": [[0, 0, "chain", 1, 0], [1, 1, "chain", 0.9, 10]]}`

// play runs an episode on a graph.
func play(t *testing.T, episode, profile string) (*fabric.PlayReport, error) {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "chain.txt"), []byte(profile), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "episode.json"), []byte(episode), 0o644))
	env := &app.Env{Files: files.OS{}, Now: time.Now, Log: zap.NewNop()}
	return fabric.Play(t.Context(), env, fabric.PlayOptions{Episode: filepath.Join(folder, "episode.json"),
		Graphs: folder, Out: filepath.Join(folder, "played")})
}

// Without a list of arrivals, jobs are drawn from the episode's seed.
func TestEpisodesDrawTheirJobs(t *testing.T) {
	r, err := play(t, episode, chainProfile)
	require.NoError(t, err)
	require.Equal(t, 2, r.Arrived)
	without := episode[:strings.Index(episode, ",\n\"arrivals\"")] + "}"
	for _, agent := range []string{"max_parallelism", "random"} {
		r, err = play(t, strings.Replace(without, "max_parallelism", agent, 1), chainProfile)
		require.NoError(t, err)
		require.Equal(t, 3, r.Arrived, "the pool")
	}
}

// Bad episodes and graphs give an error that names the fault, and never an endless loop.
func TestBadEpisodes(t *testing.T) {
	for change, want := range map[string]string{
		`"num_communication_groups": 2|"num_communication_groups": 0`:                   "groups is 0",
		`"num_racks_per_communication_group": 2|"num_racks_per_communication_group": 4`: "racks per group is 4",
		`"num_servers_per_rack": 2|"num_servers_per_rack": -1`:                          "servers per rack is -1",
		`"num_channels": 1|"num_channels": 0`:                                           "channels is 0",
		`1e12|0`:                                                                        "bandwidth is 0",
		`1e12|-1`:                                                                       "bandwidth is -1",
		`5e-8|-5`:                                                                       "latency_seconds is -5",
		`"type": "ramp"|"type": "torus"`:                                                "only ramp is supported",
		`["chain.txt"]|[]`:                                                              "file_order is empty",
		`["chain.txt"]|["../chain.txt"]`:                                                "without folders",
		`["chain.txt"]|["none.txt"]`:                                                    "none.txt",
		`[[0, 0, "chain", 1, 0], [1, 1, "chain", 0.9, 10]]|[]`:                          "arrivals is empty",
		`"chain", 0.9|"other", 0.9`:                                                     "has no graph for it",
		`"chain", 0.9|"chain", 0`:                                                       "job 1: the time limit is 0",
		`"chain", 0.9|"chain", 1.5`:                                                     "job 1: the time limit is 1.5",
		`"chain", 0.9, 10|"chain", 0.9, -10`: "before the previous job; " +
			"sort jobs",
		`"chain", 0.9, 10|"chain", 0.9`:                                 "has 4 values",
		`"chain", 0.9, 10|"chain", "x", 10`:                             "must be numbers",
		`"num_training_steps": 2|"num_training_steps": 0`:               "0 steps",
		`"max_partitions_per_op": 8|"max_partitions_per_op": 10000`:     "max_degree is 10000",
		`"min_op_run_time_quantum": 0.01|"min_op_run_time_quantum": -1`: "quantum_ms is -1",
		`max_parallelism|odd`:                                           "agent \"odd\" is unknown",
		`"seed": 1|"seed": 1, "actions": [3, 1]`:                        "the agent chose degree 3",
		`"seed": 1|"seed": 1, "actions": [16, 1]`:                       "the agent chose degree 16",
		`"seed": 1|"seed": 1, "actions": [-2, 1]`:                       "the agent chose degree -2",
		`"seed": 1|"seed": 1, "actions": []`: "job 0 has no recorded decision; the recording has " +
			"decisions for 0 jobs",
		`"max_simulation_run_time": null|"max_simulation_run_time": -5`: "the end of the episode is -5",
		`"agent"|agent`: "not a JSON episode",
	} {
		was, is, _ := strings.Cut(change, "|")
		require.Contains(t, episode, was)
		_, err := play(t, strings.Replace(episode, was, is, 1), chainProfile)
		assert.ErrorContains(t, err, want, change)
	}
	endless := strings.NewReplacer(`"val": 10`, `"val": 0`, `"job_sampling_mode": "remove"`,
		`"job_sampling_mode": "replace"`, `"max_simulation_run_time": null`, `"max_simulation_run_time": 100`).
		Replace(episode[:strings.Index(episode, ",\n\"arrivals\"")] + "}")
	_, err := play(t, endless, chainProfile)
	require.ErrorContains(t, err, "jobs arrive before max_simulation_run_time")
	odd := strings.Replace(episode[:strings.Index(episode, ",\n\"arrivals\"")]+"}", `"remove"`, `"odd"`, 1)
	_, err = play(t, odd, chainProfile)
	require.ErrorContains(t, err, "job_sampling_mode \"odd\" is unknown")
	for change, want := range map[string]string{
		"\tnode1 -- node2|\tnode1 -- node2\n\tnode2 -- node1": "cycle",
		"\tnode1 -- node2|\tnode1 -- node9":                   "node9",
		"forward_compute_time=2.0|forward_compute_time=-2.0":  "-2",
		"forward_compute_time=2.0|forward_compute_time=NaN":   "NaN",
		"activation_size=500.0|activation_size=-1":            "-1",
		"node2 -- Linear(8)|node7 -- Linear(8)":               "node",
		chainProfile + "|":                                    "at least one operation",
	} {
		was, is, _ := strings.Cut(change, "|")
		_, err := play(t, episode, strings.Replace(chainProfile, was, is, 1))
		assert.ErrorContains(t, err, want, fmt.Sprintf("%.60q", change))
		require.ErrorContains(t, err, "chain.txt")
	}
}
