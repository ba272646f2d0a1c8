package torch

// #include "graft.h"
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

// Value is the result of a layer in a program under construction. The zero Value is the program's input.
type Value int32

// Builder builds the program of a network, layer by layer. Each method adds one layer and returns the layer's result.
// The zero Builder is empty and ready to use. Weights stay ordinary tensors of their scope, which must stay open while
// the program is in use.
type Builder struct {
	code    []C.graft_instr
	weights []*Tensor
	err     error
}

// Input returns the input of the program.
func (b *Builder) Input() Value { return 0 }

func (b *Builder) add(op C.int32_t, ints []int64, doubles []float64, weights []*Tensor, from ...Value) Value {
	c := C.graft_instr{op: op, out: C.int32_t(len(b.code) + 1), nin: C.int32_t(len(from))}
	if len(from) > len(c.in) || len(ints) > len(c.ints) {
		b.err = errors.Join(b.err, fmt.Errorf("layer %d has %d inputs and %d sizes, expected at most %d and %d", c.out,
			len(from), len(ints), len(c.in), len(c.ints)))
		return Value(c.out)
	}
	for k, v := range from {
		c.in[k] = C.int32_t(v)
	}
	for k, v := range ints {
		c.ints[k] = C.int64_t(v)
	}
	for k, v := range doubles {
		c.doubles[k] = C.double(v)
	}
	for k := range c.weights {
		c.weights[k] = -1
		if k < len(weights) && weights[k] != nil {
			c.weights[k] = C.int32_t(len(b.weights))
			b.weights = append(b.weights, weights[k])
		}
	}
	b.code = append(b.code, c)
	return Value(c.out)
}

// Plane describes the window of a convolution or pooling layer over an image. Each pair holds a height and a width. A
// zero Stride means 1 for convolution and the size of the kernel for pooling. A zero Padding means no padding. All
// other zeros mean 1.
type Plane struct {
	Kernel     [2]int // size of a pool's window in pixels; a convolution takes it from its weight
	Stride     [2]int // distance between windows, in pixels
	Padding    [2]int // padding on each side, in pixels
	Dilation   [2]int // distance between the taps of a convolution, in pixels
	Groups     int    // number of channel groups of a convolution
	Ceil       bool   // whether the last window of a pool may extend beyond the edge
	ExcludePad bool   // whether averages exclude the padding
}

// Conv2D adds a convolution layer. A nil bias adds nothing.
func (b *Builder) Conv2D(x Value, weight, bias *Tensor, p Plane) Value {
	ints := []int64{or(p.Stride[0], 1), or(p.Stride[1], 1), int64(p.Padding[0]), int64(p.Padding[1]),
		or(p.Dilation[0], 1), or(p.Dilation[1], 1), or(p.Groups, 1)}
	return b.add(C.GRAFT_LAYER_CONV2D, ints, nil, []*Tensor{weight, bias}, x)
}

// Linear adds a linear layer: x times the transposed weight, plus the bias. A nil bias adds nothing.
func (b *Builder) Linear(x Value, weight, bias *Tensor) Value {
	return b.add(C.GRAFT_LAYER_LINEAR, nil, nil, []*Tensor{weight, bias}, x)
}

// BatchNorm adds a batch normalisation layer.
func (b *Builder) BatchNorm(x Value, n BatchNorm) Value {
	return b.add(C.GRAFT_LAYER_BATCH_NORM, nil, []float64{n.Momentum, n.Eps},
		[]*Tensor{n.Weight, n.Bias, n.Mean, n.Var, n.Seen}, x)
}

// LayerNorm adds a normalisation over the last dimensions, which have the given sizes.
func (b *Builder) LayerNorm(x Value, weight, bias *Tensor, eps float64, sizes ...int) Value {
	ints := []int64{int64(len(sizes))}
	for _, n := range sizes {
		ints = append(ints, int64(n))
	}
	return b.add(C.GRAFT_LAYER_LAYER_NORM, ints, []float64{0, eps}, []*Tensor{weight, bias}, x)
}

// GroupNorm adds a normalisation over groups of channels.
func (b *Builder) GroupNorm(x Value, weight, bias *Tensor, eps float64, groups int) Value {
	return b.add(C.GRAFT_LAYER_GROUP_NORM, []int64{int64(groups)}, []float64{0, eps}, []*Tensor{weight, bias}, x)
}

// Activation is a function that is applied to each value. The zero Activation leaves values unchanged.
type Activation int

// The supported activations. LeakyReLU has its slope below zero as the parameter, and ELU its scale there; the other
// activations ignore it.
const (
	ReLU      Activation = C.GRAFT_ACT_RELU
	ReLU6     Activation = C.GRAFT_ACT_RELU6
	LeakyReLU Activation = C.GRAFT_ACT_LEAKY_RELU
	Sigmoid   Activation = C.GRAFT_ACT_SIGMOID
	Tanh      Activation = C.GRAFT_ACT_TANH
	GELU      Activation = C.GRAFT_ACT_GELU
	SiLU      Activation = C.GRAFT_ACT_SILU
	Hardswish Activation = C.GRAFT_ACT_HARDSWISH
	ELU       Activation = C.GRAFT_ACT_ELU
)

// Activate adds an activation; the parameter is, for example, the slope of a leaky ReLU.
func (b *Builder) Activate(x Value, kind Activation, parameter float64) Value {
	return b.add(C.GRAFT_LAYER_ACTIVATION, []int64{int64(kind)}, []float64{parameter}, nil, x)
}

func pool(p Plane) []int64 {
	return []int64{int64(p.Kernel[0]), int64(p.Kernel[1]), or(p.Stride[0], p.Kernel[0]), or(p.Stride[1], p.Kernel[1]),
		int64(p.Padding[0]), int64(p.Padding[1]), int64(flag(p.Ceil)), int64(flag(!p.ExcludePad))}
}

// AvgPool2D adds an average-pooling layer.
func (b *Builder) AvgPool2D(x Value, p Plane) Value {
	return b.add(C.GRAFT_LAYER_AVG_POOL, pool(p), nil, nil, x)
}

// MaxPool2D adds a max-pooling layer.
func (b *Builder) MaxPool2D(x Value, p Plane) Value {
	return b.add(C.GRAFT_LAYER_MAX_POOL, pool(p), nil, nil, x)
}

// AdaptiveAvgPool2D adds an average-pooling layer whose output has the given height and width.
func (b *Builder) AdaptiveAvgPool2D(x Value, height, width int) Value {
	return b.add(C.GRAFT_LAYER_ADAPTIVE_AVG_POOL, []int64{int64(height), int64(width)}, nil, nil, x)
}

// Flatten joins the dimensions from first to last into one dimension. If last is -1, it means the last dimension of x.
func (b *Builder) Flatten(x Value, first, last int) Value {
	return b.add(C.GRAFT_LAYER_FLATTEN, []int64{int64(first), int64(last)}, nil, nil, x)
}

// Dropout adds a dropout layer with probability p. In eval mode it changes nothing.
func (b *Builder) Dropout(x Value, p float64) Value {
	return b.add(C.GRAFT_LAYER_DROPOUT, nil, []float64{p}, nil, x)
}

// Add adds two values, as a residual connection does.
func (b *Builder) Add(x, y Value) Value { return b.add(C.GRAFT_LAYER_ADD, nil, nil, nil, x, y) }

// Shift adds a tensor to x. The tensor has the shape of a batch of x.
func (b *Builder) Shift(x Value, by *Tensor) Value {
	return b.add(C.GRAFT_LAYER_ADD, nil, nil, []*Tensor{by}, x)
}

// Cat concatenates up to eight values along a dimension.
func (b *Builder) Cat(dim int, parts ...Value) Value {
	return b.add(C.GRAFT_LAYER_CAT, []int64{int64(dim)}, nil, nil, parts...)
}

// Normalize adds a layer that converts x to float32 and computes (x * factor - mean) / deviation. For images stored as
// bytes, use the factor 1/255.
func (b *Builder) Normalize(x Value, factor float64, mean, deviation *Tensor) Value {
	return b.add(C.GRAFT_LAYER_NORMALIZE, nil, []float64{factor}, []*Tensor{mean, deviation}, x)
}

// Program is a compiled network that LibTorch runs in one call. A scope owns it.
type Program struct {
	handle C.graft_program
	scope  *Scope
}

// ProgramOptions configures a [Program]. With the zero value, results are bit-identical to PyTorch's.
type ProgramOptions struct {
	// Fast keeps images in the channels-last layout and fuses BatchNorm, ReLU and average pools into one pass over
	// memory. In programs that NewCalls creates, Fast without Steady also computes GELU together with its derivative,
	// and uses oneDNN for matrix products on the CPU. Results are equal up to rounding. The default, false, keeps
	// PyTorch's order of operations.
	Fast bool
	// If Steady is true, gradients on the CPU are bit-identical for any number of threads. On a CUDA device, repeated
	// steps are bit-identical on the same machine, and a layer without a deterministic operator causes an error. The
	// default, false, splits sums on the CPU into one part per thread, as PyTorch does.
	Steady bool
	// Precision is the numeric type that convolutions and linear layers compute in; weights, gradients and all other
	// layers keep their types. The default is Single.
	Precision Precision
	// If Graphs is true, the training step on a full batch is recorded once and then replayed. On a CUDA device, the
	// recording is a CUDA graph, which the host starts with one call. On the CPU, a replay calls the same operations
	// again. Steps with a teacher, mixup or a scaled loss are not recorded, and neither are steps on a part of a batch
	// or in a group of processes. The default is false.
	Graphs bool
}

// NewProgram creates a program from the layers of b. The parameter output is the value that the program returns.
func (s *Scope) NewProgram(b *Builder, output Value, o ProgramOptions) *Program {
	p := &Program{scope: s}
	if b.err != nil {
		s.fail(&Error{Op: "make program", Cause: b.err, kind: ErrShape})
	}
	if _, err := o.Precision.MarshalText(); err != nil {
		s.fail(&Error{Op: "make program", Cause: err, kind: ErrShape})
	}
	if !s.ready("make program", b.weights) {
		return p
	}
	weights := make([]C.graft_t, len(b.weights))
	for k, t := range b.weights {
		weights[k] = C.graft_t(t.handle)
	}
	var flags C.int32_t
	if o.Fast {
		flags = C.GRAFT_PROGRAM_FAST
	}
	if o.Steady {
		flags |= C.GRAFT_PROGRAM_STEADY
	}
	if o.Graphs {
		flags |= C.GRAFT_PROGRAM_RECORDED
	}
	flags |= map[Precision]C.int32_t{Brain: C.GRAFT_PROGRAM_BFLOAT16, Half: C.GRAFT_PROGRAM_FLOAT16,
		TF32: C.GRAFT_PROGRAM_TF32}[o.Precision]
	message := C.graft_program_new(unsafe.SliceData(b.code), C.int32_t(len(b.code)), C.int32_t(len(b.code)+1),
		unsafe.SliceData(weights), C.int32_t(len(weights)), C.int32_t(output), flags, &p.handle)
	if err := take("make program", message); err != nil {
		s.fail(err)
		return p
	}
	s.hold(p)
	return p
}

// Close releases the weights. Without this call, they are released when the scope closes.
func (p *Program) Close() {
	if p.handle != nil {
		p.scope.drop(p)
	}
}

func (p *Program) release() {
	C.graft_program_close(p.handle)
	p.handle = nil
}

func (p *Program) ready(s *Scope, op string, operands ...*Tensor) bool {
	if !s.ready(op, operands) {
		return false
	}
	if p.handle == nil {
		s.fail(&Error{Op: op, Cause: errors.New("the program's scope is closed, or the program was not created"),
			kind: ErrClosed})
		return false
	}
	return true
}

// Fused returns the number of layer fusions in the program, which [ProgramOptions].Fast enables.
func (p *Program) Fused() int {
	if p.handle == nil {
		return 0
	}
	return int(C.graft_program_fused(p.handle))
}

// Forward runs the program on x. Scope s owns the result. In training mode it records gradients and updates running
// statistics.
func (p *Program) Forward(s *Scope, x *Tensor, training bool, random *Generator) *Tensor {
	if !p.ready(s, "forward", x) || (random != nil && !random.ready(s, "forward")) {
		return &Tensor{}
	}
	var out C.graft_t
	message := C.graft_program_forward(p.handle, C.graft_t(x.handle), C.int32_t(flag(training)), random.pointer(), &out)
	if err := take("forward", message); err != nil {
		return s.fail(err)
	}
	return s.adopt(unsafe.Pointer(out))
}
