package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/report/runs"
	"graft/results"
)

// writeNodeProfile writes the run folder of two tasks that were measured alone and in pairs.
func writeNodeProfile(t testing.TB, dir string) {
	t.Helper()
	run, err := results.Create(files.OS{}, dir, results.CreateOptions{Resolved: "[machine]\ngpus = 1\n"},
		results.Manifest{Kind: runs.NodeProfileKind.Name, Created: when, Graft: "v0.1.0"})
	require.NoError(t, err)
	table, err := runs.OpenNodeProfile(run)
	require.NoError(t, err)
	watts, label := 250.5, 2
	use := runs.NodeUse{Watts: &watts}
	require.NoError(t, table.Append(runs.NodeProfileRow{Repeat: 1, Tasks: [2]string{"cnn"}, Runs: [2]int{3},
		Times: [2]float64{4}, Speeds: [2]float64{1}, Use: use}))
	require.NoError(t, table.Append(runs.NodeProfileRow{Repeat: 1, Tasks: [2]string{"cnn", "lstm"}, Runs: [2]int{1, 2},
		Times: [2]float64{5, 3}, Speeds: [2]float64{0.8, 0.75}}))
	require.NoError(t, run.WriteOutcome(&runs.NodeProfileOutcome{Device: "H100",
		Repeats: 2, Note: "no energy: there is no meter", Tasks: []runs.NodeProfileTask{{
			Task: "cnn", Runs: 6, Seconds: runs.NewNodeSpread([]float64{4, 4.5}), Label: &label, NodeUse: use,
		}, {Task: "lstm", Runs: 8, Seconds: runs.NewNodeSpread([]float64{3, 2})}},
		Pairs: []runs.NodeProfilePair{{First: "cnn", Second: "lstm", Speed1: runs.NewNodeSpread([]float64{0.8, 0.7}),
			Speed2: runs.NewNodeSpread([]float64{0.75, 0.8}), Runs1: 2, Runs2: 4}},
		Left: []runs.NodeProfileFailed{{First: "lstm", Second: "lstm",
			Reason: "together they need 99 MiB, but the device has 80"}}}))
	require.NoError(t, run.Close())
}
