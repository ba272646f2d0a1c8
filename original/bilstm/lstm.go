package bilstm

import (
	"fmt"
	"math"

	"graft/torch/weights"
)

// LSTM implements one direction of a long short-term memory as PyTorch stores it:
// Hochreiter and Schmidhuber (1997) with the forget gate of Gers, Schmidhuber and
// Cummins (2000), and a bias for the input as for the state. ReadLSTM makes it.
type LSTM struct {
	input, state *Affine // rows: the input, forget, cell and output gates
}

// ReadLSTM takes NAME.weight_ih_l0, weight_hh_l0, bias_ih_l0 and bias_hh_l0 with an
// ending out of a set.
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
		return nil, fmt.Errorf("%s%s has %d rows for its input, and %d for a state of %d; both must be four times the state", name, ending, input.Out, state.Out, state.In)
	}
	return &LSTM{input: input, state: state}, nil
}

// gates of a cell.
const gates = 4

// In returns the number of inputs of a step.
func (l *LSTM) In() int { return l.input.In }

// Hidden returns the size of the state.
func (l *LSTM) Hidden() int { return l.state.In }

// Run reads a sequence from the state zero. It returns the state after each step,
// and the cells after the last one.
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
