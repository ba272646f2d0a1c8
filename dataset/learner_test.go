package dataset

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/torch"
)

// learner is a small network under construction.
type learner struct {
	torch.Builder
	s      *torch.Scope
	params []*torch.Tensor
	random *torch.Generator
}

func (n *learner) weight(fan int, shape ...int) *torch.Tensor {
	p := n.s.Zeros(torch.Float32, torch.CPU, shape...)
	n.s.Uniform(p, -math.Sqrt(3/float64(fan)), math.Sqrt(3/float64(fan)), n.random)
	return n.param(p)
}

func (n *learner) param(p *torch.Tensor) *torch.Tensor {
	n.params = append(n.params, n.s.RequireGrad(p, true))
	return p
}

// layer is a convolution, a BatchNorm and a ReLU.
func (n *learner) layer(x torch.Value, in, out int) torch.Value {
	full := func(v float64) *torch.Tensor { return n.s.Full(v, torch.Float32, torch.CPU, out) }
	x = n.Conv2D(x, n.weight(9*in, out, in, 3, 3), nil, torch.Plane{Padding: [2]int{1, 1}})
	x = n.BatchNorm(x, torch.BatchNorm{Weight: n.param(full(1)), Bias: n.param(full(0)), Mean: full(0), Var: full(1),
		Seen: n.s.Zeros(torch.Int64, torch.CPU), Momentum: 0.1, Eps: 1e-5})
	return n.Activate(x, torch.ReLU, 0)
}

// program is a linear model with width 0, else three convolutions of width, twice
// and four times that many channels.
func (n *learner) program(set *Set, width int) *torch.Program {
	pixel := func(v []float64) *torch.Tensor {
		return n.s.To(torch.From(n.s, v, 1, len(v), 1, 1), torch.Float32, torch.CPU)
	}
	x, features := n.Normalize(n.Input(), 1.0/255, pixel(set.Mean), pixel(set.Deviation)), set.Shape[0]*set.Shape[1]*set.Shape[2]
	fan := 100 * features
	if width > 0 {
		half := torch.Plane{Kernel: [2]int{2, 2}}
		x = n.MaxPool2D(n.layer(x, set.Shape[0], width), half)
		x = n.MaxPool2D(n.layer(x, width, 2*width), half)
		x = n.AdaptiveAvgPool2D(n.layer(x, 2*width, 4*width), 1, 1)
		features = 4 * width
		fan = features
	}
	x = n.Linear(n.Flatten(x, 1, -1), n.weight(fan, len(set.Classes), features), nil)
	return n.s.NewProgram(&n.Builder, x, torch.ProgramOptions{Fast: true})
}

// learn trains for some epochs and returns how much of the test is right, in per
// cent.
func learn(t testing.TB, s *torch.Scope, set *Set, width, epochs int) float64 {
	t.Helper()
	n := &learner{s: s, random: s.NewGenerator(torch.CPU, 1)}
	p := n.program(set, width)
	rate := 0.003
	if width == 0 {
		rate = 0.0003
	}
	o := s.NewOptimizer(torch.Group{Params: n.params, OptimizerOptions: torch.OptimizerOptions{Rule: torch.Adam, LR: rate, Fused: true}})
	for epoch := range epochs {
		options := o.Options(0)
		options.LR = rate * (1 - float64(epoch)/float64(epochs))
		require.NoError(t, o.Configure(0, options))
		_, err := torch.Train(p, o, torch.Batches{Inputs: set.Train.Images, Labels: set.Train.Labels, Order: s.Permutation(set.Train.Count, n.random),
			Size: 64, Random: n.random, Augment: torch.Augment{Pad: 2, Flip: true}})
		require.NoError(t, err)
	}
	f, err := torch.Evaluate(p, torch.Batches{Inputs: set.Test.Images, Labels: set.Test.Labels, Size: 200})
	require.NoError(t, err)
	right := 0
	for _, k := range f.Correct {
		right += k
	}
	return 100 * float64(right) / float64(set.Test.Count)
}
