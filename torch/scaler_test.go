package torch

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// A scale that is a power of two changes no bit in float32. It doubles after Interval steps. A step whose gradients are
// not finite halves it and changes nothing else.
func TestScalerFollowsPyTorchs(t *testing.T) {
	within(t, func(s *Scope) {
		plain, scaled := newTestNet(t, s, Float32, 6, 3), newTestNet(t, s, Float32, 6, 3)
		x, y := plain.examples(t, 40, 10, 3)
		op, os := plain.adam(false), scaled.adam(false)
		pp, ps := plain.program(t, ProgramOptions{}), scaled.program(t, ProgramOptions{})
		scaler := &Scaler{Scale: 1024, Interval: 3}
		b := Batches{Inputs: x, Labels: y, Size: 8}
		want, err := Train(pp, op, b)
		require.NoError(t, err)
		b.Scaler = scaler
		got, err := Train(ps, os, b)
		require.NoError(t, err)
		require.Equal(t, want, got, "the losses are not scaled")
		require.Equal(t, snapshot(t, plain, op), snapshot(t, scaled, os))
		require.Equal(t, Scaler{Scale: 2048, Interval: 3, Streak: 2}, *scaler, "five steps")

		lost := s.Full(math.Inf(1), Float32, CPU, 8, 3, 10, 10)
		over := Batches{Inputs: lost, Labels: s.Narrow(y, 0, 0, 8), Size: 8, Scaler: &Scaler{Scale: 512, Interval: 3,
			Streak: 2}, Average: Average{Of: scaled.params, To: copies(s, scaled.params), Decay: 0.5}}
		before, average := snapshotOfParameters(t, os), floats(t, over.Average.To[0])
		_, err = Train(ps, os, over)
		require.NoError(t, err)
		require.Equal(t, Scaler{Scale: 256, Interval: 3, Skipped: 1}, *over.Scaler)
		require.Equal(t, before, snapshotOfParameters(t, os), "weights, moments and step counts")
		require.Equal(t, average, floats(t, over.Average.To[0]))
		_, err = Train(ps, os, Batches{Inputs: x, Labels: y, Size: 40, Scaler: &Scaler{}})
		require.ErrorContains(t, err, "a loss scale of 0")
	})
}

// skippable holds optimizers whose steps a scaler can skip on a device.
var skippable = map[string]OptimizerOptions{"Adam": {Rule: Adam, LR: 0.01},
	"fused Adam": {Rule: Adam, LR: 0.01, Fused: true}, "SGD": {Rule: SGD, LR: 0.01, Momentum: 0.9}}

// A scaler whose state is on the device, as with recorded steps, changes no bit.
func TestScalerOnTheDeviceChangesNothing(t *testing.T) {
	for name, rule := range skippable {
		t.Run(name, func(t *testing.T) {
			within(t, func(s *Scope) {
				plain, scaled := newTestNet(t, s, Float32, 6, 3), newTestNet(t, s, Float32, 6, 3)
				x, y := plain.examples(t, 40, 10, 3)
				op, os := s.NewOptimizer(Group{Params: plain.params, OptimizerOptions: rule}),
					s.NewOptimizer(Group{Params: scaled.params, OptimizerOptions: rule})
				pp, ps := plain.program(t, ProgramOptions{Graphs: true}),
					scaled.program(t, ProgramOptions{Graphs: true})
				scaler := &Scaler{Scale: 1024, Interval: 3}
				want, err := Train(pp, op, Batches{Inputs: x, Labels: y, Size: 8})
				require.NoError(t, err)
				got, err := Train(ps, os, Batches{Inputs: x, Labels: y, Size: 8, Scaler: scaler})
				require.NoError(t, err)
				require.Equal(t, want, got, "the losses are not scaled")
				require.Equal(t, snapshotOfParameters(t, op), snapshotOfParameters(t, os))
				require.Equal(t, Scaler{Scale: 2048, Interval: 3, Streak: 2}, *scaler, "five steps")
			})
		})
	}
}

// Steps whose gradients are not finite change only the scale. The host reads the scale at the end of the call.
func TestScalerOnTheDeviceSkips(t *testing.T) {
	for _, device := range devices(t) {
		for name, rule := range skippable {
			t.Run(device.String()+" "+name, func(t *testing.T) {
				within(t, func(s *Scope) {
					n := newTestNetOn(t, s, device, Float32, 6, 3)
					x, y := n.examples(t, 8, 10, 3)
					x, y = s.To(x, Float32, device), s.To(y, Int64, device)
					o, p := s.NewOptimizer(Group{Params: n.params, OptimizerOptions: rule}),
						n.program(t, ProgramOptions{Graphs: device == CPU})
					// the host takes the first step of a momentum
					_, err := Train(p, o, Batches{Inputs: x, Labels: y, Size: 8, Scaler: NewScaler()})
					require.NoError(t, err)
					over := Batches{Inputs: s.Full(math.Inf(1), Float32, device, 16, 3, 10, 10), Labels: s.Cat(0, y, y),
						Size: 8, Scaler: &Scaler{Scale: 512, Interval: 3, Streak: 2},
						Average: Average{Of: n.params, To: copies(s, n.params), Decay: 0.5}}
					before, average := snapshotOfParameters(t, o), floats(t, over.Average.To[0])
					_, err = Train(p, o, over)
					require.NoError(t, err)
					require.Equal(t, Scaler{Scale: 128, Interval: 3, Skipped: 2}, *over.Scaler)
					require.Equal(t, before, snapshotOfParameters(t, o), "weights, moments and step counts")
					require.Equal(t, average, floats(t, over.Average.To[0]))
				})
			})
		}
	}
}

func snapshotOfParameters(t *testing.T, o *Optimizer) (all [][]float64) {
	for _, slot := range o.Slots {
		for _, x := range compact([]*Tensor{slot.Param, slot.First, slot.Second}) {
			all = append(all, floats(t, x))
		}
	}
	return append(all, floats(t, o.Steps))
}
