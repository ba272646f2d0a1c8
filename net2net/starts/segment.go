package starts

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"graft/torch"
)

// Layer is a linear layer or a convolution with one group.
type Layer struct {
	Plane  *torch.Plane // window of a convolution; nil for a linear layer
	Weight *torch.Tensor
	Bias   *torch.Tensor // nil if the layer has no bias
}

// Segment is a part of a network on a batch of training data: the producing layer, the layers in between, and the
// consuming layer.
type Segment struct {
	Producer, Consumer Layer
	Inputs             *torch.Tensor // inputs of the producing layer
	Hidden             *torch.Tensor // inputs of the consuming layer
	Gradient           *torch.Tensor // gradient of the loss with respect to the output of the consuming layer
	// Middle runs the layers in between, without batch normalisation and dropout. Straight also omits the activations.
	// Nil means that there is no such layer.
	Middle, Straight *torch.Program
	Normed           bool // whether a batch normalisation follows the producing layer
	// Loss returns the loss of the network after a tensor is added to the output of the consuming layer.
	Loss func(shift *torch.Tensor) (float64, error)
}

// most limits the values of the activations that are computed at once.
const most = 1 << 24

// inputs is the number of incoming weights of a unit.
func (g *Segment) inputs() int { return product(g.Producer.Weight.Shape()[1:]) }

// units is the number of existing units.
func (g *Segment) units() int { return g.Producer.Weight.Shape()[0] }

// outputs is the number of outgoing weights of a unit.
func (g *Segment) outputs() int { return product(g.Consumer.Weight.Shape()) / g.units() }

// Positions is the number of columns of the consuming layer for each unit: more than one after a layer that flattens
// images.
func (g *Segment) Positions() int { return g.Consumer.Weight.Shape()[1] / g.units() }

func product(sizes []int) int {
	n := 1
	for _, size := range sizes {
		n *= size
	}
	return n
}

// Apply runs the layer with other weights. A nil bias adds nothing.
func (l Layer) Apply(s *torch.Scope, x, weight, bias *torch.Tensor) *torch.Tensor {
	if l.Plane == nil {
		return s.Linear(x, weight, bias)
	}
	var b torch.Builder
	p := s.NewProgram(&b, b.Conv2D(b.Input(), weight, bias, *l.Plane), torch.ProgramOptions{})
	if s.Err() != nil {
		return &torch.Tensor{}
	}
	defer p.Close()
	return p.Forward(s, x, true, nil)
}

func forward(s *torch.Scope, p *torch.Program, x *torch.Tensor) *torch.Tensor {
	if p == nil {
		return x
	}
	return p.Forward(s, x, true, nil)
}

// like returns a tensor of the network's type on the network's device.
func (g *Segment) like(s *torch.Scope, values []float64, shape ...int) *torch.Tensor {
	info, err := g.Producer.Weight.Info()
	if err != nil {
		return &torch.Tensor{}
	}
	return s.To(torch.From(s, values, shape...), info.DType, info.Device)
}

// incoming returns the weight of a producing layer with other units.
func (g *Segment) incoming(s *torch.Scope, rows [][]float64) *torch.Tensor {
	shape := g.Producer.Weight.Shape()
	shape[0] = len(rows)
	return g.like(s, slices.Concat(rows...), shape...)
}

// outgoing returns the weight of a consuming layer with other units.
func (g *Segment) outgoing(s *torch.Scope, units [][]float64) *torch.Tensor {
	shape := g.Consumer.Weight.Shape()
	shape[1] = len(units) * g.Positions()
	return g.like(s, g.Columns(units), shape...)
}

// Columns converts the outgoing weights of units to the layout of the consuming layer's weight, whose second dimension
// has the columns of the units, one unit after the other.
func (g *Segment) Columns(units [][]float64) []float64 {
	rows := g.Consumer.Weight.Shape()[0]
	size := g.outputs() / rows
	values := make([]float64, 0, len(units)*g.outputs())
	for row := range rows {
		for _, u := range units {
			values = append(values, u[row*size:(row+1)*size]...)
		}
	}
	return values
}

// patches returns units that pass on the inputs of a unit, one for each, and a unit of ones if the layer has a bias.
func (g *Segment) patches() (rows [][]float64, bias []float64) {
	n := g.inputs()
	for k := range n {
		rows = append(rows, make([]float64, n))
		rows[k][k] = 1
	}
	if g.Producer.Bias != nil {
		rows, bias = append(rows, make([]float64, n)), make([]float64, n+1)
		bias[n] = 1
	}
	return rows, bias
}

// chunks calls a function for parts of the batch, such that a number of units has a bounded number of activations.
func (g *Segment) chunks(units int, do func(s *torch.Scope, from, count int)) error {
	shape := g.Inputs.Shape()
	places := product(shape[1:]) / g.Producer.Weight.Shape()[1]
	size := max(1, most/max(1, units*places))
	for from := 0; from < shape[0]; from += size {
		err := torch.With(func(inner *torch.Scope) error {
			do(inner, from, min(size, shape[0]-from))
			return inner.Err()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// correlation returns the gradient of the loss with respect to the outgoing weights of candidate units, whose outgoing
// weights are zero: a row for each unit. The parameter gradient replaces the segment's gradient.
func (g *Segment) correlation(s *torch.Scope, middle *torch.Program, gradient *torch.Tensor, rows [][]float64,
	bias []float64) (*torch.Tensor, error) {
	weight, offset := g.incoming(s, rows), (*torch.Tensor)(nil)
	if bias != nil {
		offset = g.like(s, bias, len(bias))
	}
	out := s.RequireGrad(g.outgoing(s, zeros(len(rows), g.outputs())), true)
	err := g.chunks(len(rows), func(s *torch.Scope, from, count int) {
		var hidden *torch.Tensor
		s.NoGrad(func() {
			x := g.Producer.Apply(s, s.Narrow(g.Inputs, 0, from, count), weight, offset)
			hidden = forward(s, middle, x)
		})
		y := g.Consumer.Apply(s, hidden, out, nil)
		s.Backward(s.Sum(s.Mul(y, s.Narrow(gradient, 0, from, count))))
	})
	if err := first(s.Err(), err); err != nil {
		return nil, err
	}
	grad := s.To(s.Detach(s.Grad(out)), torch.Float64, torch.CPU)
	grad = s.Reshape(grad, grad.Shape()[0], len(rows), g.outputs()/grad.Shape()[0])
	return s.Reshape(s.Transpose(grad, 0, 1), len(rows), g.outputs()), s.Err()
}

func zeros(rows, columns int) [][]float64 {
	all := make([][]float64, rows)
	for k := range all {
		all[k] = make([]float64, columns)
	}
	return all
}

// contribution returns what new units add to the output of the consuming layer.
func (g *Segment) contribution(s *torch.Scope, u *Units, factor float64) *torch.Tensor {
	var bias *torch.Tensor
	if u.Bias != nil {
		bias = g.like(s, scaled(u.Bias, factor), len(u.Bias))
	}
	x := g.Producer.Apply(s, g.Inputs, s.Scale(g.incoming(s, u.In), factor, 0), bias)
	return g.Consumer.Apply(s, forward(s, g.Middle, x), s.Scale(g.outgoing(s, u.Out), factor, 0), nil)
}

// Statistics returns the mean and the biased variance of each new unit before the activation, on the batch.
func (g *Segment) Statistics(s *torch.Scope, u *Units) (mean, variance []float64, err error) {
	s.NoGrad(func() {
		var bias *torch.Tensor
		if u.Bias != nil {
			bias = g.like(s, u.Bias, len(u.Bias))
		}
		x := g.Producer.Apply(s, g.Inputs, g.incoming(s, u.In), bias)
		values := rows(s, x)
		shape := values.Shape()
		if len(shape) != 2 {
			return // the scope holds the error
		}
		ones := torch.From(s, slices.Repeat([]float64{1 / float64(shape[0])}, shape[0]), 1, shape[0])
		average := s.MatMul(ones, values)
		apart := s.Sub(values, average)
		if mean, err = torch.Values[float64](s.Reshape(average, shape[1])); err == nil {
			variance, err = torch.Values[float64](s.Reshape(s.MatMul(ones, s.Mul(apart, apart)), shape[1]))
		}
	})
	if s.Err() != nil {
		return nil, nil, s.Err()
	}
	return mean, variance, err
}

// rows returns values as a matrix in float64 on the CPU, with a column for each channel. Channels are the second
// dimension of images, and the last dimension of other values.
func rows(s *torch.Scope, x *torch.Tensor) *torch.Tensor {
	shape := x.Shape()
	if len(shape) == 4 {
		return columns(s, x, shape[1])
	}
	return s.Reshape(s.To(s.Detach(x), torch.Float64, torch.CPU), -1, shape[max(0, len(shape)-1)])
}

// columns is like rows for values whose second dimension has the channels, and possibly positions within them.
func columns(s *torch.Scope, x *torch.Tensor, channels int) *torch.Tensor {
	x = s.To(s.Detach(x), torch.Float64, torch.CPU)
	x = s.Reshape(x, x.Shape()[0], channels, -1)
	return s.Reshape(s.Transpose(x, 1, 2), -1, channels)
}

// responds reports whether units without incoming weights have no output but a gradient: the middle maps zero to zero,
// and its slope there is at least a tenth of the straight one's. ReLU's derivative at zero is zero in LibTorch.
func (g *Segment) responds(s *torch.Scope) (bool, error) {
	if g.Normed {
		return false, nil
	}
	slope := func(p *torch.Program) (at, slope float64) {
		x := g.Producer.Apply(s, s.Narrow(g.Inputs, 0, 0, 1), g.incoming(s, zeros(1, g.inputs())), nil)
		x = s.RequireGrad(s.Detach(x), true)
		y := forward(s, p, x)
		s.Backward(s.Sum(s.Scale(y, 1, 0)))
		at, _ = s.Sum(s.Mul(s.Detach(y), s.Detach(y))).Item()
		slope, _ = s.Sum(s.Detach(s.Grad(x))).Item()
		return at, slope
	}
	at, own := slope(g.Middle)
	_, straight := slope(g.Straight)
	return at == 0 && math.Abs(own) >= 0.1*math.Abs(straight), s.Err()
}

// norms returns the mean norms of the incoming and the outgoing weights of the existing units.
func (g *Segment) norms(s *torch.Scope) (in, out float64, err error) {
	weight, err := matrix(s, g.Producer.Weight)
	if err != nil {
		return 0, 0, err
	}
	next, err := g.existing(s)
	if err != nil {
		return 0, 0, err
	}
	return meanNorm(weight), meanNorm(next), nil
}

// existing returns the outgoing weights of the existing units.
func (g *Segment) existing(s *torch.Scope) ([][]float64, error) {
	w := s.To(s.Detach(g.Consumer.Weight), torch.Float64, torch.CPU)
	w = s.Reshape(w, w.Shape()[0], g.units(), -1)
	return matrix(s, s.Reshape(s.Transpose(w, 0, 1), g.units(), -1))
}

// matrix returns the rows of a tensor.
func matrix(s *torch.Scope, x *torch.Tensor) ([][]float64, error) {
	shape := x.Shape()
	values, err := torch.Values[float64](s.To(s.Detach(x), torch.Float64, torch.CPU))
	if s.Err() != nil || err != nil || len(values) == 0 {
		return nil, fmt.Errorf("read a matrix of shape %v: %w", shape, first(s.Err(), err))
	}
	return slices.Collect(slices.Chunk(values, len(values)/shape[0])), nil
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func meanNorm(rows [][]float64) float64 {
	sum := 0.0
	for _, row := range rows {
		sum += norm(row)
	}
	return sum / float64(len(rows))
}

func norm(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum)
}

func scaled(v []float64, factor float64) []float64 {
	out := make([]float64, len(v))
	for k, x := range v {
		out[k] = factor * x
	}
	return out
}

// normed returns a vector with another norm; a zero vector stays zero.
func normed(v []float64, want float64) []float64 {
	if n := norm(v); n > 0 {
		return scaled(v, want/n)
	}
	return v
}

// signed returns 1, or -1 if the element of a vector with the largest magnitude is negative. Singular vectors have no
// sign of their own.
func signed(v []float64) float64 {
	largest := 0.0
	for _, x := range v {
		if math.Abs(x) > math.Abs(largest) {
			largest = x
		}
	}
	return math.Copysign(1, largest)
}

// direction draws a vector with the given norm, in a direction that is uniform.
func direction(random *rand.Rand, size int, want float64) []float64 {
	v := make([]float64, size)
	for k := range v {
		v[k] = random.NormFloat64()
	}
	return normed(v, want)
}
