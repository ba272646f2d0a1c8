package operators

import (
	"errors"
	"math"
	"slices"
	"strings"

	"graft/internal/validate"
	"graft/torch"
)

// Roofline computes the times of graft's steps on a GPU from constants of its hardware, without measurements on it. The
// zero Roofline is empty.
//
// The device takes for each operator the time of its kernels without work, plus operations at the attained rate, plus
// bytes at the attained bandwidth. The sum replaces the maximum of the original roofline (Williams, Waterman and
// Patterson, CACM 2009), because the constants of package costs are fitted to sums. The host launches the operators
// while the device computes, so a step takes as long as the slower of the two. With CUDA graphs, the host only launches
// the step.
type Roofline struct {
	Precision   string  // number format of matrix products, such as float32; empty means an empty Roofline
	Graphs      bool    // whether steps are CUDA graphs; false means that the host launches each operator
	ProductRate float64 // attained rate of matrix products and convolutions, in operations per second
	SingleRate  float64 // attained rate of other operators, which compute in float32, in operations per second
	Bandwidth   float64 // attained bandwidth of the memory, in bytes per second
	// time of the device for a kernel without work, in seconds
	KernelSeconds float64
	// Times of the host in seconds: of a training step, of a step's work on each trained tensor, of an evaluation
	// batch, and of each operator in an evaluation. In a step, most of the host's work is the backward pass of layers
	// with weights and the update of the weights, so the number of trained tensors decides the time.
	StepSeconds, TensorSeconds, BatchSeconds, OperatorSeconds float64
	// errors of computed times on measurements that decided no constant; empty means that no time was checked
	Checked string
}

// On reports whether the roofline is not empty.
func (r *Roofline) On() bool { return r.Precision != "" }

// Validate returns an error that lists every invalid value.
func (r *Roofline) Validate() error {
	if *r == (Roofline{}) {
		return nil
	}
	var f validate.Faults
	known := []string{torch.Single.String(), torch.TF32.String(), torch.Brain.String(), torch.Half.String()}
	f.Unless(slices.Contains(known, r.Precision), "computed.precision is %q; expected one of: %s", r.Precision,
		strings.Join(known, ", "))
	for _, c := range []struct {
		key   string
		value float64
		zero  bool // zero is valid
	}{{"product_rate", r.ProductRate, false}, {"single_rate", r.SingleRate, false}, {"bandwidth", r.Bandwidth, false},
		{"kernel_seconds", r.KernelSeconds, true}, {"step_seconds", r.StepSeconds, true},
		{"tensor_seconds", r.TensorSeconds, true}, {"batch_seconds", r.BatchSeconds, true},
		{"operator_seconds", r.OperatorSeconds, true}} {
		f.Unless(c.value >= 0 && !math.IsInf(c.value, 0) && (c.zero || c.value > 0),
			"computed.%s is %v; must be finite and positive", c.key, c.value)
	}
	return errors.Join(f...)
}

// NewRooflinePredictor creates a predictor from constants of the hardware.
func NewRooflinePredictor(r *Roofline) *Predictor {
	return &Predictor{lister: newLister(Fast), fit: r, known: map[asked]Prediction{}}
}

// narrow reports whether products read values of 16 bits.
func (r *Roofline) narrow() bool {
	return r.Precision == torch.Brain.String() || r.Precision == torch.Half.String()
}

// Number of kernels of an operator's backward pass.
const (
	productKernels = 3 // gradients of the input, the weight and the bias
	otherKernels   = 1
)

// surroundingKernels is the number of kernels for a batch, its conversion or the loss, in both passes.
const surroundingKernels = 3

// updatePasses is the number of times that Adam reads or writes values of a parameter's size: the parameter and two
// moments are read and written, and the gradient is read.
const updatePasses = 7

// device returns the device's times of a call in an evaluation and in a step.
func (r *Roofline) device(c *Call) (forward, step float64) {
	name := base(c.Name)
	switch {
	case c.Name == Updating:
		return 0, updatePasses * c.Bytes / r.Bandwidth
	case around(name):
		seconds := surroundingKernels*r.KernelSeconds + c.Bytes/r.Bandwidth
		return seconds, seconds
	case c.Optional && name != "dropout": // a view
		return 0, 0
	}
	rate, kernels := r.SingleRate, otherKernels
	bytes := c.Bytes
	if _, product := operationRate(c.Name); product && !strings.HasSuffix(c.Name, grouped) {
		kernels = productKernels
		// LibTorch has kernels for attention on matrix units in 16 bits only.
		if r.narrow() || !strings.HasPrefix(name, attention) {
			rate = r.ProductRate
		}
		if r.narrow() {
			bytes /= 2
		}
	}
	work := c.Operations/rate + bytes/r.Bandwidth
	back := backFactor
	if c.leads {
		kernels, back = kernels-1, backFactor-1
	}
	forward = r.KernelSeconds + work
	return forward, forward + float64(kernels)*r.KernelSeconds + float64(back)*work
}

// attention is the operator of scaled dot product attention.
const attention = "scaled_dot_product_attention"

func (r *Roofline) part(c *Call) (forward, step float64) {
	forward, step = r.device(c)
	switch {
	case r.Graphs:
	case c.Name == Updating:
		step = max(step, r.TensorSeconds)
	default:
		forward = max(forward, r.OperatorSeconds)
	}
	return forward, step
}

func (r *Roofline) predict(calls []Call) (p Prediction) {
	hostStep, hostForward := r.StepSeconds, r.BatchSeconds
	for k := range calls {
		c := &calls[k]
		forward, step := r.device(c)
		p.Forward, p.Step = p.Forward+forward, p.Step+step
		switch {
		case r.Graphs:
		case c.Name == Updating:
			hostStep += r.TensorSeconds
		default:
			hostForward += r.OperatorSeconds
		}
	}
	p.Step += r.KernelSeconds // the update of all parameters
	if !r.Graphs {
		p.Step, p.Forward = max(p.Step, hostStep), max(p.Forward, hostForward)
	}
	p.Unknown = 1
	return p
}
