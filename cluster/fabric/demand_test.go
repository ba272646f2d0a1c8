package fabric_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/fabric"
	"graft/cluster/fabric/graph"
)

// oneModel returns a study of a network with one operation of 3 ms.
func oneModel() *fabric.Study {
	p := &graph.Profile{Model: "one",
		Nodes: []graph.Node{{ID: 1, Forward: 1, Backward: 2, Activation: 1e6, Parameters: 1e6}}}
	s := &fabric.Study{Network: ramp(), Models: []fabric.Model{fabric.NewModel(p.Mirror(graph.MirrorOptions{}))}}
	s.Options.EnsureDefaults()
	return s
}

// Jobs arrive at the rate of the load, and equal seeds give equal jobs.
func TestDemandHasItsLoad(t *testing.T) {
	for _, gaps := range []fabric.Gaps{fabric.Exponential, fabric.Regular} {
		s := oneModel()
		d := fabric.Demand{Jobs: 20_000, Load: 0.5, Gaps: gaps, Swing: 0.5}
		require.NoError(t, d.Draw(s, rand.New(rand.NewPCG(1, 2))))
		require.NoError(t, s.Validate())
		require.InEpsilon(t, 50*3e-3/(0.5*32)*20_000/0.866, s.Jobs[len(s.Jobs)-1].Arrival, 0.03,
			"the mean of 1/(1+sin/2) is 1/0.866")
		again := oneModel()
		require.NoError(t, d.Draw(again, rand.New(rand.NewPCG(1, 2))))
		require.Equal(t, s.Jobs, again.Jobs)
	}
}

// Limits are valid, and skewed limits have the means of B, C and D in PAC-ML.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		limits fabric.Limits
		mean   float64
	}{
		{fabric.Limits{Kind: "fixed", Most: 0.3}, 0.3}, {fabric.Limits{}, 0.55},
		{fabric.Limits{Kind: "values", Values: []float64{0.2, 0.6}, Shares: []float64{3, 1}}, 0.3},
		{fabric.Limits{Kind: "skewed", Skewness: 5}, 0.285}, {fabric.Limits{Kind: "skewed"}, 0.467},
		{fabric.Limits{Kind: "skewed", Skewness: -5}, 0.727},
	} {
		s := oneModel()
		require.NoError(t, fabric.Demand{Jobs: 20_000, Limits: c.limits}.Draw(s, rand.New(rand.NewPCG(1, 2))))
		sum := 0.0
		for k := range s.Jobs {
			sum += s.Jobs[k].Limit
		}
		require.InDelta(t, c.mean, sum/20_000, 0.04, c.limits)
		require.NoError(t, s.Validate())
	}
}

func TestDemandsThatAreRefused(t *testing.T) {
	for says, d := range map[string]fabric.Demand{
		"jobs is -1":                          {Jobs: -1},
		"steps is -2":                         {Steps: -2},
		"load is -1":                          {Load: -1},
		"arrival_interval is -1":              {Every: -1},
		`arrivals is "odd"`:                   {Gaps: "odd"},
		"swing is 1":                          {Swing: 1},
		"weights has 2 values for 1 models":   {Weights: []float64{1, 1}},
		"weights is [0]":                      {Weights: []float64{0}},
		`limits is "normal"`:                  {Limits: fabric.Limits{Kind: "normal"}},
		"min_limit is 0.5 and max_limit is 2": {Limits: fabric.Limits{Least: 0.5, Most: 2}},
		"values is []":                        {Limits: fabric.Limits{Kind: "values"}},
		"shares is [1] for 2 values": {Limits: fabric.Limits{Kind: "values", Values: []float64{1, 1},
			Shares: []float64{1}}},
	} {
		require.ErrorContains(t, d.Draw(oneModel(), rand.New(rand.NewPCG(1, 1))), says)
	}
}

// With a load that swings, jobs arrive slowly for longer than they arrive fast, so that the mean load is lower.
func TestMeanOfASwingingLoad(t *testing.T) {
	for swing, want := range map[float64]float64{0: 1, 0.6: 0.8, 0.8: 0.6} {
		s, d := oneModel(), fabric.Demand{Jobs: 5001, Swing: swing, Every: 2, Gaps: fabric.Regular}
		require.NoError(t, d.Draw(s, rand.New(rand.NewPCG(1, 1))))
		d.EnsureDefaults()
		require.InDelta(t, want, d.Mean(), 1e-3)
		require.InDelta(t, 2/want, s.Jobs[5000].Arrival/5000, 1e-2)
	}
}
