package clock

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/model"
)

// truth is a device with known rates.
var truth = Costs{
	Step: Rates{CallSeconds: 4e-4, ExampleSeconds: 7e-6, LayerSeconds: 6e-5, OperationSeconds: 3e-11,
		GroupedSeconds: 1e-9, ByteSeconds: 4e-11, ParameterSeconds: 2e-9},
	Batch: Rates{CallSeconds: 1e-4, ExampleSeconds: 9e-6, LayerSeconds: 3e-5, OperationSeconds: 1e-11,
		GroupedSeconds: 1e-10, ByteSeconds: 2e-11, ParameterSeconds: 4e-10}}

// measuredOn returns times of the default networks on a device, each multiplied by a factor.
func measuredOn(t testing.TB, c Costs, factor func(k int) float64) (all []Measurement) {
	subjects, err := Subjects(model.Shape{3, 32, 32}, 10)
	require.NoError(t, err)
	for k, s := range subjects {
		size, err := SizeOf(s.Network)
		require.NoError(t, err)
		for _, batch := range []int{64, 128} {
			all = append(all, Measurement{Network: s.Name, Actions: s.Actions, Fingerprint: fmt.Sprint(k),
				Batch: batch, Size: size, StepSeconds: c.Step.seconds(size, batch) * factor(k),
				BatchSeconds: c.Batch.seconds(size, batch) * factor(k)})
		}
	}
	return all
}

func exact(int) float64 { return 1 }

// The default networks differ enough to find every rate. With exact times, a network that is left out is predicted.
func TestTheRatesOfADeviceAreFound(t *testing.T) {
	costs, fit := fitCosts(measuredOn(t, truth, exact))
	for k, name := range RateNames() {
		require.InEpsilon(t, truth.Step.List()[k], costs.Step.List()[k], 1e-3, name)
		require.InEpsilon(t, truth.Batch.List()[k], costs.Batch.List()[k], 1e-3, name)
	}
	require.Zero(t, costs.ChannelBlock)
	require.Equal(t, 30, fit.Networks)
	require.Less(t, fit.Step.Worst, 1e-3)
	require.Less(t, fit.Batch.Worst, 1e-3)
	require.Less(t, fit.NewStep.Median, 1e-3)
	require.Contains(t, fit.NewStep.Network, "MobileNetV2",
		"it alone has grouped convolutions, so that without it nothing is known of them")
}

// A network with a wrong measurement is named as the worst, with its error.
func TestTheWorstMissIsNamed(t *testing.T) {
	measured := measuredOn(t, truth, func(k int) float64 { return map[bool]float64{true: 1.5, false: 1}[k == 9] })
	_, fit := fitCosts(measured)
	require.Equal(t, measured[18].String(), fit.Step.Network)
	require.InDelta(t, 1.0/3, fit.Step.Worst, 0.01, "what is left out does not pull the fit towards itself")
	require.Less(t, fit.Step.Median, 0.05)
}

// With noise as on a shared machine, networks that are left out are predicted about as well as they are measured.
func TestNoiseIsNotLearned(t *testing.T) {
	noisy := func(k int) float64 { return 1 + 0.1*math.Sin(float64(7*k)) }
	_, fit := fitCosts(measuredOn(t, truth, noisy))
	require.Less(t, fit.Step.Median, 0.12)
	require.Less(t, fit.NewStep.Median, 0.15)
}

func TestTooFewNetworksGiveNoRates(t *testing.T) {
	measured := measuredOn(t, truth, exact)
	p := &Profile{Version: 1, Name: "few", Measured: measured[:2*(fewest-1)]}
	p.Refit()
	require.Zero(t, p.Costs)
	require.Zero(t, p.Fit)
	require.NoError(t, p.Validate(), "it knows what was measured")
	p.Measured = measured[:2*fewest]
	p.Refit()
	require.NotZero(t, p.Costs)
	for k := range measured {
		measured[k].Size = Size{}
	}
	p.Measured = measured
	p.Refit()
	require.Zero(t, p.Costs, "of networks without sizes nothing can be fitted")
}

// No rate is negative, whatever is measured. So more layers, operations, bytes, parameters or examples never take less
// time.
func TestMoreNeverTakesLess(t *testing.T) {
	all := measuredOn(t, truth, exact)
	rapid.Check(t, func(t *rapid.T) {
		measured := make([]Measurement, len(all))
		for k, m := range all {
			m.StepSeconds *= rapid.Float64Range(0.2, 5).Draw(t, "factor")
			measured[k] = m
		}
		r := fitRates(measured, stepTime)
		draw := func(label string) int64 { return rapid.Int64Range(0, 1<<30).Draw(t, label) }
		small := Size{Layers: int(draw("layers")), Operations: draw("operations"), Grouped: draw("grouped"),
			Bytes: draw("bytes"), Parameters: draw("parameters")}
		large := Size{small.Layers + int(draw("more")), small.Operations + draw("more"), small.Grouped + draw("more"),
			small.Bytes + draw("more"), small.Parameters + draw("more"), 0, 0}
		rows := rapid.IntRange(1, 4096).Draw(t, "rows")
		require.GreaterOrEqual(t, r.seconds(large, rows+1), r.seconds(small, rows))
		require.GreaterOrEqual(t, r.seconds(small, rows), 0.0)
	})
}

// The time of a measured network at another batch is on the line between two measured batches, or follows the rates
// from the nearest, without a jump.
func TestOtherBatchesOfAMeasuredNetwork(t *testing.T) {
	size := Size{Layers: 1}
	m := func(batch int, seconds float64) Measurement {
		return Measurement{Batch: batch, StepSeconds: seconds, Size: size}
	}
	two := []Measurement{m(128, 10), m(64, 6)} // in any order
	r := Rates{CallSeconds: 1, ExampleSeconds: 1.0 / 64}
	for rows, want := range map[int]float64{64: 6, 128: 10, 96: 8, 65: 6.0625, 32: 6 * 1.5 / 2, 256: 10 * 5.0 / 3} {
		got, known := between(two, rows, stepTime, r)
		require.True(t, known)
		require.InDelta(t, want, got, 1e-12, "a batch of %d", rows)
	}
	_, known := between(two, 96, stepTime, Rates{})
	require.True(t, known, "between two no rates are needed")
	_, known = between(two, 32, stepTime, Rates{})
	require.False(t, known)
	_, known = between([]Measurement{{Batch: 64, StepSeconds: 6}}, 32, stepTime, r)
	require.False(t, known, "the size of the network is not known")
}

func TestSizes(t *testing.T) {
	conv := model.NewConv2d(4, 8, 3)
	grouped := model.NewConv2d(8, 8, 3)
	grouped.Groups, grouped.Bias = 8, false
	leaf := func(name string, l model.Layer) model.Child {
		return model.Child{Name: name, Module: &model.Leaf{Layer: l}}
	}
	n := &model.Network{Input: model.Shape{4, 6, 6}, Root: &model.Container{Children: []model.Child{
		leaf("a", conv), leaf("b", model.NewBatchNorm2d(8)), leaf("c", grouped), leaf("d", model.Flatten{}),
		leaf("e", model.NewLinear(32, 10))}}}
	size, err := SizeOf(n)
	require.NoError(t, err)
	require.Equal(t, Size{
		Layers:     4,
		Operations: 8*4*4*(2*4*9+1) + 10*(2*32+1),
		Grouped:    8 * 2 * 2 * 2 * 9,
		Bytes:      4 * (4*36 + 8*16 + 8*16 + 8*4 + 10),
		Parameters: (8*4*9 + 8) + 16 + 8*9 + (32*10 + 10),
		Padding16:  9344, // of the convolution from 4 to 8 channels
	}, size)
}

func TestMiddles(t *testing.T) {
	for _, c := range []struct {
		values         []float64
		median, spread float64
	}{{nil, 0, 0}, {[]float64{3}, 3, 0}, {[]float64{4, 1}, 2.5, 0.75}, {[]float64{9, 1, 2, 3, 100}, 3, 3.5}} {
		of := SecondsOf(c.values)
		require.Equal(t, c.median, of.Median)
		require.Equal(t, c.spread, of.Spread)
	}
	require.Equal(t, 1.2346e-9, digits(1.23456e-9))
}
