package simulation_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/decider"
	"graft/model"
	"graft/net2net"
	"graft/simulation"
	"graft/simulation/tables"
	"graft/simulation/treetest"
	"graft/trainer/clock"
)

// A tree has a node for every prefix of a sequence, with the network that it leads to, and records at its ends.
func TestTreesFollowTheirTables(t *testing.T) {
	tree := treetest.RandomTrees(t, 1)[0]
	require.Len(t, tree.Nodes, 4)
	seen := map[int]bool{}
	for at, n := range tree.Nodes {
		require.Equal(t, len(n.Prefix) == 1, n.Last)
		require.Equal(t, len(n.Prefix), n.Decisions)
		require.Equal(t, 100*time.Second, n.Budget)
		require.Equal(t, time.Duration(90-20*len(n.Prefix))*time.Second, n.Left)
		require.Len(t, n.Choices, 3)
		for k, next := range n.Next {
			if n.Last {
				require.Equal(t, append(append([]string{}, n.Prefix...), tree.Actions[k]), tree.Records[next].Sequence)
				seen[next] = true
				continue
			}
			require.Greater(t, next, at)
			require.Equal(t, []string{tree.Actions[k]}, tree.Nodes[next].Prefix)
			added := n.Choices[k].Parameters
			require.Equal(t, n.Parameters+added, tree.Nodes[next].Parameters, "what was said to be added is there")
			require.Equal(t, added > 0, tree.Nodes[next].Step > n.Step, "a larger network is slower")
		}
	}
	require.Len(t, seen, 9)
	require.Same(t, tree.Nodes[0].Observation, tree.Nodes[3].Observation, "doing nothing leads to the same network")
}

// Actions that depend on the network may differ between nodes.
func TestTreesOfUnevenTables(t *testing.T) {
	n, err := model.Zoo("ConvSmall", model.ZooOptions{})
	require.NoError(t, err)
	proposals, err := net2net.Proposals(n)
	require.NoError(t, err)
	widen := proposals[slices.IndexFunc(proposals, func(a net2net.Action) bool { return a.Kind == "widen" })].String()
	record := func(a, b string) tables.Record {
		return tables.Record{Sequence: []string{a, b}, Left: []float64{9, 8}, Accuracy: []float64{0.5},
			Seeds: []int64{1}}
	}
	s := tables.Scenario{Name: "uneven", Network: "ConvSmall", Budget: 10, Decisions: 2}
	table, err := tables.New(s, []tables.Record{record(widen, tables.None), record(tables.None, tables.None),
		record(tables.None, "deepen:1"), record(tables.None, "branch:1")})
	require.NoError(t, err)
	tree, err := simulation.NewTree(table, simulation.TreeOptions{Network: n})
	require.NoError(t, err)
	require.Len(t, tree.Nodes, 3)
	require.Equal(t, []int{1, 2}, tree.Nodes[0].Next)
	require.Len(t, tree.Nodes[1].Next, 1)
	require.Len(t, tree.Nodes[2].Next, 3)
	require.Equal(t, []net2net.Kind{"branch", "deepen", "widen"}, simulation.OfferedKinds([]*simulation.Tree{tree}))
	require.Zero(t, tree.Nodes[0].Step, "without a profile it is not known")
}

// Values in a table take precedence over the options of its tree.
func TestATreeOfATableThatKnows(t *testing.T) {
	n, err := model.Zoo("ConvSmall", model.ZooOptions{Classes: 3})
	require.NoError(t, err)
	form, err := json.Marshal(n.Form().Plain())
	require.NoError(t, err)
	s := tables.Scenario{Name: "knows", Network: "no name of the zoo", Budget: 10, Decisions: 1,
		Actions: []string{"deepen:0", "none"}, Origin: &tables.Origin{Form: form, Deepen: net2net.Residual}}
	record := func(action string, before ...float64) tables.Record {
		return tables.Record{Sequence: []string{action}, Left: []float64{9}, Step: []float64{0.25}, Before: before,
			Loss: []float64{4 * before[0]}, Fall: before, Gap: before, LastStep: before[0], Accuracy: []float64{0.5},
			Seeds: []int64{1}}
	}
	table, err := tables.New(s, []tables.Record{record("deepen:0", 0.25), record("none", 0.75)})
	require.NoError(t, err)
	tree, err := simulation.NewTree(table, simulation.TreeOptions{Profile: &clock.Profile{}})
	require.NoError(t, err)
	root := tree.Nodes[0]
	require.Equal(t, 250*time.Millisecond, root.Step)
	require.Equal(t, 0.5, root.Accuracy)
	require.Equal(t, decider.Curve{Loss: 2, Fall: 0.5, Gap: 0.5}, root.Curve, "the mean of the records")
	require.Equal(t, []time.Duration{250 * time.Millisecond, 750 * time.Millisecond}, root.After)
	out, err := root.Network.Output()
	require.NoError(t, err)
	require.Equal(t, 3, out[0])
	digest := func(o tables.Origin) string { // of the origin's values, not its address
		table.Origin = &o
		tree, err := simulation.NewTree(table, simulation.TreeOptions{})
		require.NoError(t, err)
		return tree.Digest()
	}
	require.Equal(t, digest(tables.Origin{Form: form, Batch: 64}),
		digest(tables.Origin{Form: slices.Clone(form), Batch: 64}))
	require.NotEqual(t, digest(tables.Origin{Form: form, Batch: 64}), digest(tables.Origin{Form: form, Batch: 32}))
	s.Origin = &tables.Origin{Form: []byte(`{"layers": 3}`)}
	table.Scenario = s
	_, err = simulation.NewTree(table, simulation.TreeOptions{})
	require.ErrorContains(t, err, "table knows: ")
}

func TestTablesThatAreNoTrees(t *testing.T) {
	s := tables.Scenario{Name: "bad", Network: "ConvSmall", Budget: 10, Decisions: 1, Actions: []string{"deepen:99"}}
	record := tables.Record{Sequence: []string{"deepen:99"}, Left: []float64{9}, Accuracy: []float64{0.5},
		Seeds: []int64{1}}
	table, err := tables.New(s, []tables.Record{record})
	require.NoError(t, err)
	_, err = simulation.NewTree(table, simulation.TreeOptions{})
	require.ErrorContains(t, err, "table bad: after the action sequence (): deepen:99 on ConvSmall: block")
	_, err = simulation.NewTree(table, simulation.TreeOptions{Batch: -1})
	require.ErrorContains(t, err, "batch is -1")
	table.Network = "Nothing"
	_, err = simulation.NewTree(table, simulation.TreeOptions{Profile: &clock.Profile{}})
	require.ErrorContains(t, err, "unknown network")
	empty, err := tables.New(tables.Scenario{Name: "empty"}, nil)
	require.NoError(t, err)
	_, err = simulation.NewTree(empty, simulation.TreeOptions{})
	require.ErrorContains(t, err, "the table has no decisions")
}
