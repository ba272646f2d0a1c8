package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/simulation/tables"
)

// A table of the original system and its conversion are the same tree, except for two facts that only the original's
// folder has: how it grows networks, and its clock.
func TestReadTree(t *testing.T) {
	folder := "../../shared/reference/adaptation/simulations/simulation_early2"
	if _, err := os.Stat(folder); err != nil {
		t.Skip("left out: the original's tables are not here")
	}
	legacy := must(ReadTree(files.OS{}, folder))
	require.Len(t, legacy.Nodes, 1+4+16)
	require.Positive(t, legacy.Nodes[0].Step)

	own := filepath.Join(t.TempDir(), "table")
	require.NoError(t, tables.Create(files.OS{}, own, legacy.Scenario, tables.CreateOptions{}))
	w := must(tables.Open(files.OS{}, own, tables.WriterOptions{Lazy: true}))
	for _, r := range legacy.Records {
		require.NoError(t, w.Append(tables.Cause{Sequence: r.Sequence, Seeds: r.Seeds}.Key(), r))
	}
	require.NoError(t, w.Close())
	tree := must(ReadTree(files.OS{}, own))
	require.Equal(t, legacy.Records, tree.Records)
	require.Zero(t, tree.Nodes[0].Step)
	for k := range tree.Nodes {
		require.Equal(t, legacy.Nodes[k].Left, tree.Nodes[k].Left)
		require.Equal(t, legacy.Nodes[k].Next, tree.Nodes[k].Next)
	}
	_, err := ReadTree(files.OS{}, t.TempDir())
	require.ErrorIs(t, err, tables.ErrNoTable)
}
