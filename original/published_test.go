package original_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/net2net"
	"graft/original"
	"graft/simulation"
	"graft/simulation/evaluation"
	"graft/simulation/learning"
	"graft/simulation/tables"
	"graft/simulation/treetest"
	"graft/trainer/clock"
)

// publishedTrees returns the original's tables as trees, or none if they are not available.
func publishedTrees(t testing.TB) []*simulation.Tree {
	profile, err := clock.FindProfile("v100-original")
	require.NoError(t, err)
	var trees []*simulation.Tree
	for _, path := range published(t) {
		job, err := os.ReadFile(filepath.Join(filepath.Dir(path), "config.toml"))
		require.NoError(t, err)
		network := regexp.MustCompile(`model = "(\w+)"`).FindSubmatch(job)
		f, err := os.Open(path)
		require.NoError(t, err)
		s := tables.Scenario{Name: filepath.Base(filepath.Dir(path)), Network: string(network[1]),
			Actions: treetest.FourActions}
		table, err := original.ReadTable(f, s, 42)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		tree, err := simulation.NewTree(table,
			simulation.TreeOptions{Surgery: net2net.Options{Compat: net2net.Original}, Profile: profile})
		require.NoError(t, err)
		trees = append(trees, tree)
	}
	return trees
}

// One policy learns all of the original's tables from scratch: its regret is small, and no table ranks in the lower
// half with any seed.
func TestOnePolicyForThePublishedTables(t *testing.T) {
	trees := publishedTrees(t)
	if len(trees) == 0 {
		return
	}
	seeds := []uint64{1, 2, 3, 4}
	began := time.Now()
	policies, err := learning.Learn(context.Background(), trees, nil, learning.NewOptions(), seeds, 2)
	took := time.Since(began).Seconds()
	require.NoError(t, err)
	var all [][]evaluation.Score
	for _, p := range policies {
		verdicts, err := evaluation.Evaluate(trees, evaluation.Structural("policy", p))
		require.NoError(t, err)
		all = append(all, verdicts)
	}
	s := evaluation.Summarize("policy", all)
	t.Logf("measured: one policy for %d tables, %d seeds, two at once, in %.1f s: mean regret %.3f points [%.3f, "+
		"%.3f], rank in the first five %.0f%%", len(trees), len(seeds), took, s.Regret.Mean, *s.Regret.Low,
		*s.Regret.High, 100*s.TopFive)
	require.LessOrEqual(t, *s.Regret.High, 0.5)
	require.Zero(t, s.LowHalf)
	require.GreaterOrEqual(t, s.TopFive, 0.95)
}
