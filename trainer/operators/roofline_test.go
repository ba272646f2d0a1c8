package operators

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func rooflineOf(graphs bool) *Roofline {
	return &Roofline{Precision: "float32", Graphs: graphs, ProductRate: 1e13, SingleRate: 1e12, Bandwidth: 1e11,
		KernelSeconds: 1e-6, StepSeconds: 1e-3, TensorSeconds: 1e-4, BatchSeconds: 1e-3, OperatorSeconds: 1e-5}
}

// A product takes its launches, operations and bytes; a view takes nothing; 16 bits halve the bytes of products.
func TestRooflineOfACall(t *testing.T) {
	r := rooflineOf(true)
	c := &Call{Name: "linear", Operations: 1e9, Bytes: 1e6}
	forward, step := r.device(c)
	assert.InEpsilon(t, 1e-6+1e-4+1e-5, forward, 1e-12)
	assert.InEpsilon(t, 4e-6+3*(1e-4+1e-5), step, 1e-12)
	c.leads = true
	_, step = r.device(c)
	assert.InEpsilon(t, 3e-6+2*(1e-4+1e-5), step, 1e-12, "no gradient of the input")
	forward, step = r.device(&Call{Name: "transpose", Bytes: 1e6, Optional: true})
	assert.Zero(t, forward+step)
	r.Precision = "bfloat16"
	forward, _ = r.device(&Call{Name: "linear", Operations: 1e9, Bytes: 1e6})
	assert.InEpsilon(t, 1e-6+1e-4+5e-6, forward, 1e-12)
	forward, _ = r.device(&Call{Name: "relu", Operations: 1e5, Bytes: 1e6})
	assert.InEpsilon(t, 1e-6+1e-7+1e-5, forward, 1e-12, "other operators keep float32")
}

// A step takes as long as the slower one of host and device. The parts of a step never take longer than the step if the
// device is the slower one.
func TestRooflineOfANetwork(t *testing.T) {
	n := zoo(t, "CIFARResNet20", 3, 32, 32)
	eager, recorded := NewRooflinePredictor(rooflineOf(false)), NewRooflinePredictor(rooflineOf(true))
	few, err := eager.Predict(n, "", 1)
	require.NoError(t, err)
	assert.InEpsilon(t, 1e-3+65*1e-4, few.Step, 1e-12, "65 tensors")
	device, err := recorded.Predict(n, "", 4096)
	require.NoError(t, err)
	many, err := eager.Predict(n, "", 4096)
	require.NoError(t, err)
	assert.Equal(t, device, many)
	assert.InDelta(t, 1, many.Unknown, 1e-12, "nothing was measured")
	parts, err := recorded.Parts(n, 4096)
	require.NoError(t, err)
	sum := Part{}
	for _, p := range parts {
		sum.Forward, sum.Step = sum.Forward+p.Forward, sum.Step+p.Step
	}
	assert.InEpsilon(t, device.Step, sum.Step, 1e-9)
	assert.InEpsilon(t, device.Forward, sum.Forward, 1e-9)
}

func TestRooflineFaults(t *testing.T) {
	for want, change := range map[string]func(*Roofline){
		`precision is "int8"`:    func(r *Roofline) { r.Precision = "int8" },
		`precision is ""`:        func(r *Roofline) { r.Precision = "" },
		"product_rate is 0":      func(r *Roofline) { r.ProductRate = 0 },
		"bandwidth is NaN":       func(r *Roofline) { r.Bandwidth = math.NaN() },
		"kernel_seconds is -1":   func(r *Roofline) { r.KernelSeconds = -1 },
		"tensor_seconds is +Inf": func(r *Roofline) { r.TensorSeconds = math.Inf(1) },
	} {
		r := rooflineOf(false)
		require.NoError(t, r.Validate())
		change(r)
		require.ErrorContains(t, r.Validate(), want)
	}
	require.NoError(t, new(Roofline).Validate())
}
