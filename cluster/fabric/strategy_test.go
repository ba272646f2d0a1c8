package fabric_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/cluster/fabric"
	"graft/cluster/fabric/graph"
)

// drawProfile draws a network in which each operation uses some earlier ones.
func drawProfile(t *rapid.T) *graph.Profile {
	n := rapid.IntRange(1, 12).Draw(t, "operations")
	p := &graph.Profile{Model: "drawn"}
	for k := range n {
		p.Nodes = append(p.Nodes, graph.Node{
			ID: k + 1, Forward: drawTime(t, 20, "forward"), Backward: drawTime(t, 40, "backward"),
			Activation: math.Round(rapid.Float64Range(0, 1e8).Draw(t, "activation")),
			Parameters: math.Round(rapid.Float64Range(0, 1e8).Draw(t, "parameters")),
		})
		for from := range k {
			if from == k-1 || rapid.IntRange(0, 3).Draw(t, "edge") == 0 {
				p.Edges = append(p.Edges, [2]int{from, k})
			}
		}
	}
	return p
}

func ramp() *fabric.Ramp {
	return &fabric.Ramp{Groups: 4, Racks: 4, Servers: 2, Channels: 1, Bandwidth: 1.6e12, Latency: 50e-9, IO: 100e-9}
}

// drawTime draws a time in ms, in whole ns. A step of seconds rounds operations below 1e-16 s away. The order of ready
// operations would then depend on a simulator's summation.
func drawTime(t *rapid.T, limit float64, name string) float64 {
	return math.Round(rapid.Float64Range(0, limit).Draw(t, name)*1e6) / 1e6
}

// drawStudy draws a study with one job and a random strategy.
func drawStudy(t *rapid.T) *fabric.Study {
	s := &fabric.Study{Network: ramp(),
		Models: []fabric.Model{fabric.NewModel(drawProfile(t).Mirror(graph.MirrorOptions{}))}}
	s.Jobs = []fabric.Job{{Limit: 1, Steps: 1}}
	s.Options.Strategy = rapid.SampledFrom(fabric.Strategies()).Draw(t, "strategy")
	s.Options.Quantum = rapid.Float64Range(0.01, 5).Draw(t, "quantum")
	s.Options.EnsureDefaults()
	s.Prepare()
	return s
}

// A step conserves work: its parts take as long as the whole, no server computes longer than the step, and its spans
// sum to its time.
func TestStepsConserveWork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStudy(t)
		degree := rapid.SampledFrom([]int{1, 2, 4, 6, 8, 16}).Draw(t, "degree")
		parted := s.Parted(0, degree)
		whole := s.Models[0].Details.Compute
		require.InDelta(t, whole, parted.Details.Compute, 1e-9*max(whole, 1))
		placed, err := fabric.Place(&fabric.Site{Network: s.Network, Memory: s.Options.Memory,
			Free: func(int) bool { return true }}, parted)
		require.NoError(t, err)
		timing := s.Timing()
		busy, last := map[int]float64{}, map[int]float64{}
		timing.Watch.Op = func(op int, from, to float64) {
			server := placed.Server[op]
			require.GreaterOrEqual(t, from, last[server]-1e-12, "two operations on server %d", server)
			busy[server] += to - from
			last[server] = to
		}
		step, err := timing.Run(placed)
		require.NoError(t, err)
		sum, computed := 0.0, 0.0
		for _, tick := range step.Ticks {
			sum += tick.Length
			computed += tick.Length * float64(tick.Computing)
		}
		require.Equal(t, step.Time, sum)
		require.InDelta(t, whole*timing.Unit, computed, 1e-9*max(1, whole))
		require.GreaterOrEqual(t, step.Time*(1+1e-9)*float64(len(placed.Servers)), whole*timing.Unit)
		for server, time := range busy {
			require.LessOrEqual(t, time, step.Time*(1+1e-9), fmt.Sprint("server ", server))
		}
		require.InDelta(t, step.Time-max(step.Compute, step.Transfer), 0, min(step.Compute, step.Transfer)+1e-12)
	})
}

// In one part, a step takes the sum of its operations and does not use the network.
func TestAWholeStepTakesItsSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStudy(t)
		placed, err := fabric.Place(&fabric.Site{Network: s.Network, Memory: s.Options.Memory,
			Free: func(int) bool { return true }}, s.Parted(0, 1))
		require.NoError(t, err)
		timing := s.Timing()
		step, err := timing.Run(placed)
		require.NoError(t, err)
		require.InDelta(t, s.Models[0].Details.Compute*timing.Unit, step.Time, 1e-9)
		require.Zero(t, step.Transfer)
		require.Len(t, placed.Servers, 1)
	})
}
