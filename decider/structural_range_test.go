package decider_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/decider"
	"graft/net2net"
)

// Outside of its training range, a policy lets the fallback decide and names the inputs.
func TestPoliciesOutsideTheirRange(t *testing.T) {
	p := forest(t) // trained on ConvSmall, at the beginning and the end of the budget
	p.Fallback = decider.Fixed{Action: net2net.Action{Kind: "widen", Target: "conv1", Size: 48}}
	decide := func(name string, left time.Duration) decider.Decision {
		d, err := p.Decide(context.Background(), decider.State{Network: zoo(t, name), Left: left,
			Budget: halfTime.Budget})
		require.NoError(t, err)
		return d
	}
	inside := decide("ConvSmall", halfTime.Budget)
	require.Equal(t, net2net.Kind("deepen"), inside.Action.Kind)
	require.Empty(t, inside.Why)

	// twice the budget is left, so the share is two instead of at most one
	outside := decide("ConvSmall", 2*halfTime.Budget)
	require.Equal(t, net2net.Kind("widen"), outside.Action.Kind)
	require.Contains(t, outside.Why, "not trained on such values of left")

	p.Fallback = nil
	require.Empty(t, decide("ConvSmall", 2*halfTime.Budget).Why, "without a fallback, the policy decides")
	p.Fallback, p.Rows.Low, p.Rows.High = decider.None{}, nil, nil
	require.Empty(t, decide("ConvSmall", 2*halfTime.Budget).Why, "an older file has no range")
}

// Inputs that are constant in training, and unknown values, are never outside the range. One choice inside the range is
// enough.
func TestInputsOutsideOfTheRange(t *testing.T) {
	seen, err := decider.ProposedObservation(zoo(t, "ConvSmall"), nil, net2net.Options{})
	require.NoError(t, err)
	at := func(left, step time.Duration) decider.Situation {
		state := decider.State{Left: left, Budget: 10 * time.Second, Step: step}
		return decider.Situation{Observation: seen, State: state}
	}
	training := []decider.Situation{at(2*time.Second, time.Millisecond), at(8*time.Second, 2*time.Millisecond)}
	p := &decider.Structural{Rows: decider.MeasureForestScale(training), Forest: make([]decider.RegressionTree, 1)}
	for _, s := range training {
		require.Empty(t, p.Outside(s))
	}
	require.Empty(t, p.Outside(at(10*time.Second, time.Millisecond)), "2.5 times as many steps")
	require.Equal(t, []string{"steps_left"}, p.Outside(at(10*time.Second, 200*time.Microsecond))[:1], "12 times")
	require.Equal(t, []string{"left"}, p.Outside(at(11*time.Second, 3*time.Millisecond))[:1])
	require.Contains(t, p.Outside(at(5*time.Second, time.Second)), "step_seconds")
	require.NotContains(t, p.Outside(at(5*time.Second, 0)), "slowdown", "unknown")

	large, err := decider.ProposedObservation(zoo(t, "LargeConvNet"), nil, net2net.Options{})
	require.NoError(t, err)
	other := at(5*time.Second, time.Millisecond)
	other.Observation = large
	require.NotContains(t, p.Outside(other), "parameters", "one network has no range to learn from")
}

// The share of a gain is relative to the largest gain of the decision, and so is the gain per cost.
func TestInputsOfGains(t *testing.T) {
	n := zoo(t, "ConvSmall")
	seen, err := decider.NewObservation(n, []net2net.Action{{Kind: "deepen", Target: "conv1"},
		{Kind: "widen", Target: "conv2", Size: 48}, {}}, net2net.Options{})
	require.NoError(t, err)
	s := decider.Situation{Observation: seen, State: halfTime, Gains: []float64{4, 1, 0}}
	rows := s.ForestRows(decider.Scale{})
	at := func(name string, row int) float64 { return float64(rows[row][inputIndex(t, name)]) }
	require.Equal(t, []float64{1, 0.25, 0}, []float64{at("gain_share", 0), at("gain_share", 1), at("gain_share", 2)})
	deepen, widen := 4/float64(seen.Choices[0].Operations), 1/float64(seen.Choices[1].Operations)
	require.InDelta(t, min(1, deepen/widen), at("gain_rate", 0), 1e-6)
	require.InDelta(t, min(1, widen/deepen), at("gain_rate", 1), 1e-6)
	require.InDelta(t, 1.386294, at("gain", 0), 1e-6)

	s.Gains = nil
	for _, row := range s.ForestRows(decider.Scale{}) {
		require.Zero(t, row[inputIndex(t, "gain_share")], "unknown gains count as the mean")
	}
}

func inputIndex(t *testing.T, name string) int {
	t.Helper()
	for k, input := range decider.InputNames() {
		if input == name {
			return k
		}
	}
	t.Fatal(name)
	return -1
}

// A policy asks for gains only if its training tables had gains, and never for the gain of "none".
func TestPoliciesThatReadGains(t *testing.T) {
	n := zoo(t, "ConvSmall")
	seen, err := decider.ProposedObservation(n, nil, net2net.Options{})
	require.NoError(t, err)
	gains := make([]float64, len(seen.Choices))
	for k := range gains[:len(gains)-1] {
		gains[k] = float64(k + 1)
	}
	policy := func(gains []float64) *decider.Structural {
		p := forest(t)
		p.Rows = decider.MeasureForestScale([]decider.Situation{{Observation: seen, State: halfTime, Gains: gains}})
		p.Learned = []net2net.Kind{"deepen", "widen"}
		return p
	}
	var asked []net2net.Action
	state := halfTime
	state.Network = n
	state.Gain = func(a net2net.Action) (float64, error) {
		asked = append(asked, a)
		return 1, nil
	}
	d, err := policy(gains).Decide(context.Background(), state)
	require.NoError(t, err)
	require.Len(t, asked, len(seen.Choices)-1)
	require.NotContains(t, asked, net2net.Action{})
	require.Len(t, d.Gains, len(asked))

	asked = nil
	_, err = policy(nil).Decide(context.Background(), state)
	require.NoError(t, err)
	require.Empty(t, asked)

	state.Gain = func(net2net.Action) (float64, error) { return 0, decider.ErrNoTime }
	d, err = policy(gains).Decide(context.Background(), state)
	require.NoError(t, err, "without time for gains, they are unknown")
	require.Empty(t, d.Gains)
}

// Every input of a group exists, and hiding a group hides its inputs.
func TestGroupsOfInputs(t *testing.T) {
	for _, g := range decider.InputGroups() {
		require.NotEmpty(t, g.Inputs)
		ones := make([]float64, len(decider.InputNames()))
		for k := range ones {
			ones[k] = 1
		}
		hidden := decider.Scale{Mean: ones, Deviation: ones}.Without([]string{g.Name})
		for _, name := range decider.InputNames() {
			want := 1.0
			if slices.Contains(g.Inputs, name) {
				want = 0
			}
			require.Equal(t, want, hidden.Deviation[inputIndex(t, name)], name)
		}
		for _, name := range g.Inputs {
			inputIndex(t, name)
		}
	}
}
