package torch

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// devices returns the CPU and the first CUDA device, if there is one. So tests for CUDA also run on the CPU.
func devices(t *testing.T) []Device {
	t.Helper()
	all, err := Devices()
	require.NoError(t, err)
	if len(all) == 1 {
		t.Log("left out: the same on a CUDA device, which this machine lacks")
	}
	return all[:min(2, len(all))]
}

// trainedOn trains a network on a device, and returns its losses, final weights and moments.
func trainedOn(t *testing.T, device Device, o ProgramOptions, fused bool,
	steps int) (losses []float64, state [][]float64) {
	within(t, func(s *Scope) {
		n := newTestNetOn(t, s, device, Float32, 16, 10)
		x, y := n.examples(t, 64*10, 32, 10)
		x, y = s.To(x, Float32, device), s.To(y, Int64, device)
		p, adam := n.program(t, o), s.NewOptimizer(Group{Params: n.params,
			OptimizerOptions: OptimizerOptions{Rule: Adam, LR: 1e-3, Fused: fused}})
		for range steps / 10 {
			f, err := Train(p, adam, Batches{Inputs: x, Labels: y, Size: 64})
			require.NoError(t, err)
			losses = append(losses, f.Losses...)
		}
		state = snapshot(t, n, adam)
	})
	return losses, state
}

// Losses on CUDA equal the CPU's losses up to rounding, on both paths.
func TestCUDALosses(t *testing.T) {
	want, _ := trainedOn(t, CPU, ProgramOptions{}, false, 50)
	for _, device := range devices(t) {
		for _, fast := range []bool{false, true} {
			got, _ := trainedOn(t, device, ProgramOptions{Fast: fast}, fast, 50)
			require.Len(t, got, 50)
			require.InDeltaSlice(t, want, got, 1e-4, "%s, fast %t", device, fast)
		}
	}
}

// Repeated steady steps give the same bits.
func TestCUDAGivesTheSameBitsAgain(t *testing.T) {
	for _, device := range devices(t) {
		losses, state := trainedOn(t, device, ProgramOptions{Steady: true}, false, 30)
		again, stateAgain := trainedOn(t, device, ProgramOptions{Steady: true}, false, 30)
		require.Equal(t, losses, again, device)
		require.Equal(t, state, stateAgain, device)
	}
}

// In lower precision, losses stay near the losses in 32 bits.
func TestCUDAPrecisions(t *testing.T) {
	want, _ := trainedOn(t, CPU, ProgramOptions{}, false, 50)
	for _, device := range devices(t) {
		precisions, steps := []Precision{Brain, Half, TF32}, 50
		if device == CPU { // only CUDA has the others, and processors without instructions for bfloat16 are slow
			precisions, steps = precisions[:1], 10
		}
		for _, precision := range precisions {
			got, _ := trainedOn(t, device, ProgramOptions{Precision: precision}, false, steps)
			require.InDeltaSlice(t, want[:steps], got, 0.1, fmt.Sprint(device, precision))
		}
	}
}

// Networks of tokens have logits for each token. Their steady steps use operators that repeat their bits.
func TestCUDALossesOfTokens(t *testing.T) {
	run := func(device Device) (losses []float64) {
		within(t, func(s *Scope) {
			random := s.NewGenerator(CPU, 1)
			table := s.Zeros(Float32, CPU, 9, 9)
			s.Uniform(table, -1, 1, random)
			w := s.RequireGrad(s.To(table, Float32, device), true)
			calls := []Call{
				call("embedding.default", "e", Argument{"weight", Ref("w")}, Argument{"indices", Ref("x")}),
				call("linear.default", "y", Argument{"input", Ref("e")}, Argument{"weight", Ref("w")}),
			}
			p := s.NewCalls(CallList{Input: "x", Output: "y", Names: []string{"w"}, Tensors: []*Tensor{w},
				Calls: calls}, ProgramOptions{Steady: true})
			var x, y []int64
			for k := range int64(40) {
				x, y = append(x, k*k%9), append(y, k%9)
			}
			o := s.NewOptimizer(Group{Params: []*Tensor{w}, OptimizerOptions: OptimizerOptions{Rule: SGD, LR: 0.5}})
			b := Batches{Inputs: s.To(From(s, x, 8, 5), Int64, device), Labels: s.To(From(s, y, 8, 5), Int64, device),
				Size: 4, Smoothing: 0.1}
			for range 5 {
				f, err := Train(p, o, b)
				require.NoError(t, err)
				losses = append(losses, f.Losses...)
			}
			f, err := Evaluate(p, b)
			require.NoError(t, err)
			losses = append(losses, f.Losses...)
		})
		return losses
	}
	want := run(CPU)
	for _, device := range devices(t) {
		require.InDeltaSlice(t, want, run(device), 1e-4, device)
		require.Equal(t, run(device), run(device), device)
	}
}
