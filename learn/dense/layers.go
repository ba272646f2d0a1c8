package dense

import (
	"math"
	"math/rand/v2"
)

// Full is a fully connected layer. Its parameters are a matrix with one row per input, and a bias.
type Full struct {
	Width int // number of outputs
	// standard deviation of the initial weights, which are truncated at two standard deviations; zero means
	// 1/sqrt(inputs)
	Scale float64
	Gain  float64 // gain of an orthogonal initial matrix, which replaces Scale; zero means none
}

// Outputs returns the number of outputs.
func (f Full) Outputs(int) int { return f.Width }

// Sizes returns the number of values in the matrix and in the bias.
func (f Full) Sizes(inputs int) []int { return []int{inputs * f.Width, f.Width} }

// Init initializes the matrix randomly, either as an orthogonal matrix or from a truncated normal distribution. It sets
// the bias to zero.
func (f Full) Init(params [][]float64, inputs int, random *rand.Rand) {
	clear(params[1])
	if f.Gain != 0 {
		orthogonal(params[0], inputs, f.Width, f.Gain, random)
		return
	}
	scale := f.Scale
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(inputs))
	}
	for k := range params[0] {
		v := random.NormFloat64()
		for math.Abs(v) > 2 {
			v = random.NormFloat64()
		}
		params[0][k] = scale * v
	}
}

// orthogonal fills a matrix with orthogonal rows, or columns if there are fewer columns, of length gain and uniformly
// drawn: normal vectors, made orthogonal one after the other (Saxe, McClelland and Ganguli, ICLR 2014).
func orthogonal(w []float64, rows, columns int, gain float64, random *rand.Rand) {
	count, length := rows, columns
	at := func(k, i int) *float64 { return &w[k*columns+i] }
	if columns < rows {
		count, length = columns, rows
		at = func(k, i int) *float64 { return &w[i*columns+k] }
	}
	var done [][]float64
	for k := range count {
		v := make([]float64, length)
		for i := range v {
			v[i] = random.NormFloat64()
		}
		for range 2 { // twice is enough (Giraud, Langou and Rozloznik, 2005)
			for _, u := range done {
				AddScaled(v, -Dot(u, v), u)
			}
		}
		norm := math.Sqrt(Dot(v, v))
		for i := range v {
			v[i] /= norm
			*at(k, i) = gain * v[i]
		}
		done = append(done, v)
	}
}

// Forward implements [Layer]. It skips inputs that are zero. Most inputs are zero after a ReLU, and in the observation
// of a cluster with few jobs.
func (f Full) Forward(params [][]float64, x, y []float64) {
	copy(y, params[1])
	addRows(y, x, 1, params[0], f.Width)
}

// addRows adds rows of a matrix with width columns, limited to the length of y, times every every-th value of x. It
// adds them in order, and skips values that are zero.
func addRows(y, x []float64, every int, w []float64, width int) {
	waiting := 0
	var values [4]float64
	var rows [4][]float64
	for at := 0; len(w) > 0; at += every {
		if v := x[at]; v != 0 {
			values[waiting], rows[waiting] = v, w[:len(y)]
			if waiting++; waiting == 4 {
				addFour(y, values, rows)
				waiting = 0
			}
		}
		w = w[min(width, len(w)):]
	}
	for k := range waiting {
		AddScaled(y, values[k], rows[k])
	}
}

// addFour adds four scaled rows, in the order of AddScaled, with one load and store of y instead of four.
func addFour(y []float64, v [4]float64, rows [4][]float64) {
	a, b, c, d := rows[0][:len(y)], rows[1][:len(y)], rows[2][:len(y)], rows[3][:len(y)]
	for k := range y {
		y[k] = y[k] + float64(v[0]*a[k]) + float64(v[1]*b[k]) + float64(v[2]*c[k]) + float64(v[3]*d[k])
	}
}

// Backward implements [Layer]. It skips inputs that are zero.
func (f Full) Backward(params, grads [][]float64, x, _, dy, dx []float64) {
	AddScaled(grads[1], 1, dy)
	for i, v := range x {
		if v != 0 {
			AddScaled(grads[0][i*f.Width:][:f.Width], v, dy)
		}
	}
	for i := range dx {
		dx[i] = Dot(params[0][i*f.Width:][:f.Width], dy)
	}
}

// AddScaled adds v times x to y. An explicit conversion prevents a fused multiply-add, which some processors would use
// and which rounds differently.
func AddScaled(y []float64, v float64, x []float64) {
	x = x[:len(y)]
	for k := range y {
		y[k] += float64(v * x[k])
	}
}

// Dot returns the dot product of a and b. It computes four interleaved sums, which a processor can compute in parallel.
func Dot(a, b []float64) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	for len(a) >= 4 && len(b) >= 4 {
		s0 += float64(a[0] * b[0])
		s1 += float64(a[1] * b[1])
		s2 += float64(a[2] * b[2])
		s3 += float64(a[3] * b[3])
		a, b = a[4:], b[4:]
	}
	for k, v := range a {
		s0 += float64(v * b[k])
	}
	return s0 + s1 + (s2 + s3)
}

// ReLU sets negative values to zero.
type ReLU struct{}

// Outputs returns the number of inputs.
func (ReLU) Outputs(inputs int) int { return inputs }

// Sizes returns nil: the layer has no parameters.
func (ReLU) Sizes(int) []int { return nil }

// Init does nothing: the layer has no parameters.
func (ReLU) Init([][]float64, int, *rand.Rand) {}

// Forward computes the maximum of each value and zero.
func (ReLU) Forward(_ [][]float64, x, y []float64) {
	for k, v := range x {
		y[k] = max(0, v)
	}
}

// Backward copies the gradients of positive outputs, and sets the other gradients to zero.
func (ReLU) Backward(_, _ [][]float64, _, y, dy, dx []float64) {
	for k := range dx {
		if dx[k] = dy[k]; y[k] <= 0 {
			dx[k] = 0
		}
	}
}

// Tanh is the hyperbolic tangent.
type Tanh struct{}

// Outputs returns the number of inputs.
func (Tanh) Outputs(inputs int) int { return inputs }

// Sizes returns nil: the layer has no parameters.
func (Tanh) Sizes(int) []int { return nil }

// Init does nothing: the layer has no parameters.
func (Tanh) Init([][]float64, int, *rand.Rand) {}

// Forward computes the hyperbolic tangent of each value.
func (Tanh) Forward(_ [][]float64, x, y []float64) { tanhAll(y, x) }

// Backward multiplies the gradients by one minus the squared outputs.
func (Tanh) Backward(_, _ [][]float64, _, y, dy, dx []float64) {
	for k := range dx {
		dx[k] = dy[k] * (1 - float64(y[k]*y[k]))
	}
}

// Affine adds a shift to each value and multiplies the sum by a factor. The parameters are the shifts, followed by the
// factors. The layer equals a batch normalization whose statistics stay at mean zero and variance one.
type Affine struct {
	Eps   float64 // value added to the variance of one
	Noise float64 // standard deviation of the initial factors, whose mean is one
}

// Outputs returns the number of inputs.
func (Affine) Outputs(inputs int) int { return inputs }

// Sizes returns the number of shifts and the number of factors.
func (Affine) Sizes(inputs int) []int { return []int{inputs, inputs} }

// Init initializes factors randomly with mean one, and sets shifts to zero.
func (a Affine) Init(params [][]float64, _ int, random *rand.Rand) {
	clear(params[0])
	for k := range params[1] {
		params[1][k] = 1
		if a.Noise > 0 {
			params[1][k] += float64(a.Noise * random.NormFloat64())
		}
	}
}

// Forward shifts and scales each value.
func (a Affine) Forward(params [][]float64, x, y []float64) {
	unit := 1 / math.Sqrt(1+a.Eps)
	for k, v := range x {
		y[k] = float64(params[1][k]*v*unit) + params[0][k]
	}
}

// Backward computes the gradients of shifts, factors and inputs.
func (a Affine) Backward(params, grads [][]float64, x, _, dy, dx []float64) {
	unit := 1 / math.Sqrt(1+a.Eps)
	for k, d := range dy {
		grads[0][k] += d
		grads[1][k] += float64(d * x[k] * unit)
		if dx != nil {
			dx[k] = d * params[1][k] * unit
		}
	}
}

// Duel combines the value of a state and the advantages of its actions into action values (Wang et al., Dueling Network
// Architectures, ICML 2016). The mean of the action values is the value of the state.
type Duel struct{}

// Outputs returns the number of inputs minus one, because one input is the value of the state.
func (Duel) Outputs(inputs int) int { return inputs - 1 }

// Sizes returns nil: the layer has no parameters.
func (Duel) Sizes(int) []int { return nil }

// Init does nothing: the layer has no parameters.
func (Duel) Init([][]float64, int, *rand.Rand) {}

// Forward reads the value from the first input and the advantages from the others. It subtracts the mean advantage from
// each advantage and adds the value.
func (Duel) Forward(_ [][]float64, x, y []float64) {
	mean := sum(x[1:]) / float64(len(y))
	for k := range y {
		y[k] = x[0] + x[k+1] - mean
	}
}

// Backward computes the gradients of the value and the advantages.
func (Duel) Backward(_, _ [][]float64, _, _, dy, dx []float64) {
	if dx == nil {
		return
	}
	dx[0] = sum(dy)
	mean := dx[0] / float64(len(dy))
	for k, d := range dy {
		dx[k+1] = d - mean
	}
}

func sum(values []float64) (sum float64) {
	for _, v := range values {
		sum += v
	}
	return sum
}
