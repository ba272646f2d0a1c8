package networks

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/fabric"
	"graft/model"
	"graft/trainer/clock"
)

// A ring on one node has the profile's step times. Over several nodes, an exchange takes as long as the slower of the
// profile's exchange and the links.
func TestStepTimesOfARing(t *testing.T) {
	n, err := model.Zoo("ResNet18", model.ZooOptions{})
	require.NoError(t, err)
	profile, err := clock.FindProfile("h100:tf32")
	require.NoError(t, err)
	tree := &fabric.Tree{Racks: 1, Servers: 4, Bandwidth: 1e9, Uplink: 4e9, Latency: 1e-5}
	ring, err := Ring(n, RingOptions{Batch: 4096, Profile: profile, Tree: tree, PerNode: 8, Devices: 12})
	require.NoError(t, err)
	require.Equal(t, []int{8, 4}, ring.Asked)
	cost := func(devices int) float64 {
		return profile.Cost(clock.Work{Kind: clock.Steps, Rows: 4096, Network: n, Devices: devices}).Seconds()
	}
	step := func(placement ...int) (float64, float64) {
		s, err := ring.Step(placement)
		require.NoError(t, err)
		return s.Time, s.Exchange
	}
	one, none := step(1)
	require.Equal(t, cost(1), one)
	require.Zero(t, none)
	inside, exchange := step(8)
	require.Equal(t, cost(8), inside)
	require.Less(t, inside, one)
	spread, between := step(4, 4)
	require.InEpsilon(t, inside-exchange+between, spread, 1e-9, "the same shares of the batch")
	bytes := 4 * float64(n.Parameters())
	require.Greater(t, between, 2*7./8*bytes/1e9, "the gradients pass each link")
	require.Less(t, between, 1.1*2*7./8*bytes/1e9+float64(len(clock.Messages(n)))*2e-5)
	again, _ := step(4, 4)
	require.Equal(t, spread, again)
	wider, _ := step(2, 2, 2, 2)
	require.Greater(t, wider, spread, "more nodes, more latency")

	tree.Bandwidth = 1e15
	fast, err := Ring(n, RingOptions{Batch: 4096, Profile: profile, Tree: tree, PerNode: 8, Devices: 12})
	require.NoError(t, err)
	exchanged, err := fast.Step([]int{8, 8})
	require.NoError(t, err)
	w := clock.Work{Kind: clock.Steps, Rows: 4096, Network: n, Devices: 16}
	require.Equal(t, profile.ExchangeSeconds(w), exchanged.Exchange, "the profile's own network is slower")

	require.Less(t, exchanged.Transfer, exchanged.Exchange)

	empty := &clock.Profile{Name: "own"}
	for want, o := range map[string]RingOptions{
		"batch is 0":                        {Profile: profile, Tree: tree, PerNode: 8, Devices: 1},
		"requests 0 devices on nodes of 8":  {Batch: 1, Profile: profile, Tree: tree, PerNode: 8},
		"step times of ResNet: profile own": {Batch: 1, Profile: empty, Tree: tree, PerNode: 1, Devices: 1},
	} {
		_, err := Ring(n, o)
		require.ErrorContains(t, err, want)
	}
}
