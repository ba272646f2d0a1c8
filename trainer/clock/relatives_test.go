package clock

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/net2net"
)

// slowClass takes 2.5 times as long as the rates of the other networks predict.
const slowClass = "ConvNet2"

// withSlowClass returns a profile of the default networks with one slow class. keep selects the measured networks of
// the class.
func withSlowClass(t *testing.T, keep func(m Measurement) bool) *Profile {
	var measured []Measurement
	subjects, err := Subjects(model.Shape{3, 32, 32}, 10)
	require.NoError(t, err)
	for k, m := range measuredOn(t, truth, exact) {
		m.Fingerprint = net2net.Fingerprint(subjects[k/2].Network)
		if m.Network == slowClass {
			m.StepSeconds, m.BatchSeconds = 2.5*m.StepSeconds, 2.5*m.BatchSeconds
		}
		if m.Network != slowClass || keep(m) {
			measured = append(measured, m)
		}
	}
	p := &Profile{Version: 1, Name: "slow", Measured: measured}
	p.Refit()
	return p
}

// grownBy applies one more action to a network. It returns the result, and the ratio of its step time to the earlier
// one.
func grownBy(t *testing.T, p *Profile, n *model.Network, action string) (*model.Network, float64) {
	a, err := net2net.ParseAction(action)
	require.NoError(t, err)
	grown := n.Sketch()
	_, err = net2net.Apply(grown, a, net2net.Options{})
	require.NoError(t, err)
	cost := func(n *model.Network) time.Duration {
		return p.Cost(Work{Kind: Steps, Count: 1, Rows: 64, Network: n})
	}
	return grown, float64(cost(grown)) / float64(cost(n))
}

// The cost of a measured network that grows to an unmeasured one grows as the rates say. It does not jump from the
// measured to a fitted time.
func TestGrowthOfAMeasuredNetworkDoesNotJump(t *testing.T) {
	n, err := model.Zoo(slowClass, model.ZooOptions{Input: model.Shape{3, 32, 32}, Classes: 10})
	require.NoError(t, err)
	for name, keep := range map[string]func(Measurement) bool{
		"with the network alone":      func(m Measurement) bool { return len(m.Actions) == 0 },
		"with what it grows to":       func(Measurement) bool { return true },
		"with what it grows to alone": func(m Measurement) bool { return len(m.Actions) > 0 },
	} {
		p := withSlowClass(t, keep)
		at := n
		for _, action := range []string{"deepen:conv2", "widen:conv2.0.layers.0:40", "deepen:conv2.0"} {
			before, err := SizeOf(at)
			require.NoError(t, err)
			grown, got := grownBy(t, p, at, action)
			after, err := SizeOf(grown)
			require.NoError(t, err)
			want := truth.Step.seconds(after, 64) / truth.Step.seconds(before, 64)
			require.InEpsilon(t, want, got, 0.05, "%s, after %s", name, action)
			at = grown
		}
	}
}

// Networks that run as graphs have their own rates.
func TestGraphsAreFittedSeparately(t *testing.T) {
	measured := measuredOn(t, truth, exact)
	for _, m := range slices.Clone(measured) {
		m.Network, m.Fingerprint, m.Graph = "Imported"+m.Network, "graph "+m.Fingerprint, true
		m.StepSeconds, m.BatchSeconds = 3*m.StepSeconds, 2*m.BatchSeconds
		measured = append(measured, m)
	}
	costs, fit := fitCosts(measured)
	require.Equal(t, 60, fit.Networks)
	for k, name := range RateNames() {
		require.InEpsilon(t, truth.Step.List()[k], costs.Step.List()[k], 1e-3, name)
		require.InEpsilon(t, 3*truth.Step.List()[k], costs.GraphStep.List()[k], 1e-3, name)
		require.InEpsilon(t, 2*truth.Batch.List()[k], costs.GraphBatch.List()[k], 1e-3, name)
	}
	require.Less(t, fit.Step.Worst, 1e-3)
	few := slices.Concat(measured[:60], measured[60:60+2*(fewest-1)])
	costs, _ = fitCosts(few)
	require.Zero(t, costs.GraphStep, "too few graphs take the rates of trees")
	costs, _ = fitCosts(measured[60 : 60+2*fewest])
	require.Equal(t, costs.Step, costs.GraphStep, "without trees all take the rates of graphs")
}

// GrowthOf returns how well a profile predicts the networks that a network grows to.
func TestTheErrorOfGrowthIsKnown(t *testing.T) {
	n, err := model.Zoo(slowClass, model.ZooOptions{Input: model.Shape{3, 32, 32}, Classes: 10})
	require.NoError(t, err)
	all := withSlowClass(t, func(Measurement) bool { return true }).GrowthOf(n)
	require.True(t, all.Measured)
	require.Equal(t, 2, all.Relatives)
	require.Less(t, all.Worst(), 0.1)
	odd := withSlowClass(t, func(m Measurement) bool { return true })
	for k := range odd.Measured {
		if m := &odd.Measured[k]; m.Network == slowClass && len(m.Actions) > 0 && m.Actions[0].Kind == "widen" {
			m.StepSeconds *= 2
		}
	}
	require.Greater(t, odd.GrowthOf(n).Worst(), 0.4)
	none := withSlowClass(t, func(Measurement) bool { return false }).GrowthOf(n)
	require.Equal(t, Growth{}, none)
}

// A fit finds that a processor computes multiples of 16 channels, and charges the rounded channels.
func TestRoundedChannelsAreFound(t *testing.T) {
	measured := measuredOn(t, truth, exact)
	for k, m := range measured {
		size := m.Size.blocked(16)
		measured[k].StepSeconds, measured[k].BatchSeconds = truth.Step.seconds(size, m.Batch),
			truth.Batch.seconds(size, m.Batch)
	}
	costs, fit := fitCosts(measured)
	require.Equal(t, 16, costs.ChannelBlock)
	require.InEpsilon(t, truth.Step.OperationSeconds, costs.Step.OperationSeconds, 1e-3)
	require.Less(t, fit.Step.Worst, 1e-3)
	p := &Profile{Version: 1, Name: "rounded", Costs: costs}
	cost := func(channels int) time.Duration {
		layers := []model.Child{{Name: "0", Module: &model.Leaf{Layer: model.NewConv2d(16, channels, 3)}}}
		n := &model.Network{Input: model.Shape{16, 32, 32}, Root: &model.Container{Children: layers}}
		return p.Cost(Work{Kind: Steps, Count: 1, Rows: 64, Network: n})
	}
	require.Greater(t, cost(17)-cost(16), 5*(cost(18)-cost(17)), "one channel more than 16 costs a whole block")
}
