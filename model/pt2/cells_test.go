package pt2

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model/graph"
	"graft/torch"
	"graft/torch/weights"
)

// A step of a cell computes what LibTorch's layer computes for a sequence of one position.
func TestCellsComputeASequenceOfOnePosition(t *testing.T) {
	for name, c := range map[string]struct {
		gates int
		layer string
		cell  string
	}{
		"lstm_cell.default":     {4, "o, h, c = lstm.input(input=%u, hx=[%s, %s], ", "c"},
		"gru_cell.default":      {3, "o, h = gru.input(input=%u, hx=%s, ", "h"},
		"rnn_tanh_cell.default": {1, "o, h = rnn_tanh.input(input=%u, hx=%s, ", "h"},
		"rnn_relu_cell.default": {1, "o, h = rnn_relu.input(input=%u, hx=%s, ", "h"},
	} {
		t.Run(name, func(t *testing.T) {
			layer := graphOfCell(c.gates)
			for _, line := range []string{
				"u = unsqueeze.default(self=%x, dim=0)", "s = unsqueeze.default(self=%x, dim=0)",
				c.layer + "params=[@w_ih, @w_hh, @b_ih, @b_hh], has_biases=true, num_layers=1, dropout=0.0, " +
					"bidirectional=false, batch_first=false)",
				"y = squeeze.dim(self=%" + c.cell + ", dim=0)"} {
				n, err := graph.ParseNode(line)
				require.NoError(t, err)
				layer.Nodes = append(layer.Nodes, n)
			}
			made := graphOfCell(c.gates)
			b := &builder{out: &graph.Imported{Graph: made}, used: map[graph.Value]bool{}}
			step := &cell{builder: b, names: []string{"y"}}
			state := any(graph.Value("x"))
			if c.gates == 4 {
				state = []any{state, state}
			}
			for arg, value := range map[string]any{"input": graph.Value("x"), "hx": state, "w_ih": graph.Weight("w_ih"),
				"w_hh": graph.Weight("w_hh"), "b_ih": graph.Weight("b_ih"), "b_hh": graph.Weight("b_hh")} {
				step.args.Args = append(step.args.Args, graph.Arg{Name: arg, Value: value})
			}
			results, err := cells[name](step)
			require.NoError(t, err)
			made.Output = results[len(results)-1]
			assert.InDeltaSlice(t, outputOf(t, layer), outputOf(t, made), 1e-6)
		})
	}
}

// graphOfCell is a graph without nodes for a cell whose input and state have three values.
func graphOfCell(gates int) *graph.Graph {
	g := &graph.Graph{Name: "Net", Output: "y", Modules: []graph.Module{{Class: "Net"}},
		Input: graph.Input{Value: "x", DType: weights.Float32, Shape: []graph.Size{{Name: "batch", N: 2}, {N: 3}}}}
	for _, name := range []string{"w_ih", "w_hh", "b_ih", "b_hh"} {
		shape := []int{3 * gates, 3}
		if name[0] == 'b' {
			shape = shape[:1]
		}
		g.Tensors = append(g.Tensors, graph.Tensor{Name: name, Role: graph.Parameter, DType: weights.Float32,
			Shape: shape, Init: "uniform 1"})
	}
	return g
}

// outputOf runs a graph with random weights on random examples.
func outputOf(t *testing.T, g *graph.Graph) (y []float64) {
	set, err := g.Draw(1)
	require.NoError(t, err)
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		n, err := g.Bind(s, torch.CPU, set)
		require.NoError(t, err)
		p, err := n.Program(s, torch.ProgramOptions{})
		require.NoError(t, err)
		x := s.Zeros(torch.Float32, torch.CPU, 2, 3)
		s.Uniform(x, -1, 1, s.NewGenerator(torch.CPU, 2))
		s.NoGrad(func() { y = values(t, s, p.Forward(s, x, false, nil)) })
		return nil
	}))
	return y
}

const reluInPlace = `"torch.ops.aten.relu_.default", "inputs": [{"name": "self", "arg": ` +
	`{"as_tensor": {"name": "linear"}}}`

// withOperator is the sample with another operator instead of its ReLU, with arguments in JSON.
func withOperator(t *testing.T, target, arguments string) (*graph.Imported, error) {
	records := sampleRecords()
	program := strings.ReplaceAll(sampleProgram, "\n", "")
	require.Contains(t, program, reluInPlace)
	other := strings.Replace(reluInPlace, "relu_.default", target, 1)
	if strings.Contains(target, "dropout") {
		other = strings.Replace(other, `"self"`, `"input"`, 1)
	}
	records["models/model.json"] = strings.Replace(program, reluInPlace, other+arguments, 1)
	return readBytes(pack(t, records))
}

// Operators of PyTorch that graft computes by others.
func TestOperatorsThatOthersCompute(t *testing.T) {
	number := func(name, value string) string {
		return `, {"name": "` + name + `", "arg": {"as_float": ` + value + `}}`
	}
	off := func(name string) string { return `, {"name": "` + name + `", "arg": {"as_bool": false}}` }
	for _, c := range []struct{ target, arguments, want, note string }{
		{"floor_divide.Scalar", number("other", "2.0"),
			`div.Tensor_mode(self=%linear, other=2.0, rounding_mode="floor")`, ""},
		{"floor_divide_.Tensor", number("other", "2.0"),
			`div.Tensor_mode(self=%linear, other=2.0, rounding_mode="floor")`, ""},
		{"round.decimals", `, {"name": "decimals", "arg": {"as_int": 2}}`,
			"round.decimals(self=%linear, decimals=2)", ""},
		{"rrelu.default", number("lower", "0.25") + number("upper", "0.5") + off("training"),
			"leaky_relu.default(self=%linear, negative_slope=0.375)", "with this constant slope"},
		{"rrelu_.default", "", "leaky_relu.default(self=%linear, negative_slope=0.22916666666666666)", "slope"},
		{"alpha_dropout.default", number("p", "0.5") + off("train"), "alias.default(self=%linear)", "without dropout"},
		{"feature_alpha_dropout.default", number("p", "0.5") + off("train"), "alias.default(self=%linear)", "without"},
	} {
		net, err := withOperator(t, c.target, c.arguments)
		require.NoError(t, err, c.target)
		require.Equal(t, "relu_ = "+c.want+" in act", net.Graph.Nodes[2].String(), c.target)
		if c.note != "" {
			require.Contains(t, strings.Join(net.Notes, "\n"), c.note, c.target)
		}
	}
	for target, mode := range map[string]string{"rrelu.default": "training", "alpha_dropout.default": "train"} {
		_, err := withOperator(t, target, `, {"name": "`+mode+`", "arg": {"as_bool": true}}`)
		require.ErrorContains(t, err, "call eval() of the network before the export", target)
	}
}
