package graph_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/model/graph"
	"graft/torch/weights"
)

// A kernel that does not fit its input is refused, as in PyTorch, and so is a wrong number of channels.
func TestKernelsFitTheirInput(t *testing.T) {
	type call struct {
		operator         string
		size, kernel     int
		stride, padding  int
		dilation, inputs int
	}
	for name, c := range map[string]struct {
		call
		out   int
		fault string
	}{
		"a kernel of the size of the input": {call{"conv2d.default", 2, 2, 2, 0, 1, 8}, 1, ""},
		"a kernel with padding":             {call{"conv2d.default", 1, 3, 2, 1, 1, 8}, 1, ""},
		"a larger kernel":                   {call{"conv2d.default", 1, 2, 2, 0, 1, 8}, 0, "covers 2 values"},
		"a dilated kernel":                  {call{"conv2d.default", 4, 3, 1, 0, 2, 8}, 0, "covers 5 values"},
		"other channels":                    {call{"conv2d.default", 4, 3, 1, 0, 1, 4}, 0, "got 8 channels"},
		"a pool":                            {call{"max_pool2d.default", 4, 2, 2, 0, 1, 8}, 2, ""},
		"a larger pool":                     {call{"max_pool2d.default", 2, 3, 2, 0, 1, 8}, 0, "covers 3 values"},
		"a larger pool, ceil":               {call{"max_pool2d.ceil", 2, 3, 2, 0, 1, 8}, 1, ""},
		"a much larger pool, ceil":          {call{"max_pool2d.ceil", 2, 5, 2, 0, 1, 8}, 0, "covers 5 values"},
		"a larger pool, ceil, stride 1":     {call{"max_pool2d.ceil", 2, 3, 1, 0, 1, 8}, 0, "covers 3 values"},
		"a mean of all values, ceil":        {call{"avg_pool2d.ceil", 32, 33, 2, 0, 1, 8}, 1, ""},
		"a last window in the padding":      {call{"max_pool2d.ceil", 3, 2, 2, 1, 1, 8}, 2, ""},
		"a last window half outside":        {call{"max_pool2d.ceil", 6, 3, 2, 0, 1, 8}, 3, ""},
	} {
		b := graph.NewBuilder("Net", graph.Input{Value: "x", DType: weights.Float32,
			Shape: []graph.Size{{Name: "batch", N: 2}, {N: 8}, {N: c.size}, {N: c.size}}}, weights.Float32)
		both := func(n int) []int { return []int{n, n} }
		operator, ceil := strings.CutSuffix(c.operator, ".ceil")
		if ceil {
			operator += ".default"
		}
		arguments := []any{"kernel_size", both(c.kernel), "ceil_mode", ceil}
		if c.operator == "conv2d.default" {
			arguments = []any{"weight", b.Parameter("weight", "", 16, c.inputs, c.kernel, c.kernel)}
		}
		y := b.Call(operator, append([]any{"input", graph.Value("x"), "stride", both(c.stride), "padding",
			both(c.padding), "dilation", both(c.dilation)}, arguments...)...)
		sizes, err := b.Graph.Sizes()
		if c.fault != "" {
			require.ErrorContains(t, err, c.fault, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, c.out, sizes.Of(y)[2], name)
	}
}
