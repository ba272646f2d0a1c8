package learn

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// drawnGraphs returns two small graphs. No edge reaches the first node of either.
func drawnGraphs(random *rand.Rand) (all []Graph) {
	features := func(n int) (list []float64) {
		for range n {
			list = append(list, random.NormFloat64())
		}
		return list
	}
	for _, edges := range [][][2]int{{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 2}}, {{0, 1}, {1, 2}}} {
		g := Graph{Edges: edges}
		for range 4 {
			g.Nodes = append(g.Nodes, features(5))
		}
		for range edges {
			g.Ties = append(g.Ties, features(2))
		}
		all = append(all, g)
	}
	return all
}

func drawnGraphNet(t *testing.T, zero bool) (*GraphNet, []Observation) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	m, err := NewGraphNet(GraphOptions{Graphs: drawnGraphs(random), Globals: 3, Actions: 4, Message: 6, Hidden: 5,
		Out: 3, GlobalOut: 2, Head: 7, ZeroSources: zero, Rate: 3e-3}, random)
	require.NoError(t, err)
	for _, param := range m.Params() { // away from the kinks of ReLU at zero
		for k := range param {
			param[k] += 0.1 * random.NormFloat64()
		}
	}
	var states []Observation
	for k := range 5 {
		states = append(states, Observation{Values: []float64{float64(k % 2), random.NormFloat64(),
			random.NormFloat64(), random.NormFloat64()}})
	}
	return m, states
}

// Gradients equal finite differences, and single states have the same scores as in a batch.
func TestGradientsOfGraphs(t *testing.T) {
	for _, zero := range []bool{false, true} {
		m, states := drawnGraphNet(t, zero)
		random := rand.New(rand.NewPCG(3, 4))
		slopes, ofValues := make([][]float64, len(states)), make([]float64, len(states))
		for k := range states {
			for range 4 {
				slopes[k] = append(slopes[k], random.NormFloat64())
			}
			ofValues[k] = random.NormFloat64()
		}
		value := func() (sum float64) {
			*m.changes++
			logits, values := m.Forward(states)
			for k := range states {
				for at, v := range logits[k] {
					sum += v * slopes[k][at]
				}
				sum += values[k] * ofValues[k]
			}
			return sum
		}
		value()
		got := m.gradients(slopes, ofValues)
		require.Len(t, got, len(m.Params()))
		const h = 1e-6
		for k, param := range m.Params() {
			for at, was := range param {
				param[at] = was + h
				above := value()
				param[at] = was - h
				below := value()
				param[at] = was
				require.InDelta(t, (above-below)/(2*h), got[k][at], 1e-6, "parameter %d, value %d", k, at)
			}
		}
		value()
		logits, values := m.Forward(states)
		want, ofValue := append([]float64(nil), logits[3]...), values[3]
		one, v := m.Twin().Score(states[3])
		require.InDeltaSlice(t, want, one, 1e-12)
		require.InDelta(t, ofValue, v, 1e-12)
	}
}

// An agent that reads graphs learns by PPO to distinguish two graphs.
func TestGraphsAreTold(t *testing.T) {
	m, _ := drawnGraphNet(t, false)
	random := rand.New(rand.NewPCG(5, 6))
	right := func(o Observation) int { return 1 + int(o.Values[0]) }
	for range 60 {
		var steps []Step
		for range 64 {
			s := Step{Observation: Observation{Values: []float64{float64(random.IntN(2)), 1, 2, 3}}}
			logits, value := m.Score(s.Observation)
			log := LogProbabilities(logits, nil)
			s.Action, s.Value = Sample(log, random), value
			s.Log, s.Outcome = log[s.Action], Outcome{Done: true}
			if s.Action == right(s.Observation) {
				s.Outcome.Reward = 1
			}
			steps = append(steps, s)
		}
		_, err := UpdatePPO(m, steps, PPOOptions{Epochs: 4, Batch: 32}, random)
		require.NoError(t, err)
	}
	for graph := range 2 {
		o := Observation{Values: []float64{float64(graph), 1, 2, 3}}
		logits, _ := m.Score(o)
		require.Equal(t, right(o), Likeliest(logits))
	}
}

func TestGraphsThatAreRefused(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for says, spoil := range map[string]func(o *GraphOptions){
		"no graphs":                  func(o *GraphOptions) { o.Graphs = nil },
		"must be even":               func(o *GraphOptions) { o.Message = 3 },
		"at least one":               func(o *GraphOptions) { o.Graphs[0].Ties = nil },
		"expected nodes from 0 to 3": func(o *GraphOptions) { o.Graphs[1].Edges[0][1] = 4 },
		"features, expec":            func(o *GraphOptions) { o.Graphs[1].Nodes[2] = nil },
		"0 inputs":                   func(o *GraphOptions) { o.Globals = 0 },
	} {
		o := GraphOptions{Graphs: drawnGraphs(random), Globals: 3, Actions: 4}
		spoil(&o)
		_, err := NewGraphNet(o, random)
		require.ErrorContains(t, err, says)
	}
}
