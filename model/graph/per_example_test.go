package graph

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The batch can be part of any dimension. A result that does not depend on it counts all dimensions except the first.
func TestValuesAreCountedPerExample(t *testing.T) {
	for line, want := range map[string]int64{
		"y = relu.default(self=%x)":                        12,
		"y = permute.default(self=%x, dims=[1, 0, 2])":     12,
		"y = reshape.default(self=%x, shape=[-1, 4])":      12,
		"y = reshape.default(self=%x, shape=[1, -1, 2])":   12,
		"y = reshape.default(self=%x, shape=[-1])":         12,
		"y = reshape.default(self=%x, shape=[6, 4])":       12, // fixed to a batch of 2
		"y = select.int(self=%x, dim=1, index=0)":          4,
		"y = zeros.default(size=[3, 3])":                   3,
		"y = arange.default(end=7)":                        0,
		"y = mean.dim(self=%x, dim=[1, 2])":                0,
		"y = mean.default(self=%x)":                        0,
		"y = new_zeros.default(self=%x, size=[1, %n, 64])": 64,
		"y = cat.default(tensors=[%m, %x, %x])":            24,
		"y = linear.default(input=%x, weight=@w)":          15,
		"y = transpose.int(self=%x, dim0=0, dim1=2)":       12,
	} {
		g := netOf(t, []int{2, 3, 4}, "w 5x4", "n = sym_size.int(self=%x, dim=0)",
			"m = zeros.default(size=[1, 3, 4])", line)
		sizes, err := g.Sizes()
		require.NoError(t, err, line)
		require.Equal(t, want, sizes.PerExample("y"), line)
	}
}
