package ramp_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/learn"
)

// The network of PAC-ML gives the original's logits, probabilities and values.
func TestPolicyGoldens(t *testing.T) {
	var sets []policyGolden
	recorded(t, "gnn.json", &sets)
	var observed []observedGolden
	recorded(t, "obs_rewards.json", &observed)
	for _, s := range sets {
		for _, o := range observed {
			if o.Name == s.Set {
				s.check(t, &o)
			}
		}
	}
}

type policyGolden struct {
	Set     string `json:"obs_set"`
	Actions int    `json:"num_actions"`
	Weights map[string]map[string]json.RawMessage
	Cases   []struct {
		Model  string
		Job    int       `json:"job_idx"`
		Nodes  []float64 `json:"mean_node_embedding"`
		Graph  []float64 `json:"graph_embedding"`
		Logits []float64
		Probs  []float64
		Value  float64
		Best   int `json:"argmax"`
	}
}

type observedGolden struct {
	Name   string
	Models map[string]struct {
		Nodes [][]float64 `json:"node_features"`
		Edges [][]float64 `json:"edge_features"`
		From  []int       `json:"edges_src"`
		To    []int       `json:"edges_dst"`
	} `json:"model_features"`
	Steps []struct {
		Job    int       `json:"job_idx"`
		Values []float64 `json:"graph_features"`
		Mask   []int     `json:"action_mask"`
	}
}

func (s *policyGolden) check(t *testing.T, o *observedGolden) {
	places := map[string]int{}
	options := learn.GraphOptions{Actions: s.Actions, Globals: 17 + s.Actions, ZeroSources: true}
	for name, m := range o.Models {
		g := learn.Graph{Nodes: m.Nodes, Ties: m.Edges}
		for k := range m.From {
			g.Edges = append(g.Edges, [2]int{m.From[k], m.To[k]})
		}
		places[name] = len(options.Graphs)
		options.Graphs = append(options.Graphs, g)
	}
	agent, err := learn.NewGraphNet(options, rand.New(rand.NewPCG(1, 1)))
	require.NoError(t, err)
	s.load(t, agent)
	require.NotEmpty(t, s.Cases)
	for _, c := range s.Cases {
		state := learn.Observation{Values: []float64{float64(places[c.Model])}}
		step := &o.Steps[c.Job]
		require.Equal(t, c.Job, step.Job)
		state.Values = append(state.Values, step.Values...)
		for _, allowed := range step.Mask {
			state.Mask = append(state.Mask, allowed == 1)
		}
		near(t, append(append([]float64(nil), c.Nodes...), c.Graph...), agent.Embedding(state))
		logits, value := agent.Score(state)
		require.InDelta(t, c.Value, value, 1e-5)
		log := learn.LogProbabilities(logits, state.Mask)
		require.Equal(t, c.Best, learn.Likeliest(log))
		for k, v := range c.Logits {
			if state.Mask[k] {
				require.InDelta(t, v, logits[k], 1e-5)
			}
			require.InDelta(t, c.Probs[k], math.Exp(log[k]), 1e-5)
		}
	}
}

func near(t *testing.T, want, got []float64) {
	t.Helper()
	require.Len(t, got, len(want))
	for k := range want {
		require.InDelta(t, want[k], got[k], 1e-5)
	}
}

// load sets the parameters; the original's matrices have a row for each output.
func (s *policyGolden) load(t *testing.T, agent *learn.GraphNet) {
	params, at := agent.Params(), 0
	next := func(net, name string) {
		var list []float64
		var rows [][]float64
		text := s.Weights[net][name]
		require.NotEmpty(t, text, "%s %s", net, name)
		if json.Unmarshal(text, &list) != nil {
			require.NoError(t, json.Unmarshal(text, &rows))
			list = nil
			for i := range rows[0] {
				for k := range rows {
					list = append(list, rows[k][i])
				}
			}
		}
		require.Len(t, params[at], len(list), "%s %s", net, name)
		copy(params[at], list)
		at++
	}
	both := func(net, name string) {
		next(net, name+"weight")
		next(net, name+"bias")
	}
	for round := range 2 {
		for _, module := range []string{"node_module", "edge_module", "reduce_module"} {
			for layer := range 2 {
				both("gnn", fmt.Sprintf("layers.%d.%s.%d.", round, module, layer))
			}
		}
	}
	both("graph_module", "0.")
	both("graph_module", "1.")
	for _, head := range []string{"logit", "value"} {
		both(head+"_trunk", "0.")
		both(head+"_out", "")
	}
	require.Equal(t, len(params), at)
}
