package dense

import (
	"math"
	"math/rand/v2"
)

// LayerNorm normalizes each example to mean zero and variance one, then applies a factor and a shift to each value (Ba,
// Kiros and Hinton, 2016). The parameters are the factors, followed by the shifts.
type LayerNorm struct{}

// normEps is added to the variance; the value is PyTorch's.
const normEps = 1e-5

// Outputs returns the number of inputs.
func (LayerNorm) Outputs(inputs int) int { return inputs }

// Sizes returns the number of factors and the number of shifts.
func (LayerNorm) Sizes(inputs int) []int { return []int{inputs, inputs} }

// Init sets factors to one and shifts to zero.
func (LayerNorm) Init(params [][]float64, _ int, _ *rand.Rand) {
	clear(params[1])
	for k := range params[0] {
		params[0][k] = 1
	}
}

// moments returns the mean and the inverse standard deviation.
func moments(x []float64) (mean, scale float64) {
	n := float64(len(x))
	mean = sum(x) / n
	squares := 0.0
	for _, v := range x {
		squares += float64((v - mean) * (v - mean))
	}
	return mean, 1 / math.Sqrt(squares/n+normEps)
}

// Forward normalizes an example.
func (LayerNorm) Forward(params [][]float64, x, y []float64) {
	mean, scale := moments(x)
	for k, v := range x {
		y[k] = float64((v-mean)*scale*params[0][k]) + params[1][k]
	}
}

// Backward computes the gradients of factors, shifts and inputs. It removes the components of the gradient that would
// change only the mean or the standard deviation of the inputs.
func (LayerNorm) Backward(params, grads [][]float64, x, _, dy, dx []float64) {
	mean, scale := moments(x)
	plain, along := 0.0, 0.0
	for k, d := range dy {
		unit := (x[k] - mean) * scale
		grads[0][k] += float64(d * unit)
		grads[1][k] += d
		plain += float64(d * params[0][k])
		along += float64(d * params[0][k] * unit)
	}
	n := float64(len(x))
	for k := range dx {
		dx[k] = scale * (float64(dy[k]*params[0][k]) - plain/n - float64((x[k]-mean)*scale*along/n))
	}
}
