package torch

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// graphCase is a way to train. Its recorded steps must give the same figures as steps without recording.
type graphCase struct {
	name      string
	optimizer OptimizerOptions
	program   ProgramOptions
	dropout   float64
	augment   Augment
	smoothing float64
	average   bool
}

// Adam divides a gradient by its size. The gradients of a bias before BatchNorm are only rounding errors, and sums on a
// GPU round differently in each run: with the usual eps of 1e-8, losses of two runs of the same steps differ by 1e-4.
var graphCases = []graphCase{
	{name: "adam", optimizer: OptimizerOptions{Rule: Adam, Eps: 0.01}},
	{name: "adam with decay", optimizer: OptimizerOptions{Rule: Adam, Eps: 0.01, WeightDecay: 0.01, ClipNorm: 0.5}},
	{name: "adamw", optimizer: OptimizerOptions{Rule: AdamW, Eps: 0.01, WeightDecay: 0.1}},
	{name: "adam at once", optimizer: OptimizerOptions{Rule: Adam, Eps: 0.01, Fused: true},
		program: ProgramOptions{Fast: true}},
	{name: "adamw at once", optimizer: OptimizerOptions{Rule: AdamW, WeightDecay: 0.1, Eps: 0.01, Fused: true}},
	{name: "sgd", optimizer: OptimizerOptions{Rule: SGD}},
	{name: "sgd with momentum", optimizer: OptimizerOptions{Rule: SGD, Momentum: 0.9, Nesterov: true,
		WeightDecay: 0.01}},
	{name: "sgd with dampening", optimizer: OptimizerOptions{Rule: SGD, Momentum: 0.9, Dampening: 0.5}},
	{name: "dropout", optimizer: OptimizerOptions{Rule: Adam, Eps: 0.01}, dropout: 0.3},
	{name: "augmentation", optimizer: OptimizerOptions{Rule: Adam, Eps: 0.01},
		augment: Augment{Pad: 2, Flip: true, Cutout: 4}, smoothing: 0.1},
	{name: "average", optimizer: OptimizerOptions{Rule: Adam, Eps: 0.01}, average: true},
	{name: "bfloat16", optimizer: OptimizerOptions{Rule: Adam, Eps: 0.01},
		program: ProgramOptions{Precision: Brain}},
	{name: "steady", optimizer: OptimizerOptions{Rule: Adam, Eps: 0.01}, program: ProgramOptions{Steady: true}},
}

// train takes 3 calls of 11 steps, each step with its own rate and the last of each call with a short batch, and
// evaluates after each call. It returns the figures, and the final weights, moments and averages.
func (c graphCase) train(t *testing.T, device Device,
	graphs bool) (losses []float64, correct []int, state [][]float64) {
	within(t, func(s *Scope) {
		n := newTestNetOn(t, s, device, Float32, 8, 10)
		if layers := n.layers; c.dropout > 0 {
			n.layers = func(b *Builder, x Value) Value {
				return layers(b, b.Dropout(b.Dropout(x, c.dropout), c.dropout/2))
			}
		}
		x, y := n.examples(t, 10*16+7, 12, 10)
		x, y = s.To(x, Float32, device), s.To(y, Int64, device)
		o := c.program
		o.Graphs = graphs
		p, optimizer := n.program(t, o), s.NewOptimizer(Group{Params: n.params, OptimizerOptions: c.optimizer})
		b := Batches{Inputs: x, Labels: y, Size: 16, Random: s.NewGenerator(device, 3), Augment: c.augment,
			Smoothing: c.smoothing}
		if c.average {
			b.Average = Average{Of: n.params, Decay: 0.9, First: true}
			for _, p := range n.params {
				b.Average.To = append(b.Average.To, s.Zeros(Float32, device, p.Shape()...))
			}
		}
		for call := range 3 {
			b.Rates = nil
			for k := range 11 {
				b.Rates = append(b.Rates, 0.01/float64(1+call*11+k))
			}
			f, err := Train(p, optimizer, b)
			require.NoError(t, err)
			b.Average.First = false
			losses, correct = append(losses, f.Losses...), append(correct, f.Correct...)
			f, err = Evaluate(p, Batches{Inputs: x, Labels: y, Size: 16})
			require.NoError(t, err)
			losses, correct = append(losses, f.Losses...), append(correct, f.Correct...)
		}
		all := b.Average.To
		for _, slot := range optimizer.Slots {
			all = append(all, compact([]*Tensor{slot.Param, slot.First, slot.Second})...)
		}
		for _, kept := range all {
			state = append(state, floats(t, kept))
		}
	})
	return losses, correct, state
}

// A recorded step does the same as a step without recording. The recording does not fix rates, step counts, masks and
// images.
func TestCUDAGraphsRepeatTheStep(t *testing.T) {
	for _, device := range devices(t) {
		for k, c := range graphCases {
			if !long && device == CPU && k%2 > 0 { // on the CPU, a recording only calls the operations again
				continue
			}
			t.Run(fmt.Sprint(c.name, " on ", device), func(t *testing.T) {
				losses, correct, state := c.train(t, device, false)
				got, gotCorrect, gotState := c.train(t, device, true)
				require.InDeltaSlice(t, losses, got, 1e-5)
				require.Equal(t, correct, gotCorrect)
				require.Len(t, gotState, len(state))
				for k := range state {
					require.InDeltaSlice(t, state[k], gotState[k], 1e-4)
				}
			})
		}
	}
}

// Another batch size, optimizer or option makes another recording.
func TestCUDAGraphsNoticeChanges(t *testing.T) {
	run := func(device Device, graphs bool) (losses []float64) {
		within(t, func(s *Scope) {
			n := newTestNetOn(t, s, device, Float32, 8, 10)
			x, y := n.examples(t, 160, 12, 10)
			x, y = s.To(x, Float32, device), s.To(y, Int64, device)
			p := n.program(t, ProgramOptions{Graphs: graphs})
			adam := OptimizerOptions{Rule: Adam, LR: 0.01}
			first := s.NewOptimizer(Group{Params: n.params, OptimizerOptions: adam})
			train := func(o *Optimizer, size int) {
				f, err := Train(p, o, Batches{Inputs: x, Labels: y, Size: size})
				require.NoError(t, err)
				losses = append(losses, f.Losses...)
			}
			train(first, 16)
			train(first, 20)
			adam.WeightDecay = 0.3
			require.NoError(t, first.Configure(0, adam))
			train(first, 20)
			train(s.NewOptimizer(Group{Params: n.params,
				OptimizerOptions: OptimizerOptions{Rule: SGD, LR: 0.1, Momentum: 0.9}}), 20)
		})
		return losses
	}
	for _, device := range devices(t) {
		require.InDeltaSlice(t, run(device, false), run(device, true), 1e-5, device)
	}
}

// A network of operators, with dropout and a batch counter, is recorded as a network of layers is.
func TestCUDAGraphsRepeatCalls(t *testing.T) {
	run := func(device Device, graphs bool) (losses []float64, batches []int64) {
		within(t, func(s *Scope) {
			first := From(s, []float32{0.1, -0.2, 0.3, 0.4, 0.5, -0.6}, 3, 2)
			w, counter := s.RequireGrad(s.To(first, Float32, device), true), s.Zeros(Int64, device, 1)
			l := CallList{Input: "x", Output: "y", Names: []string{"w", "n"}, Tensors: []*Tensor{w, counter}}
			l.Calls = []Call{
				call("dropout.default", "d", Argument{"input", Ref("x")}, Argument{"p", 0.25},
					Argument{"train", false}),
				call("linear.default", "y", Argument{"input", Ref("d")}, Argument{"weight", Ref("w")}),
				{Operator: CountBatch, Arguments: []Argument{{"counter", Ref("n")}}, OnlyTraining: true},
			}
			p := s.NewCalls(l, ProgramOptions{Graphs: graphs})
			o := s.NewOptimizer(Group{Params: []*Tensor{w}, OptimizerOptions: OptimizerOptions{Rule: SGD, LR: 0.5}})
			b := Batches{Inputs: s.To(From(s, []float32{1, 0, 0, 1, 1, 1, 0, 0}, 4, 2), Float32, device),
				Labels: s.To(From(s, []int64{0, 1, 2, 0}, 4), Int64, device), Size: 2,
				Random: s.NewGenerator(device, 3)}
			for range 6 {
				f, err := Train(p, o, b)
				require.NoError(t, err)
				losses = append(losses, f.Losses...)
			}
			f, err := Evaluate(p, b)
			require.NoError(t, err)
			losses = append(losses, f.Losses...)
			batches, err = Values[int64](counter)
			require.NoError(t, err)
		})
		return losses, batches
	}
	for _, device := range devices(t) {
		want, count := run(device, false)
		got, recorded := run(device, true)
		require.InDeltaSlice(t, want, got, 1e-5, device)
		require.Equal(t, []int64{12}, count, device)
		require.Equal(t, count, recorded, device)
	}
}
