package graph

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/torch/weights"
)

// netOf returns a network that runs the given operators on an input x of float32. Tensors are named with their shapes,
// such as "w 4x3 b 4", and hold float32.
func netOf(t testing.TB, x []int, tensors string, lines ...string) *Graph {
	g := &Graph{Name: "Net", Input: Input{"x", weights.Float32, nil}, Modules: []Module{{Class: "Net"}}}
	for k, size := range x {
		g.Input.Shape = append(g.Input.Shape, Size{Name: []string{"batch", ""}[min(k, 1)], N: size})
	}
	for pair := range slices.Chunk(strings.Fields(tensors), 2) {
		w := Tensor{Name: pair[0], Role: Parameter, DType: weights.Float32}
		for size := range strings.SplitSeq(pair[1], "x") {
			n, err := strconv.Atoi(size)
			require.NoError(t, err)
			w.Shape = append(w.Shape, n)
		}
		g.Tensors = append(g.Tensors, w)
	}
	for _, line := range lines {
		n, err := ParseNode(line)
		require.NoError(t, err, line)
		g.Nodes = append(g.Nodes, n)
		g.Output = n.Results[0]
	}
	require.NoError(t, g.Check(), lines)
	return g
}

// Products count a multiply and an add per product of two values, and an add per value of the bias.
func TestProductsAreCounted(t *testing.T) {
	const batch = 2
	for name, c := range map[string]struct {
		x       []int
		tensors string
		line    string
		want    int64 // for one example
	}{
		"transposed convolution": {[]int{batch, 4, 5, 5}, "w 4x6x2x2",
			"y = conv_transpose2d.input(input=%x, weight=@w, stride=[2, 2])", 2 * 4 * 25 * 6 * 4},
		"transposed convolution with a bias": {[]int{batch, 4, 5, 5}, "w 4x6x2x2 b 6",
			"y = conv_transpose2d.input(input=%x, weight=@w, bias=@b, stride=[2, 2])", 2*4*25*6*4 + 6*100},
		"transposed convolution in groups": {[]int{batch, 4, 5}, "w 4x3x2",
			"y = conv_transpose1d.default(input=%x, weight=@w, groups=2)", 2 * 4 * 5 * 3 * 2},
		"baddbmm": {[]int{batch, 3, 5}, "b 2x5x7 c 3x7",
			"y = baddbmm.default(self=@c, batch1=%x, batch2=@b)", 2*3*5*7 + 3*7},
		"mv":  {[]int{batch, 5}, "w 5", "y = mv.default(self=%x, vec=@w)", 2 * 5},
		"dot": {[]int{batch}, "w 2", "y = dot.default(self=%x, tensor=@w)", 2},
		"einsum": {[]int{batch, 3, 5}, "w 5x7", "y = einsum.default(equation=\"bij,jk->bik\", tensors=[%x, @w])",
			2 * 3 * 5 * 7},
		"bilinear": {[]int{batch, 3}, "z 2x4 w 6x3x4 b 6",
			"y = bilinear.default(input1=%x, input2=@z, weight=@w, bias=@b)", 2*6*3*4 + 6},
		"flip":            {[]int{batch, 3, 4}, "", "y = flip.default(self=%x, dims=[1])", 0},
		"reflected edges": {[]int{batch, 3, 4}, "", "y = reflection_pad1d.default(self=%x, padding=[1, 1])", 0},
		"pixel shuffle":   {[]int{batch, 4, 2, 2}, "", "y = pixel_shuffle.default(self=%x, upscale_factor=2)", 0},
		"new zeros":       {[]int{batch, 4}, "", "y = new_zeros.default(self=%x, size=[5])", 0},
		"conversion":      {[]int{batch, 4}, "", "y = _to_copy.default(self=%x, dtype=float64)", 0},
		"distances":       {[]int{batch, 3, 4}, "w 5x4", "y = cdist.default(x1=%x, x2=@w)", 3 * 4 * 3 * 5},
	} {
		counts, err := netOf(t, c.x, c.tensors, c.line).Operations()
		require.NoError(t, err, name)
		require.Equal(t, []int64{c.want}, counts, name)
	}
}
