package simulation_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/simulation"
	"graft/simulation/tables"
)

// A tree's digest is of what its table says, whoever read it and when.
func TestDigestsOfTreesAreOfWhatTheySay(t *testing.T) {
	n, err := model.Zoo("ConvSmall", model.ZooOptions{})
	require.NoError(t, err)
	form, err := json.Marshal(n.Form().Plain())
	require.NoError(t, err)
	digest := func(batch int) string {
		table, err := tables.New(tables.Scenario{Name: "a", Network: "ConvSmall", Budget: 10, Decisions: 1, Actions: []string{"deepen:conv1", "none"},
			Origin: &tables.Origin{Form: append(json.RawMessage{}, form...), Batch: batch}}, []tables.Record{
			{Sequence: []string{"deepen:conv1"}, Left: []float64{5}, Accuracy: []float64{0.5}, Seeds: []int64{1}},
			{Sequence: []string{"none"}, Left: []float64{5}, Accuracy: []float64{0.25}, Seeds: []int64{1}}})
		require.NoError(t, err)
		tree, err := simulation.NewTree(table, simulation.TreeOptions{})
		require.NoError(t, err)
		return tree.Digest()
	}
	require.Equal(t, digest(64), digest(64))
	require.NotEqual(t, digest(64), digest(32))
}
