package fabric_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/cluster/fabric"
)

func tree() *fabric.Tree {
	return &fabric.Tree{Racks: 4, Servers: 8, Bandwidth: 12.5e9, Uplink: 50e9, Latency: 1e-6}
}

// placedOn draws a step and places it on a network.
func placedOn(t *rapid.T, network fabric.Network) (*fabric.Study, *fabric.Placed) {
	s := drawStudy(t)
	s.Network = network
	degree := rapid.SampledFrom([]int{2, 4, 8, 16}).Draw(t, "degree")
	used := rapid.SliceOfN(rapid.Bool(), network.Size(), network.Size()).Draw(t, "used")
	placed, err := fabric.Place(&fabric.Site{Network: network, Memory: s.Options.Memory,
		Free: func(server int) bool { return !used[server] }}, s.Parted(0, degree))
	if err != nil {
		t.Skip("too few servers are free")
	}
	return s, placed
}

// Rates are fair: no link exceeds its capacity, and each transfer has a full link on which no other is faster.
func TestRatesOfATreeAreFair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		network := tree()
		_, placed := placedOn(t, network)
		require.NoError(t, network.Load(placed))
		var ready []int
		for dep, work := range placed.Work {
			if work > 0 && rapid.Bool().Draw(t, "ready") {
				ready = append(ready, dep)
			}
		}
		rates := make([]float64, len(ready))
		network.Rates(placed, ready, rates)
		requireFair(t, network, placed, ready, rates)
	})
}

func requireFair(t *rapid.T, network *fabric.Tree, placed *fabric.Placed, ready []int, rates []float64) {
	load, fastest := map[string]float64{}, map[string]float64{}
	capacity := func(link string) float64 {
		if link[0] == 'r' {
			return network.Uplink
		}
		return network.Bandwidth
	}
	for k, dep := range ready {
		for _, link := range links(network, placed, dep) {
			load[link] += rates[k]
			fastest[link] = max(fastest[link], rates[k])
		}
	}
	for link, sum := range load {
		require.LessOrEqual(t, sum, capacity(link)*(1+1e-9), link)
	}
	for k, dep := range ready {
		limited := false
		for _, link := range links(network, placed, dep) {
			limited = limited || load[link] >= capacity(link)*(1-1e-9) && rates[k] >= fastest[link]*(1-1e-9)
		}
		require.True(t, limited, "transfer %d could go faster", dep)
	}
}

// links names the links of a transfer.
func links(network *fabric.Tree, placed *fabric.Placed, dep int) []string {
	d := &placed.Parted.Graph.Deps[dep]
	from, to := network.Name(placed.Server[d.From]), network.Name(placed.Server[d.To])
	list := []string{"s up " + from, "s down " + to}
	if a, b := placed.Server[d.From]/network.Servers, placed.Server[d.To]/network.Servers; a != b {
		list = append(list, "r up "+from[:1], "r down "+to[:1])
	}
	return list
}

// On a tree, steps end, and at every moment a server computes or a transfer runs.
func TestStepsOnATreeEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, placed := placedOn(t, tree())
		timing := s.Timing()
		step, err := timing.Run(placed)
		require.NoError(t, err)
		require.GreaterOrEqual(t, step.Time*(1+1e-9)*float64(len(placed.Servers)),
			s.Models[0].Details.Compute*timing.Unit)
		require.GreaterOrEqual(t, step.Compute+step.Transfer, step.Time*(1-1e-9))
	})
}
