package graph

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/torch"
)

// Each operator that graft supports has a rule for its shapes, so that no network needs to state them.
func TestEachOperatorHasAShapeRule(t *testing.T) {
	text, err := os.ReadFile("trial/testdata/schemas.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "aten::"), "(")
		op, overload, _ := strings.Cut(name, ".")
		if overload == "" {
			overload = "default"
		}
		n := Node{Operator: op + "." + overload}
		if torch.KnowsOperator(n.Operator) && !n.Sizes() {
			require.NotNil(t, shapeRules[op], line)
		}
	}
}

// Shapes of operators that sort, cut windows or multiply in other ways.
func TestMoreShapesAsLibTorch(t *testing.T) {
	for name, c := range moreCases {
		c.check(t, name)
	}
}

var moreCases = map[string]shapeCase{
	"dot":                  {[]int{3}, "w 3", "y = dot.default(self=%x, tensor=@w)", []int{}, ""},
	"dot of other lengths": {[]int{3}, "w 4", "y = dot.default(self=%x, tensor=@w)", nil, "vectors of equal length"},
	"mv":                   {[]int{2, 3}, "w 3", "y = mv.default(self=%x, vec=@w)", []int{2}, ""},
	"mv of other lengths":  {[]int{2, 3}, "w 2", "y = mv.default(self=%x, vec=@w)", nil, "cannot multiply a matrix"},
	"bilinear": {[]int{2, 5, 3}, "b 2x5x4 w 6x3x4 c 6",
		"y = bilinear.default(input1=%x, input2=@b, weight=@w, bias=@c)", []int{2, 5, 6}, ""},
	"bilinear of other features": {[]int{2, 3}, "b 2x3 w 6x3x4",
		"y = bilinear.default(input1=%x, input2=@b, weight=@w)", nil, "do not fit the weight"},
	"distances": {[]int{2, 5, 3}, "b 4x1x7x3", "y = cdist.default(x1=%x, x2=@b)", []int{4, 2, 5, 7}, ""},
	"distances of other lengths": {[]int{5, 3}, "b 7x4", "y = cdist.default(x1=%x, x2=@b)", nil,
		"rows of equal length"},
	"cosines": {[]int{2, 3, 4}, "b 3x1", "y = cosine_similarity.default(x1=%x, x2=@b, dim=-1)", []int{2, 3}, ""},
	"cosines of dimension 1": {[]int{2, 3, 4}, "b 2x3x4", "y = cosine_similarity.default(x1=%x, x2=@b)", []int{2, 4},
		""},
	"einsum": {[]int{2, 3, 4, 5}, "", "y = einsum.default(equation=\"bchw,bdhw->bcd\", tensors=[%x, %x])",
		[]int{2, 3, 3}, ""},
	"einsum without a result": {[]int{2, 3}, "w 3x4", "y = einsum.default(equation=\"zj, jA\", tensors=[%x, @w])",
		[]int{4, 2}, ""},
	"einsum of a diagonal": {[]int{3, 3}, "", "y = einsum.default(equation=\"ii->i\", tensors=[%x])", []int{3}, ""},
	"einsum of all values": {[]int{2, 3}, "", "y = einsum.default(equation=\"ij->\", tensors=[%x])", []int{}, ""},
	"einsum with a broadcast size": {[]int{2, 1}, "w 3x4",
		"y = einsum.default(equation=\"ij,jk->ijk\", tensors=[%x, @w])",
		[]int{2, 3, 4}, ""},
	"einsum of other sizes": {[]int{2, 5}, "w 3x4", "y = einsum.default(equation=\"ij,jk->ik\", tensors=[%x, @w])", nil,
		"has the sizes 5 and 3"},
	"einsum with too few letters": {[]int{2, 5}, "", "y = einsum.default(equation=\"i->i\", tensors=[%x])", nil,
		"expected 1 dimensions"},
	"einsum with an unknown result": {[]int{2, 5}, "", "y = einsum.default(equation=\"ij->k\", tensors=[%x])", nil,
		"must have letters of the operands"},
	"diagonal": {[]int{2, 3, 4}, "", "y = diagonal.default(self=%x, offset=1, dim1=1, dim2=2)", []int{2, 3}, ""},
	"diagonal below": {[]int{5, 3, 4}, "", "y = diagonal.default(self=%x, offset=-1, dim1=0, dim2=-1)", []int{3, 4},
		""},
	"diagonal outside":          {[]int{5, 3, 4}, "", "y = diagonal.default(self=%x, offset=9)", []int{4, 0}, ""},
	"diagonal of one dimension": {[]int{5, 3}, "", "y = diagonal.default(self=%x, dim1=1, dim2=-1)", nil, "both 1"},
	"unfold": {[]int{2, 10, 3}, "", "y = unfold.default(self=%x, dimension=1, size=3, step=2)",
		[]int{2, 4, 3, 3}, ""},
	"unfold of large windows": {[]int{2, 3}, "", "y = unfold.default(self=%x, dimension=1, size=4, step=1)", nil,
		"windows of 4 values"},
	"topk": {[]int{2, 5, 3}, "", "v, y = topk.default(self=%x, k=2, dim=1); z = relu.default(self=%v)",
		[]int{2, 2, 3}, ""},
	"topk of too many": {[]int{2, 3}, "", "v, y = topk.default(self=%x, k=4)", nil, "k is 4"},
	"linspace":         {[]int{2, 3}, "", "y = linspace.default(start=-1, end=1.5, steps=7)", []int{7}, ""},
	"grid": {[]int{4}, "a 2", "u, v = meshgrid.default(tensors=[@a, %x]); y = add.Tensor(self=%u, other=%v)",
		[]int{2, 4}, ""},
	"grid of columns": {[]int{4}, "a 2 b 3", "u, v, w = meshgrid.indexing(tensors=[@a, %x, @b], indexing=\"xy\"); " +
		"y = add.Tensor(self=%u, other=%w)", []int{4, 2, 3}, ""},
	"grid of matrices": {[]int{4, 2}, "a 2", "u, v = meshgrid.default(tensors=[@a, %x])", nil, "expected vectors"},
	"weight norm":      {[]int{2, 3, 4}, "g 2x1x1", "y = _weight_norm.default(v=%x, g=@g, dim=0)", []int{2, 3, 4}, ""},
	"samples of a grid": {[]int{2, 3, 8, 8}, "g 2x5x6x2", "y = grid_sampler.default(input=%x, grid=@g, " +
		"interpolation_mode=0, padding_mode=0, align_corners=false)", []int{2, 3, 5, 6}, ""},
	"samples of another grid": {[]int{2, 3, 8, 8}, "g 1x5x6x2", "y = grid_sampler.default(input=%x, grid=@g, " +
		"interpolation_mode=0, padding_mode=0, align_corners=false)", nil, "the grid of shape [1, 5, 6, 2]"},
	"columns of images": {[]int{2, 3, 8, 9}, "", "y = im2col.default(self=%x, kernel_size=[3, 2], dilation=[2, 1], " +
		"padding=[1, 0], stride=[1, 2])", []int{2, 18, 24}, ""},
	"columns of small images": {[]int{2, 3, 2, 2}, "", "y = im2col.default(self=%x, kernel_size=[3, 3], " +
		"dilation=[1, 1], padding=[0, 0], stride=[1, 1])", nil, "covers 3 values"},
	"images of columns": {[]int{2, 18, 24}, "", "y = col2im.default(self=%x, output_size=[8, 9], kernel_size=[3, 2], " +
		"dilation=[2, 1], padding=[1, 0], stride=[1, 2])", []int{2, 3, 8, 9}, ""},
	"images of other columns": {[]int{2, 18, 23}, "", "y = col2im.default(self=%x, output_size=[8, 9], " +
		"kernel_size=[3, 2], dilation=[2, 1], padding=[1, 0], stride=[1, 2])", nil, "24 columns"},
	"largest values of regions": {[]int{2, 3, 8, 9}, "",
		"y, k = adaptive_max_pool2d.default(self=%x, output_size=[2, 4]); z = relu.default(self=%y)",
		[]int{2, 3, 2, 4}, ""},
	"largest values of parts": {[]int{2, 3, 8}, "",
		"y, k = adaptive_max_pool1d.default(self=%x, output_size=[5]); z = relu.default(self=%y)", []int{2, 3, 5}, ""},
}
