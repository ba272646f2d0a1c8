package simulation_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/net2net"
	"graft/simulation"
	"graft/trainer"
)

// publishedTrees are the original's tables as trees, or none where they are not at
// hand.
func publishedTrees(t testing.TB) []*simulation.Tree {
	profile, err := trainer.FindProfile("v100-original")
	require.NoError(t, err)
	var trees []*simulation.Tree
	for _, path := range published(t) {
		job, err := os.ReadFile(filepath.Join(filepath.Dir(path), "config.toml"))
		require.NoError(t, err)
		network := regexp.MustCompile(`model = "(\w+)"`).FindSubmatch(job)
		f, err := os.Open(path)
		require.NoError(t, err)
		s := simulation.Scenario{Name: filepath.Base(filepath.Dir(path)), Network: string(network[1]), Actions: fourActions}
		table, err := simulation.ReadLegacy(f, s, 42)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		tree, err := simulation.NewTree(table, simulation.PlantOptions{Surgery: net2net.Options{Compat: net2net.Original}, Profile: profile})
		require.NoError(t, err)
		trees = append(trees, tree)
	}
	return trees
}

// One policy learns the original's tables, all of them together, from nothing: it
// hardly regrets anything, in no table and with no seed.
func TestOnePolicyForThePublishedTables(t *testing.T) {
	trees := publishedTrees(t)
	if len(trees) == 0 {
		return
	}
	seeds := []uint64{1, 2, 3, 4}
	began := time.Now()
	policies, err := simulation.LearnTrees(context.Background(), trees, nil, simulation.NewTreeLearnOptions(), seeds, 2)
	took := time.Since(began).Seconds()
	require.NoError(t, err)
	var all [][]simulation.Verdict
	for _, p := range policies {
		verdicts, err := simulation.Assess(trees, simulation.OfPolicy("policy", p))
		require.NoError(t, err)
		all = append(all, verdicts)
	}
	s := simulation.Summarize("policy", all)
	t.Logf("measured: one policy for %d tables, %d seeds, two at once, in %.1f s: mean regret %.3f points [%.3f, %.3f], rank in the first five %.0f%%",
		len(trees), len(seeds), took, s.Regret.Mean, s.Regret.Low, s.Regret.High, 100*s.TopFive)
	require.LessOrEqual(t, s.Regret.High, 0.5)
	require.Zero(t, s.LowHalf)
	require.GreaterOrEqual(t, s.TopFive, 0.95)
}
