package graph

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"graft/torch"
)

// shapeCase is a network with the shape of its output, or the fault that refuses it.
type shapeCase struct {
	x       []int
	tensors string
	lines   string // operators, separated by semicolons
	out     []int
	fault   string
}

// ran returns the shape of the output that LibTorch computes.
func ran(g *Graph) (shape []int, err error) {
	return shape, torch.With(func(s *torch.Scope) error {
		program, err := g.compile(s, g.zeros())
		if err != nil {
			return err
		}
		s.NoGrad(func() {
			shape = program.Forward(s, s.Zeros(torch.Float32, torch.CPU, g.Input.Dims()...), false, nil).Shape()
		})
		return s.Err()
	})
}

// check compares a case with the inferred shape and with LibTorch, which must refuse the same networks.
func (c shapeCase) check(t *testing.T, name string) {
	g := netOf(t, c.x, c.tensors, strings.Split(c.lines, "; ")...)
	shapes, err := g.Shapes()
	real, refused := ran(g)
	if c.fault != "" {
		assert.ErrorContains(t, err, c.fault, name)
		assert.Error(t, refused, name)

		return
	}
	if assert.NoError(t, err, name) && assert.NoError(t, refused, name) {
		assert.Equal(t, c.out, shapes[g.Output], name)
		assert.Equal(t, c.out, real, "LibTorch: %s", name)
	}
}

// Shapes with sizes that are computed in unusual ways.
func TestShapesAsLibTorch(t *testing.T) {
	for name, c := range map[string]shapeCase{
		"range backwards": {[]int{1, 5}, "", "a = arange.start_step(start=5, end=0, step=-2, dtype=float32)",
			[]int{3}, ""},
		"range with a fractional step": {[]int{1, 6}, "", "a = arange.start_step(start=0, end=3, step=0.5)",
			[]int{6}, ""},
		"range with a fractional end":   {[]int{1, 3}, "", "a = arange.default(end=2.5)", []int{3}, ""},
		"range with a fractional start": {[]int{1, 3}, "", "a = arange.start(start=0.5, end=2.6)", []int{3}, ""},
		"whole range of fractions": {[]int{1, 3}, "", "a = arange.start(start=0.5, end=2.6, dtype=int64)",
			[]int{2}, ""},
		"empty range": {[]int{1, 3}, "", "a = arange.start(start=2, end=2)", []int{0}, ""},
		"range in the wrong direction": {[]int{1, 3}, "", "a = arange.start(start=2, end=0)", nil,
			"the step must have the sign of the difference"},
		"whole scale factors": {[]int{1, 2, 4, 5}, "",
			"y = upsample_nearest2d.vec(input=%x, output_size=none, scale_factors=[2, 3])", []int{1, 2, 8, 15}, ""},
		"fractional scale factors": {[]int{1, 2, 10, 7}, "",
			"y = upsample_nearest2d.vec(input=%x, output_size=none, scale_factors=[0.7, 1.5])", []int{1, 2, 7, 10}, ""},
		"outputs of a projected LSTM": {[]int{2, 3, 4}, projected, projectedLSTM + "; z = relu.default(self=%y)",
			[]int{2, 3, 2}, ""},
		"state of a projected LSTM": {[]int{2, 3, 4}, projected, projectedLSTM + "; z = relu.default(self=%h)",
			[]int{1, 2, 2}, ""},
		"cell state of a projected LSTM": {[]int{2, 3, 4}, projected, projectedLSTM + "; z = relu.default(self=%c)",
			[]int{1, 2, 5}, ""},
		"LSTM for other features": {[]int{2, 3, 7}, projected, projectedLSTM, nil, "got 7 features, expected 4"},
		"clamp to larger tensors": {[]int{1, 3}, "w 2x3", "y = clamp.Tensor(self=%x, min=@w)", []int{2, 3}, ""},
		"clamp to numbers": {[]int{1, 3}, "", "y = clamp.default(self=%x, min=0, max=1)", []int{1, 3},
			""},
		"vector of weights": {[]int{2, 3}, "w 3", "y = linear.default(input=%x, weight=@w)", []int{2}, ""},
		"vector of weights for sequences": {[]int{2, 5, 3}, "w 3", "y = linear.default(input=%x, weight=@w)",
			[]int{2, 5}, ""},
		"convolution without a batch": {[]int{3, 8}, "w 4x3x3", "y = conv1d.default(input=%x, weight=@w)",
			[]int{4, 6}, ""},
		"pool without a batch": {[]int{3, 8}, "", "y = max_pool1d.default(self=%x, kernel_size=[3])",
			[]int{3, 2}, ""},
		"one number of an adaptive pool": {[]int{2, 3, 8, 8}, "",
			"y = adaptive_avg_pool2d.default(self=%x, output_size=[2, 3])", []int{2, 3, 2, 3}, ""},
		"dilated transposed convolution with more output": {[]int{1, 2, 4, 4}, "w 2x3x3x3",
			"y = conv_transpose2d.input(input=%x, weight=@w, output_padding=[1, 1], dilation=[2, 2])",
			[]int{1, 3, 9, 9}, ""},
		"concatenation with an empty tensor": {[]int{2, 3}, "", "e = zeros.default(size=[0]); " +
			"y = cat.default(tensors=[%e, %x])", []int{2, 3}, ""},
		"expansion with open sizes": {[]int{1, 3}, "", "y = expand.default(self=%x, size=[4, 2, -1])", []int{4, 2, 3},
			""},
		"narrow from the end": {[]int{2, 6}, "", "y = narrow.default(self=%x, dim=1, start=-3, length=2)",
			[]int{2, 2}, ""},
		"attention with other values": {[]int{2, 2, 5, 8}, "k 2x2x7x8 v 2x2x7x4",
			"y = scaled_dot_product_attention.default(query=%x, key=@k, value=@v)", []int{2, 2, 5, 4}, ""},
		"attention of a single query batch": {[]int{1, 1, 5, 8}, "k 3x2x7x8 v 3x2x7x8",
			"y = scaled_dot_product_attention.default(query=%x, key=@k, value=@v)", []int{3, 2, 5, 8}, ""},
		"attention with fewer heads of keys": {[]int{2, 8, 5, 8}, "k 2x2x7x8 v 2x2x7x4",
			"y = scaled_dot_product_attention.default(query=%x, key=@k, value=@v, enable_gqa=true)",
			[]int{2, 8, 5, 4}, ""},
	} {
		c.check(t, name)
	}
}

// projected are the weights of an LSTM with proj_size=2, and projectedLSTM runs it.
const (
	projected     = "wi 20x4 wh 20x2 wr 2x5 h0 1x2x2 c0 1x2x5"
	projectedLSTM = "y, h, c = lstm.input(input=%x, hx=[@h0, @c0], params=[@wi, @wh, @wr], has_biases=false, " +
		"num_layers=1, dropout=0.0, train=false, bidirectional=false, batch_first=true)"
)

// Arguments that PyTorch refuses are refused when shapes are inferred.
func TestShapesThatLibTorchRefuses(t *testing.T) {
	for name, c := range refusedCases {
		c.check(t, name)
	}
}

var imageSizes = []int{1, 4, 5, 5}

var refusedCases = map[string]shapeCase{
	"concatenation of other sizes": {[]int{2, 3}, "w 2x4", "y = cat.default(tensors=[%x, @w])", nil,
		"cannot concatenate the shapes [2, 3], [2, 4]"},
	"concatenation of other dimensions": {[]int{2, 3}, "w 3", "y = cat.default(tensors=[%x, @w])", nil,
		"cannot concatenate"},
	"stack of other sizes": {[]int{2, 3}, "w 2x4", "y = stack.default(tensors=[%x, @w])", nil, "cannot stack"},
	"expansion of a size above 1": {[]int{1, 3}, "", "y = expand.default(self=%x, size=[1, 4])", nil,
		"cannot be expanded to [1, 4]"},
	"expansion to fewer dimensions": {[]int{1, 3}, "", "y = expand.default(self=%x, size=[3])", nil,
		"cannot be expanded"},
	"expansion as a smaller tensor": {[]int{2, 3}, "w 1x3", "y = expand_as.default(self=%x, other=@w)", nil,
		"cannot be expanded"},
	"parts with a smaller sum": {[]int{1, 5}, "",
		"y, z = split_with_sizes.default(self=%x, split_sizes=[2, 2], dim=1)", nil, "have the sum 4, expected 5"},
	"narrow beyond the end": {[]int{2, 3}, "", "y = narrow.default(self=%x, dim=1, start=2, length=5)", nil,
		"got 5 values from index 2"},
	"selection beyond the end": {[]int{2, 3}, "", "y = select.int(self=%x, dim=1, index=3)", nil,
		"index 3 is out of range"},
	"selection before the start": {[]int{2, 3}, "", "y = select.int(self=%x, dim=1, index=-4)", nil,
		"index -4 is out"},
	"batches of other sizes": {[]int{1, 2, 3}, "w 4x3x5", "y = bmm.default(self=%x, mat2=@w)", nil,
		"equal batches"},
	"bmm of matrices": {[]int{2, 3}, "w 3x5", "y = bmm.default(self=%x, mat2=@w)", nil,
		"expected 3 dimensions"},
	"mm of batches": {[]int{1, 2, 3}, "w 1x3x5", "y = mm.default(self=%x, mat2=@w)", nil,
		"expected 2 dimensions"},
	"mm of other sizes": {[]int{2, 3}, "w 4x5", "y = mm.default(self=%x, mat2=@w)", nil,
		"cannot multiply"},
	"addmm with another summand": {[]int{2, 3}, "w 3x5 b 7",
		"y = addmm.default(self=@b, mat1=%x, mat2=@w)", nil, "the summand of shape [7]"},
	"baddbmm with other batches": {[]int{1, 2, 3}, "w 4x3x5 b 5",
		"y = baddbmm.default(self=@b, batch1=%x, batch2=@w)", nil, "equal batches"},
	"linear with another bias": {[]int{2, 3}, "w 4x3 b 5", "y = linear.default(input=%x, weight=@w, bias=@b)", nil,
		"the bias of shape [5]"},
	"transposed convolution of other channels": {imageSizes, "w 3x2x3x3",
		"y = conv_transpose2d.input(input=%x, weight=@w)", nil, "got 4 channels in 1 groups, expected 3"},
	"output padding of a stride": {imageSizes, "w 4x2x3x3", "y = conv_transpose2d.input(input=%x, weight=@w, " +
		"output_padding=[1, 1])", nil, "output_padding is 1, expected less than the stride of 1"},
	"transposed convolution with an empty result": {[]int{1, 4, 1, 1}, "w 4x2x2x2",
		"y = conv_transpose2d.input(input=%x, weight=@w, padding=[1, 1])", nil, "removes the whole result"},
	"output channels that do not divide into groups": {imageSizes, "w 3x2x3x3",
		"y = conv2d.default(input=%x, weight=@w, groups=2)", nil, "the 3 output channels cannot be divided"},
	"same with a stride": {imageSizes, "w 4x4x3x3",
		"y = conv2d.padding(input=%x, weight=@w, stride=[2, 2], padding=\"same\")", nil, "needs a stride of 1"},
	"convolution with another bias": {imageSizes, "w 3x4x3x3 b 4", "y = conv2d.default(input=%x, weight=@w, bias=@b)",
		nil, "got a bias of shape [4], expected [3]"},
	"convolution of vectors": {[]int{2, 3}, "w 3x4x3x3", "y = conv2d.default(input=%x, weight=@w)", nil,
		"expected 3 or 4 dimensions"},
	"maximum with a padding above half the kernel": {imageSizes, "", "y = max_pool2d.default(self=%x, " +
		"kernel_size=[2, 2], stride=[2, 2], padding=[2, 2])", nil, "expected at most half"},
	"average with a padding above half the kernel": {imageSizes, "", "y = avg_pool2d.default(self=%x, " +
		"kernel_size=[3, 3], stride=[2, 2], padding=[2, 2])", nil, "expected at most half"},
	"reflection of the whole input": {imageSizes, "", "y = pad.default(self=%x, pad=[5, 0, 0, 0], mode=\"reflect\")",
		nil,
		"a reflected padding of 5 needs a larger input than 5"},
	"reflection_pad2d of the whole input": {imageSizes, "",
		"y = reflection_pad2d.default(self=%x, padding=[0, 0, 5, 0])",
		nil, "a reflected padding of 5"},
	"circular padding twice around": {imageSizes, "", "y = pad.default(self=%x, pad=[6, 0, 0, 0], mode=\"circular\")",
		nil,
		"a circular padding of 6"},
	"padding that removes more than there is": {imageSizes, "", "y = constant_pad_nd.default(self=%x, pad=[-6, 0])",
		nil,
		"removes more values"},
	"glu of an odd size": {[]int{2, 5}, "", "y = glu.default(self=%x, dim=1)", nil, "has the odd size 5"},
	"channels without pixels": {[]int{1, 6, 2, 2}, "", "y = pixel_shuffle.default(self=%x, upscale_factor=2)",
		nil, "6 channels"},
	"pixels that do not divide": {imageSizes, "", "y = pixel_unshuffle.default(self=%x, downscale_factor=2)", nil,
		"the height 5"},
	"batch norm of other values": {[]int{2, 3}, "m 4 v 4", "y = batch_norm.default(input=%x, weight=none, " +
		"bias=none, running_mean=@m, " +
		"running_var=@v, training=false, momentum=0.1, eps=0.00001, cudnn_enabled=false)", nil,
		"running_mean has the shape [4]"},
	"layer norm over another size": {[]int{2, 3}, "", "y = layer_norm.default(input=%x, normalized_shape=[4])", nil,
		"expected last dimensions [4]"},
	"layer norm with another weight": {[]int{2, 3}, "w 2",
		"y = layer_norm.default(input=%x, normalized_shape=[3], " +
			"weight=@w)", nil, "weight has the shape [2]"},
	"group norm of an odd number of channels": {[]int{2, 3}, "", "y = group_norm.default(input=%x, num_groups=2)",
		nil,
		"cannot be divided into 2 groups"},
	"group norm with another weight": {[]int{2, 4}, "w 2",
		"y = group_norm.default(input=%x, num_groups=2, weight=@w)",
		nil, "weight has the shape [2]"},
	"permutation of some dimensions": {[]int{2, 3}, "", "y = permute.default(self=%x, dims=[0])", nil,
		"dims are [0]"},
	"permutation of a dimension twice": {[]int{2, 3}, "", "y = permute.default(self=%x, dims=[0, 0])", nil,
		"dims are"},
	"repeats of some dimensions": {[]int{2, 3}, "", "y = repeat.default(self=%x, repeats=[2])", nil,
		"repeats are [2]"},
	"view of other values": {[]int{2, 3}, "", "y = view.default(self=%x, size=[4])", nil,
		"6 values do not fit"},
	"view with two open sizes": {[]int{2, 3}, "", "y = view.default(self=%x, size=[-1, -1])", nil,
		"two open sizes"},
	"view as other values": {[]int{2, 3}, "w 5", "y = view_as.default(self=%x, other=@w)", nil,
		"do not fit the shape"},
	"flattening backwards": {imageSizes, "", "y = flatten.using_ints(self=%x, start_dim=2, end_dim=1)", nil,
		"start_dim is 2"},
	"slopes for other channels": {[]int{2, 3}, "w 4", "y = prelu.default(self=%x, weight=@w)", nil, "got 4 slopes"},
	"keys of another length": {[]int{2, 5, 8}, "k 2x7x8 v 2x6x8",
		"y = scaled_dot_product_attention.default(query=%x, key=@k, value=@v)", nil, "do not fit"},
	"upsampling to nothing": {[]int{1, 2, 4, 4}, "",
		"y = upsample_nearest2d.vec(input=%x, output_size=none, scale_factors=[0.1, 1.0])", nil, "is empty"},
}
