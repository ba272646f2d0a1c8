// Package sample contains a small convolutional classifier and a generator of images that it can learn, for the doctor
// and the benchmarks. It uses only package torch.
package sample

import (
	"math"

	"graft/torch"
)

// Sizes of the network and its images.
const (
	Channels = 32
	Classes  = 10
	Size     = 32 // height and width of an image, in pixels
	Colors   = 3
)

// Named is a tensor with its name in a PyTorch state dict.
type Named struct {
	Name   string
	Tensor *torch.Tensor
}

// Classifier consists of two convolutions, each with BatchNorm, ReLU and an average pool, and a linear layer. The scope
// passed to New owns its weights.
type Classifier struct {
	Params []*torch.Tensor // parameters to train
	State  []Named         // all tensors, in PyTorch's order

	scope        *torch.Scope
	device       torch.Device
	random       *torch.Generator
	norms        [2]torch.BatchNorm
	conv, bias   [2]*torch.Tensor
	linear, last *torch.Tensor
}

// New creates a classifier with random initial weights, drawn from the same distributions as in PyTorch.
func New(s *torch.Scope, d torch.Device, random *torch.Generator) *Classifier {
	c := &Classifier{scope: s, device: d, random: random}
	for k, in := range []int{Colors, Channels} {
		name := string(rune('1' + k))
		c.conv[k] = c.weight("conv"+name+".weight", in*9, Channels, in, 3, 3)
		c.bias[k] = c.weight("conv"+name+".bias", in*9, Channels)
		c.norms[k] = c.norm("bn" + name)
	}
	c.linear = c.weight("fc.weight", Channels, Classes, Channels)
	c.last = c.weight("fc.bias", Channels, Classes)
	return c
}

// weight draws from PyTorch's default: uniform within 1/sqrt(fan in).
func (c *Classifier) weight(name string, fanIn int, shape ...int) *torch.Tensor {
	bound := 1 / math.Sqrt(float64(fanIn))
	host := c.scope.Zeros(torch.Float32, torch.CPU, shape...)
	c.scope.Uniform(host, -bound, bound, c.random)
	return c.param(name, host)
}

func (c *Classifier) param(name string, t *torch.Tensor) *torch.Tensor {
	t = c.scope.RequireGrad(c.scope.To(t, torch.Float32, c.device), true)
	c.Params = append(c.Params, t)
	return c.named(name, t)
}

func (c *Classifier) named(name string, t *torch.Tensor) *torch.Tensor {
	c.State = append(c.State, Named{name, t})
	return t
}

func (c *Classifier) norm(name string) torch.BatchNorm {
	full := func(value float64) *torch.Tensor {
		return c.scope.Full(value, torch.Float32, c.device, Channels)
	}
	return torch.BatchNorm{
		Weight:   c.param(name+".weight", full(1)),
		Bias:     c.param(name+".bias", full(0)),
		Mean:     c.named(name+".running_mean", full(0)),
		Var:      c.named(name+".running_var", full(1)),
		Seen:     c.named(name+".num_batches_tracked", c.scope.Zeros(torch.Int64, c.device)),
		Momentum: 0.1,
		Eps:      1e-5,
	}
}

// Program creates the program that runs the classifier.
func (c *Classifier) Program(o torch.ProgramOptions) *torch.Program {
	var b torch.Builder
	x := b.Activate(b.BatchNorm(b.Conv2D(b.Input(), c.conv[0], c.bias[0], torch.Plane{}), c.norms[0]), torch.ReLU, 0)
	x = b.AvgPool2D(x, torch.Plane{Kernel: [2]int{2, 2}})
	x = b.Activate(b.BatchNorm(b.Conv2D(x, c.conv[1], c.bias[1], torch.Plane{}), c.norms[1]), torch.ReLU, 0)
	x = b.Linear(b.Flatten(b.AdaptiveAvgPool2D(x, 1, 1), 1, -1), c.linear, c.last)
	return c.scope.NewProgram(&b, x, o)
}

// Adam creates an Adam optimizer with the given learning rate for the classifier.
func (c *Classifier) Adam(rate float64, fused bool) *torch.Optimizer {
	options := torch.OptimizerOptions{Rule: torch.Adam, LR: rate, Fused: fused}
	return c.scope.NewOptimizer(torch.Group{Params: c.Params, OptimizerOptions: options})
}

// Stripes returns noisy images with horizontal waves, and their class labels; the parameter rows is the number of
// images. The period of the waves depends on the class. A network can learn to classify the images within seconds, but
// only if it learns the periods.
func Stripes(s *torch.Scope, d torch.Device, random *torch.Generator,
	rows int) (images, labels *torch.Tensor, err error) {
	noise := s.Zeros(torch.Float32, torch.CPU, rows, Colors, Size, Size)
	s.Normal(noise, 0, 1, random)
	values, err := torch.Values[float32](noise)
	if err != nil {
		return nil, nil, err
	}
	classes := make([]int64, rows)
	for k := range classes {
		classes[k] = int64(k % Classes)
		stripe(values[k*Colors*Size*Size:], int(classes[k]))
	}
	images = s.To(torch.From(s, values, rows, Colors, Size, Size), torch.Float32, d)
	return images, s.To(torch.From(s, classes, rows), torch.Int64, d), s.Err()
}

// stripe adds the wave of a class to one image. Averaging over the image keeps a period, but not a position.
func stripe(image []float32, class int) {
	for color := range Colors {
		for y := range Size {
			wave := float32(math.Cos(math.Pi * float64(y*(class+1)) / Classes))
			for x := range Size {
				image[(color*Size+y)*Size+x] += wave
			}
		}
	}
}
