package dl2_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
	"graft/learn/dense"
	"graft/original/dl2"
)

// flat holds the values of a tensor of any rank in order.
type flat []float64

func (f *flat) UnmarshalJSON(text []byte) error {
	var one float64
	if json.Unmarshal(text, &one) == nil {
		*f = append(*f, one)
		return nil
	}
	var parts []flat
	err := json.Unmarshal(text, &parts)
	for _, p := range parts {
		*f = append(*f, p...)
	}
	return err
}

func plain(list []flat) (all [][]float64) {
	for _, v := range list {
		all = append(all, v)
	}
	return all
}

type supervised struct {
	Labels []int `json:"label_index"`
	Loss   float64
	Grads  []flat
}

var golden struct {
	Policy []flat     `json:"policy_params"`
	Value  []flat     `json:"value_params"`
	Input  flat       `json:"input"`
	Output flat       `json:"policy_output"`
	CE     supervised `json:"sl_ce"`
	MS     supervised `json:"sl_ms"`
	AD     supervised `json:"sl_ad"`
	Term   float64    `json:"entropy_term"`
	RL     struct {
		Stored     flat  `json:"masked_output"`
		Actions    []int `json:"action_index"`
		Advantages flat  `json:"advantage"`
		Loss       float64
		Entropy    float64
		Grads      []flat
		Weight     float64 `json:"entropy_weight"`
	} `json:"rl_policy"`
	Critic struct {
		Output  flat
		Targets flat `json:"td_target"`
		Loss    float64
		Grads   []flat
	} `json:"rl_value"`
	Adam struct{ Params []flat } `json:"adam_two_steps_rl_grads"`
}

// tolerance allows for float64 sums in another order.
const tolerance = 1e-11

func network(t *testing.T, outputs int, params []flat) *dense.Network {
	shape := dl2.ShapeOptions{WindowOptions: elastic.WindowOptions{Size: 4}, Layers: 2, Neurons: 16}
	n, err := dense.New(24, rand.New(rand.NewPCG(1, 1)), shape.Stack(6, 3, outputs == 1)...)
	require.NoError(t, err)
	require.NoError(t, n.SetParams(plain(params)))
	return n
}

func equal(t *testing.T, want []flat, got [][]float64, what string) {
	require.Len(t, got, len(want))
	for k := range want {
		require.InDeltaSlice(t, []float64(want[k]), got[k], tolerance, "%s of parameter %d", what, k)
	}
}

// Outputs, losses, gradients and two steps of Adam equal the published graphs' results.
func TestNetworksAndLosses(t *testing.T) {
	text, err := os.ReadFile("../../../shared/reference/dl2/golden/nn_golden.json")
	if err != nil {
		t.Skip("left out: the reference data of DL2 is not beside the repository")
	}
	require.NoError(t, json.Unmarshal(text, &golden))
	golden.AD.Labels = golden.MS.Labels
	policy := network(t, 13, golden.Policy)
	pass := policy.NewPass(5)
	p := dense.Softmax(pass.Forward(golden.Input), 13)
	require.InDeltaSlice(t, []float64(golden.Output), p, tolerance)
	require.InDelta(t, golden.Term, dl2.Entropy(p), tolerance)
	gradients := func(logits []float64) [][]float64 {
		all := policy.NewGradients()
		pass.Backward(logits, all)
		return all
	}
	for name, want := range map[string]supervised{"Cross_Entropy": golden.CE, "Mean_Square": golden.MS,
		"Absolute_Difference": golden.AD} {
		labels := make([]float64, len(p))
		for k, at := range want.Labels {
			if at >= 0 { // a negative label is a job outside the window
				labels[13*k+at] = 1
			}
		}
		loss, logits := dl2.SupervisedLosses[name](p, labels, 5)
		require.InDelta(t, want.Loss, loss, tolerance, name)
		equal(t, want.Grads, gradients(logits), name)
	}
	require.InDelta(t, golden.RL.Entropy, dl2.Entropy(golden.RL.Stored), tolerance)
	loss, logits := dl2.PolicyLoss(golden.RL.Stored, golden.RL.Actions, golden.RL.Advantages, golden.RL.Weight)
	require.InDelta(t, golden.RL.Loss, loss, tolerance)
	steps := gradients(logits)
	equal(t, golden.RL.Grads, steps, "policy gradient")

	value := network(t, 1, golden.Value)
	critic := value.NewPass(5)
	v := critic.Forward(golden.Input)
	require.InDeltaSlice(t, []float64(golden.Critic.Output), v, tolerance)
	loss, d := dl2.ValueLoss(v, golden.Critic.Targets)
	require.InDelta(t, golden.Critic.Loss, loss, tolerance)
	all := value.NewGradients()
	critic.Backward(d, all)
	equal(t, golden.Critic.Grads, all, "gradient of the value")

	adam := dense.Adam{Rate: 1e-4}
	for range 2 {
		require.NoError(t, adam.Step(policy.Params, steps))
	}
	equal(t, golden.Adam.Params, policy.Params, "value after two steps")
}
