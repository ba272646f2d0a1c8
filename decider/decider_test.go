package decider_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/decider"
	"graft/model"
	"graft/net2net"
	"graft/torch"
)

func decide(t *testing.T, d decider.Decider, s decider.State) decider.Decision {
	t.Helper()
	if s.Network == nil {
		n, err := model.Zoo("ConvNet2", model.ZooOptions{})
		require.NoError(t, err)
		s.Network = n
	}
	decision, err := d.Decide(context.Background(), s)
	require.NoError(t, err)
	return decision
}

func TestPlainDeciders(t *testing.T) {
	deepen, widen := net2net.Action{Kind: "deepen", Target: "0"},
		net2net.Action{Kind: "widen", Target: "conv1", Size: 48}
	require.Equal(t, decider.Decision{}, decide(t, decider.None{}, decider.State{}))
	require.Equal(t, widen, decide(t, decider.Fixed{Action: widen}, decider.State{Decisions: 7}).Action)
	script := decider.Script{Actions: []net2net.Action{deepen, {}, widen}}
	for k, want := range []net2net.Action{deepen, {}, widen, {}, {}} {
		require.Equal(t, want, decide(t, script, decider.State{Decisions: k}).Action)
	}
}

// Random decisions depend only on the seed and the decision's number, fit the network, and are uniform over all
// actions.
func TestRandom(t *testing.T) {
	seen := map[string]int{}
	const draws = 400
	for k := range draws {
		d := decide(t, decider.Random{Seed: 1}, decider.State{Decisions: k})
		require.Equal(t, d, decide(t, decider.Random{Seed: 1}, decider.State{Decisions: k}))
		require.InDelta(t, 1, float64(len(d.Probabilities))*d.Probabilities[0], 1e-12)
		seen[d.Action.String()]++
	}
	require.Len(t, seen, 6, "three blocks to deepen, two spaces to widen, and nothing: %v", seen)
	for action, n := range seen {
		require.InDelta(t, draws/6, n, 30, action)
	}
	only := decide(t, decider.Random{Kinds: []net2net.Kind{}}, decider.State{})
	require.Equal(t, net2net.Action{}, only.Action)
}

// With Original, Random draws uniformly among the blocks of the initial network and none, also after they have grown.
func TestRandomAmongTheOriginalsBlocks(t *testing.T) {
	n, err := model.Zoo("ConvNet2", model.ZooOptions{})
	require.NoError(t, err)
	seen := map[string]int{}
	for k := range 60 {
		d := decide(t, decider.Random{Seed: 1, Original: true}, decider.State{Network: n, Decisions: k})
		require.Equal(t, []float64{0.25, 0.25, 0.25, 0.25}, d.Probabilities)
		seen[d.Action.String()]++
		if k < 6 {
			_, err := net2net.Apply(n, d.Action, net2net.Options{Compat: net2net.Original})
			require.NoError(t, err)
		}
	}
	require.Len(t, seen, 4, "three blocks, or none: %v", seen)
}

func TestRandomRefusesBrokenNetworks(t *testing.T) {
	n := &model.Network{Input: model.Shape{3, 4, 4}, Root: &model.Container{Children: []model.Child{{Name: "fc",
		Module: &model.Leaf{Layer: model.NewLinear(3, 3)}}}}}
	_, err := decider.Random{}.Decide(context.Background(), decider.State{Network: n})
	require.ErrorContains(t, err, "decide at random")
}

// Random draws uniformly among the listed actions that fit the network, with and without weights.
func TestRandomAmongListedActions(t *testing.T) {
	n, err := model.Zoo("ConvSmall", model.ZooOptions{})
	require.NoError(t, err)
	listed := []net2net.Action{{Kind: "deepen", Target: "conv1"}, {Kind: "deepen", Target: "nothing"}, {}}
	drawn := map[string]int{}
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		whole := n.Sketch()
		if err := whole.Materialize(s,
			model.Placement{Device: torch.CPU, Random: s.NewGenerator(torch.CPU, 1)}); err != nil {
			return err
		}
		for k := range 40 {
			d := decide(t, decider.Random{Seed: 1, Actions: listed}, decider.State{Network: n, Decisions: k})
			require.Equal(t, d, decide(t, decider.Random{Seed: 1, Actions: listed},
				decider.State{Network: whole, Decisions: k}))
			require.Equal(t, []float64{0.5, 0.5}, d.Probabilities)
			drawn[d.Action.String()]++
		}
		return nil
	}))
	require.Len(t, drawn, 2)
	require.InDelta(t, 20, drawn["none"], 10)
	none := decide(t, decider.Random{Actions: listed[1:2]}, decider.State{Network: n})
	require.Equal(t, net2net.Action{}, none.Action)
}

// An action whose trial diverged is never taken, not even if it is the first.
func TestTrialsThatDivergeAreNotTaken(t *testing.T) {
	losses := map[net2net.Kind]float64{"deepen": math.NaN(), "widen": 0.5, net2net.None: 1}
	actions := []net2net.Action{{Kind: "deepen", Target: "conv1"}, {Kind: "widen", Target: "conv1", Size: 32}, {}}
	try := func(a net2net.Action, _ int) (decider.Trial, error) {
		return decider.Trial{Action: a, Loss: losses[a.Kind]}, nil
	}
	n, err := model.Zoo("ConvSmall", model.ZooOptions{})
	require.NoError(t, err)
	rule := decider.Trials{Random: decider.Random{Actions: actions}}
	d, err := rule.Decide(t.Context(), decider.State{Network: n, Try: try})
	require.NoError(t, err)
	require.Equal(t, actions[1], d.Action)
	require.Len(t, d.Trials, 2)
	require.Equal(t, "the trials of these actions diverged: deepen:conv1", d.Why)
	losses = map[net2net.Kind]float64{"deepen": math.Inf(1), "widen": math.Inf(1), net2net.None: math.Inf(1)}
	d, err = rule.Decide(t.Context(), decider.State{Network: n, Try: try})
	require.NoError(t, err)
	require.Equal(t, net2net.Action{}, d.Action)
}
