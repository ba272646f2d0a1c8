package bilstm

import (
	"fmt"
	"math"
	"slices"

	"graft/torch/weights"
)

// LSTM computes one direction of a long short-term memory with weights in PyTorch's layout. In addition to the LSTM of
// Hochreiter and Schmidhuber (1997), it has the forget gate of Gers, Schmidhuber and Cummins (2000) and separate biases
// for the input and the state. Create it with [ReadLSTM].
type LSTM struct {
	input, state *Affine // rows: the input, forget, cell and output gates
}

// ReadLSTM returns an LSTM with weights and biases from a set. The names of the tensors begin with the argument name
// and end with the argument ending.
func ReadLSTM(set *weights.Set, name, ending string) (*LSTM, error) {
	input, err := ReadAffine(set, name+".weight_ih_l0"+ending, name+".bias_ih_l0"+ending)
	if err != nil {
		return nil, err
	}
	state, err := ReadAffine(set, name+".weight_hh_l0"+ending, name+".bias_hh_l0"+ending)
	if err != nil {
		return nil, err
	}
	if input.Out != state.Out || state.Out != gates*state.In {
		return nil, fmt.Errorf("%s%s has %d rows in the input weights and %d rows in the state weights, "+
			"for a state of size %d; expected 4 rows per state value in both", name, ending, input.Out, state.Out,
			state.In)
	}
	return &LSTM{input: input, state: state}, nil
}

// gates of a cell.
const gates = 4

// In returns the number of inputs per step.
func (l *LSTM) In() int { return l.input.In }

// Hidden returns the number of values in the hidden state.
func (l *LSTM) Hidden() int { return l.state.In }

// Run reads a sequence, starting from a zero state. It returns the hidden state after each step and the final cell
// state.
func (l *LSTM) Run(sequence [][]float32) (states [][]float32, cells []float32) {
	state, cells := make([]float32, l.Hidden()), make([]float32, l.Hidden())
	for _, x := range sequence {
		state = l.step(x, state, cells)
		states = append(states, state)
	}
	return states, cells
}

// step changes the cells and returns the new state.
func (l *LSTM) step(x, state, cells []float32) []float32 {
	a, b, n := l.input.Apply(x), l.state.Apply(state), l.Hidden()
	next := make([]float32, n)
	for k := range next {
		gate := func(which int) float64 { return float64(a[which*n+k]) + float64(b[which*n+k]) }
		cells[k] = float32(sigmoid(gate(1))*float64(cells[k]) + sigmoid(gate(0))*math.Tanh(gate(2)))
		next[k] = float32(sigmoid(gate(3)) * math.Tanh(float64(cells[k])))
	}
	return next
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// Affine computes a weight matrix times its input, plus a bias. Create it with [ReadAffine].
type Affine struct {
	In, Out      int // numbers of inputs and outputs
	weight, bias []float32
}

// ReadAffine returns an Affine with a weight and a bias from a set.
func ReadAffine(set *weights.Set, weight, bias string) (*Affine, error) {
	w, shape, err := tensor(set, weight, 2)
	if err != nil {
		return nil, err
	}
	b, length, err := tensor(set, bias, 1)
	if err != nil {
		return nil, err
	}
	if length[0] != shape[0] {
		return nil, fmt.Errorf("%s has %d values; expected %d, one for each row of %s", bias, length[0], shape[0],
			weight)
	}
	return &Affine{In: int(shape[1]), Out: int(shape[0]), weight: w, bias: b}, nil
}

// tensor finds finite numbers with a number of dimensions, none of them empty.
func tensor(set *weights.Set, name string, dimensions int) ([]float32, []int64, error) {
	t, ok := set.Find(name)
	if !ok {
		return nil, nil, fmt.Errorf("tensor %s is missing", name)
	}
	if t.DType != weights.Float32 || len(t.Shape) != dimensions || t.Count() == 0 {
		return nil, nil, fmt.Errorf("tensor %s has type %s and shape %v; expected type float32 and %d dimensions", name,
			t.DType, t.Shape, dimensions)
	}
	values, err := t.Float32s()
	if err != nil {
		return nil, nil, err
	}
	if slices.ContainsFunc(values,
		func(x float32) bool { return math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) }) {
		return nil, nil, fmt.Errorf("%s has numbers that are not finite", name)
	}
	return values, t.Shape, nil
}

// Apply returns the weight times x, plus the bias. The length of x must be In.
func (a *Affine) Apply(x []float32) []float32 {
	out := make([]float32, a.Out)
	for row := range out {
		sum := float64(a.bias[row])
		for k, w := range a.weight[row*a.In : (row+1)*a.In] {
			sum += float64(w) * float64(x[k])
		}
		out[row] = float32(sum)
	}
	return out
}
