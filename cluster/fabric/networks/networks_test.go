package networks

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/fabric/graph"
	"graft/model"
	"graft/trainer/clock"
)

// Each network of the zoo becomes a graph with the times, parameters and activations of the network.
func TestGraphsOfTheZoo(t *testing.T) {
	profile, err := clock.FindProfile("round-gpu")
	require.NoError(t, err)
	for _, entry := range model.ZooEntries() {
		if entry.IsGraph() {
			continue
		}
		n, err := model.Zoo(entry.Name, model.ZooOptions{})
		require.NoError(t, err)
		p, err := Profile(n, Options{Batch: 32, Profile: profile})
		require.NoError(t, err, entry.Name)
		var sum graph.Node
		for _, node := range p.Nodes {
			require.GreaterOrEqual(t, node.Backward, 0.0)
			sum.Forward += node.Forward
			sum.Backward += node.Backward
			sum.Parameters += node.Parameters
		}
		work := clock.Work{Kind: clock.Steps, Count: 1, Rows: 32, Network: n}
		require.InEpsilon(t, profile.Cost(work).Seconds(), (sum.Forward+sum.Backward)/1000, 1e-6, entry.Name)
		work.Kind = clock.Batches
		require.InEpsilon(t, profile.Cost(work).Seconds(), sum.Forward/1000, 1e-6, entry.Name)
		require.Equal(t, 4*float64(n.Parameters()), sum.Parameters, entry.Name)
		last := p.Nodes[len(p.Nodes)-1]
		out, err := n.Output()
		require.NoError(t, err)
		require.Equal(t, 4*32*float64(out.Count()), last.Activation, entry.Name)
		require.Len(t, graph.Order(len(p.Nodes), p.Edges), len(p.Nodes))
		ends := map[int]bool{}
		for _, e := range p.Edges {
			ends[e[0]] = true
		}
		require.Len(t, ends, len(p.Nodes)-1, "%s: only the output is used by none", entry.Name)
	}
}

// A residual block joins two paths, and its sum uses both.
func TestResidualsJoin(t *testing.T) {
	profile, err := clock.FindProfile("round-gpu")
	require.NoError(t, err)
	n, err := model.Zoo("ResNet18", model.ZooOptions{})
	require.NoError(t, err)
	p, err := Profile(n, Options{Profile: profile})
	require.NoError(t, err)
	into := map[int]int{}
	for _, e := range p.Edges {
		into[e[1]]++
	}
	sums := 0
	for k, node := range p.Nodes {
		if node.Kind == "Add" {
			sums++
			require.Equal(t, 2, into[k])
		}
	}
	require.Equal(t, 8, sums)
}

func TestWhatIsRefused(t *testing.T) {
	n, err := model.Zoo("ConvNet", model.ZooOptions{})
	require.NoError(t, err)
	profile, err := clock.FindProfile("round-gpu")
	require.NoError(t, err)
	_, err = Profile(n, Options{Batch: -1, Profile: profile})
	require.ErrorContains(t, err, "batch is -1")
	_, err = Profile(n, Options{Profile: &clock.Profile{Name: "mine"}})
	require.ErrorContains(t, err, "no cost rates")
}
