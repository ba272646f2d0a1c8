package ramp_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/fabric"
	"graft/cluster/fabric/graph"
	"graft/original/ramp"
)

// played holds the recorded results of an episode, next to its inputs.
type played struct {
	Name  string `json:"name"`
	Steps []struct {
		Job      int      `json:"job_idx"`
		Time     float64  `json:"time"`
		Held     int      `json:"mounted_workers_before"`
		Valid    []int    `json:"valid_actions"`
		Action   int      `json:"action"`
		Degree   *int     `json:"max_degree"`
		Cause    *string  `json:"cause"`
		Done     bool     `json:"done"`
		JCT      *float64 `json:"lookahead_jct"`
		Comm     float64  `json:"comm"`
		Comp     float64  `json:"comp"`
		Servers  []string `json:"workers"`
		Channels int      `json:"n_channels"`
		Busy     float64  `json:"util"`
		Flow     float64  `json:"flow_size"`
	} `json:"steps"`
	Final struct {
		Completed [][3]float64 `json:"completed"`
		Blocked   []int        `json:"blocked"`
	} `json:"final"`
	Stats map[string]any   `json:"episode_stats"`
	Log   map[string][]any `json:"steps_log"`
}

func TestEpisodesAreThoseOfTheSimulator(t *testing.T) {
	files, err := filepath.Glob(filepath.FromSlash(reference + "golden/ep_*.json"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("left out: the recorded episodes are not there; put them beside the tree")
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		var want played
		require.NoError(t, json.Unmarshal(data, &want))
		t.Run(want.Name, func(t *testing.T) {
			t.Parallel()
			episode, err := ramp.ReadEpisode(bytes.NewReader(data))
			require.NoError(t, err)
			requireEpisode(t, episode, &want)
		})
	}
}

func requireEpisode(t *testing.T, episode *ramp.Episode, want *played) {
	t.Helper()
	folder := "small"
	if episode.FileOrder[0] == "chain.txt" {
		folder = "toy"
	}
	world := newWorld(t, episode, folder)
	draws, err := episode.Draws()
	require.NoError(t, err)
	decider, err := episode.Decider(draws)
	require.NoError(t, err)
	world.Pick = draws.Pick(world)
	var events []fabric.Event
	world.Each = func(e *fabric.Event) { events = append(events, *e) }
	for k := range want.Steps {
		step := &want.Steps[k]
		job := world.Waiting()
		require.NotNil(t, job)
		require.Equal(t, step.Job, job.ID)
		require.Equal(t, step.Time, world.Now)
		require.Equal(t, step.Held, world.Held(), "job %d", k)
		require.Equal(t, step.Valid, world.Degrees())
		degree, err := decider.Degree(world)
		require.NoError(t, err)
		require.Equal(t, step.Action, degree, "job %d", k)
		require.NoError(t, world.Decide(degree))
		require.Equal(t, step.Done, world.Waiting() == nil)
		if step.Done { // jobs that run at the end have already left their servers
			continue
		}
		require.Equal(t, step.JCT != nil, job.Run != nil, "job %d: %s", k, job.Cause)
		if job.Run == nil {
			continue
		}
		require.Equal(t, *step.JCT, job.Time)
		require.Equal(t, step.Comm, job.Run.Wire)
		require.Equal(t, step.Comp, job.Run.Compute)
		require.Equal(t, step.Busy, job.Run.Busy)
		require.Equal(t, step.Channels, job.Run.Placed.Lanes, "job %d", k)
		require.InEpsilon(t, 1+step.Flow, 1+job.Run.Placed.Flow, 1e-12)
		var names []string
		for _, server := range job.Run.Placed.Servers {
			names = append(names, world.Study().Network.Name(server))
		}
		require.Equal(t, step.Servers, names)
	}
	require.Nil(t, world.Waiting())
	requireJobs(t, world, want)
	requireLog(t, events, want.Log)
	requireStats(t, ramp.Statistics(world), want.Stats)
}

// newWorld begins an episode on the graphs of a folder.
func newWorld(t *testing.T, episode *ramp.Episode, folder string) *fabric.World {
	t.Helper()
	var profiles []*graph.Profile
	for _, name := range episode.FileOrder {
		profiles = append(profiles, profile(t, folder, name))
	}
	study, err := episode.Study(profiles)
	require.NoError(t, err)
	world, err := fabric.NewWorld(study)
	require.NoError(t, err)
	return world
}

func requireJobs(t *testing.T, world *fabric.World, want *played) {
	t.Helper()
	completed, blocked := [][3]float64{}, []int{}
	for k := range world.Jobs {
		switch j := &world.Jobs[k]; j.Status {
		case fabric.Completed:
			completed = append(completed, [3]float64{float64(k), j.Started, j.Ended})
		case fabric.Blocked, fabric.Running:
			blocked = append(blocked, k)
		}
	}
	slices.SortFunc(want.Final.Completed, func(a, b [3]float64) int { return int(a[0] - b[0]) })
	slices.Sort(want.Final.Blocked)
	require.Equal(t, want.Final.Completed, completed)
	require.Equal(t, want.Final.Blocked, blocked)
}

func requireLog(t *testing.T, events []fabric.Event, log map[string][]any) {
	t.Helper()
	require.Len(t, events, len(log["step_counter"]))
	for k := range events {
		e := &events[k]
		for name, got := range map[string]float64{
			"step_start_time": e.From, "step_end_time": e.To, "mean_num_mounted_workers": e.Servers,
			"mean_num_mounted_channels": e.Channels,
			"mean_num_jobs_running":     float64(e.Jobs), "num_jobs_completed": float64(e.Completed),
			"num_jobs_arrived": float64(e.Arrived),
			"num_jobs_blocked": float64(e.Blocked), "job_queue_length": float64(e.Waiting),
			"compute_info_processed": e.Memory, "dep_info_processed": e.Dep, "flow_info_processed": e.Flow,
			"cluster_info_processed":        e.Memory + e.Dep,
			"demand_compute_info_processed": e.DemandMemory, "demand_dep_info_processed": e.DemandDep,
			"demand_total_info_processed": e.DemandMemory + e.DemandDep,
			"mean_compute_overhead_frac":  e.Compute, "mean_communication_overhead_frac": e.Wire,
			"mean_mounted_worker_utilisation_frac": e.Busy, "mean_cluster_worker_utilisation_frac": e.ClusterBusy,
		} {
			requireClose(t, log[name][k], got, name)
		}
	}
}

// requireClose compares a number with the recorded one, within one part in 10^9.
func requireClose(t *testing.T, want any, got float64, name string) {
	t.Helper()
	if list, ok := want.([]any); ok {
		require.Len(t, list, 1, name)
		want = list[0]
	}
	if text, ok := want.(string); ok {
		require.Equal(t, "inf", text, name)
		require.True(t, math.IsInf(got, 1), "%s: %g", name, got)
		return
	}
	require.InDelta(t, want, got, 1e-9*max(1e-9, math.Abs(want.(float64))), name)
}

func requireStats(t *testing.T, got map[string]any, want map[string]any) {
	t.Helper()
	for name, value := range want {
		if list, ok := value.([]any); ok {
			values, ok := got[name].([]float64)
			require.True(t, ok, "%s is missing", name)
			require.Len(t, values, len(list), name)
			for k := range list {
				requireClose(t, list[k], values[k], name)
			}
			continue
		}
		number, ok := got[name].(float64)
		require.True(t, ok, "%s is missing", name)
		requireClose(t, value, number, name)
	}
}
