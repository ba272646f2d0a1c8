package pt2

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/model/graph"
)

// passing imports the sample with another operator in place of its ReLU, with a result of these sizes and this type.
func passing(t *testing.T, operator, sizes, dtype string) (*graph.Imported, error) {
	records := sampleRecords()
	program := strings.Replace(sampleProgram, "torch.ops.aten.relu_.default", operator, 1)
	program = strings.Replace(program, `"tensor_values": {`, `"tensor_values": {"relu_": {"dtype": `+dtype+
		`, "sizes": [`+sizes+`], "strides": [], "storage_offset": {"as_int": 0}, "layout": 7},`, 1)
	records["models/model.json"] = program
	return readBytes(pack(t, records))
}

// symbol is the batch size as PyTorch writes it.
const symbol = `Symbol('s77', positive=True, integer=True)`

func sized(expression string) string {
	return `{"as_expr": {"expr_str": "` + expression + `", "hint": {"as_int": 3}}}, {"as_int": 2}`
}

// A functional operator unknown to graft is passed on to LibTorch, with the shape that the archive states.
func TestUnknownOperatorsArePassedOn(t *testing.T) {
	for expression, shape := range map[string]string{symbol: "[batch, 2]",
		"Mul(Integer(4), " + symbol + ")": "[4*batch, 2]"} {
		net, err := passing(t, "torch.ops.aten.special_i0e.default", sized(expression), "7")
		require.NoError(t, err)
		require.Equal(t, "relu_ = special_i0e.default(self=%linear) -> "+shape+" in act", net.Graph.Nodes[2].String())
		require.Contains(t, strings.Join(net.Notes, "\n"), "on to LibTorch")
	}
	for what, c := range map[string][3]string{
		"another size":    {"torch.ops.aten.special_i0e.default", sized("Add(" + symbol + ", Integer(1))"), "7"},
		"a complex type":  {"torch.ops.aten.special_i0e.default", sized(symbol), "10"},
		"a random result": {"torch.ops.aten.rand_like.default", sized(symbol), "7"},
		"a custom one":    {"torch.ops.mine.special_i0e.default", sized(symbol), "7"},
		"in place":        {"torch.ops.aten.special_i0e_.default", sized(symbol), "7"},
	} {
		_, err := passing(t, c[0], c[1], c[2])
		var unmapped graph.Unmapped
		require.True(t, errors.As(err, &unmapped), "%s: %v", what, err)
	}
}
