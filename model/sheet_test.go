package model_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/model/modeltest"
	"graft/torch"
)

func TestSheetOfConvNet2(t *testing.T) {
	rows, err := fromZoo(t, "ConvNet2").Sheet()
	require.NoError(t, err)
	type row struct {
		path, in, out       string
		parameters, buffers int
		operations          int64
	}
	want := []row{
		{"conv1.layers.0", "3x32x32", "32x30x30", 896, 0, 32 * 30 * 30 * (2*3*9 + 1)},
		{"conv1.layers.1", "32x30x30", "32x30x30", 64, 65, 32 * 30 * 30 * 4},
		{"conv1.layers.2", "32x30x30", "32x30x30", 0, 0, 32 * 30 * 30},
		{"pool1", "32x30x30", "32x15x15", 0, 0, 32 * 30 * 30},
		{"conv2.layers.0", "32x15x15", "32x13x13", 9248, 0, 32 * 13 * 13 * (2*32*9 + 1)},
		{"conv2.layers.1", "32x13x13", "32x13x13", 64, 65, 32 * 13 * 13 * 4},
		{"conv2.layers.2", "32x13x13", "32x13x13", 0, 0, 32 * 13 * 13},
		{"finalpool", "32x13x13", "32x1x1", 0, 0, 32 * 13 * 13},
		{"flatten()", "32x1x1", "32", 0, 0, 0},
		{"fc.layers.0", "32", "10", 330, 0, 10 * (2*32 + 1)},
		{"fc.layers.1", "10", "10", 0, 0, 10},
	}
	var got []row
	for _, r := range rows {
		got = append(got, row{r.Path, r.In.String(), r.Out.String(), r.Parameters, r.Buffers, r.Operations})
		assert.Equal(t, 4*int64(r.Out.Count()), r.ActivationBytes, r.Path)
	}
	assert.Equal(t, want, got)
}

// Parameter counts equal torchvision's and the papers' counts. The last two are the sums over the layers of He et al.'s
// networks, with their shortcuts.
func TestParameters(t *testing.T) {
	for name, want := range map[string]int{
		"ResNet18": 11_689_512, "MobileNetV2": 3_504_872, "VGG11BN": 132_868_840, "CIFARResNet20": 272_474,
		"CIFARResNet56": 855_770,
	} {
		n := fromZoo(t, name)
		assert.Equal(t, want, n.Parameters(), name)
		rows, err := n.Sheet()
		require.NoError(t, err)
		sum := 0
		for _, r := range rows {
			sum += r.Parameters
		}
		assert.Equal(t, want, sum, name)
	}
}

// The operations of CIFARResNet20 by hand: the first convolution; six 3 x 3 convolutions of 2359296 multiply-adds in
// each stage, half for the first one of a narrower stage; the two projections; seven batch normalisations of four
// operations a value in each stage; the ReLUs; pool and classifier.
func TestOperationsOfAResidualNetwork(t *testing.T) {
	const wide, whole = 1024, 2 * 2359296
	values := []int64{16 * wide, 32 * wide / 4, 64 * wide / 16}
	want := int64(2*3*16*9*wide + 6*whole + 2*(5*whole+whole/2) + 2*2*131072 + 10*(2*64+1))
	for k, n := range values {
		want += 7*4*n + []int64{7, 6, 6}[k]*n
	}
	want += values[2]
	got, err := fromZoo(t, "CIFARResNet20").Operations()
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func TestSheetCountsParametersOnce(t *testing.T) {
	rows, err := residual().Sheet()
	require.NoError(t, err)
	var paths []string
	parameters := 0
	for _, r := range rows {
		paths = append(paths, r.Path)
		parameters += r.Parameters
	}
	assert.Equal(t, []string{"stem", "block.body.0", "block.body.1", "block.relu", "block.relu", "pool()", "flatten()",
		"fc"}, paths)
	assert.Equal(t, residual().Parameters(), parameters)
}

func TestShapesThatDoNotFit(t *testing.T) {
	image, flat := model.Shape{4, 8, 8}, model.Shape{4}
	strided := conv(4, 4)
	strided.Stride = model.Both(2)
	grouped := conv(4, 6)
	grouped.Groups = 4
	for name, tc := range map[string]struct {
		in   model.Shape
		flow model.Flow
		a, b model.Layer
		want string
	}{
		"other channels": {image, model.Flow{}, conv(4, 8), conv(4, 8), "b: Conv2d(4, 8, kernel_size=(3, 3), " +
			"stride=(1, 1), padding=(1, 1)) expects 4 channels, got 8 (the previous layer, a, "},
		"an image for features": {image, model.Flow{}, model.Identity{}, model.NewLinear(4, 2),
			"add a Flatten() before the linear layer"},
		"features for an image": {flat, model.Flow{}, conv(4, 4), model.Identity{},
			"expects images of shape [channels, height, width], got 4, the network's input"},
		"other features": {flat, model.Flow{}, model.NewLinear(5, 4), model.Identity{}, "expects 5 features, got 4"},
		"normalisation of features": {flat, model.Flow{}, model.NewBatchNorm2d(4), model.Identity{},
			"BatchNorm1d for features"},
		"normalisation of images": {image, model.Flow{}, modeltest.BatchNorm1d(4), model.Identity{},
			"use BatchNorm2d for images"},
		"part of an example": {image, model.Flow{}, modeltest.LayerNorm(8), model.Identity{},
			"the layer must normalise over the whole example"},
		"groups that do not divide": {image, model.Flow{}, grouped, model.Identity{},
			"the number of groups, 4, must divide the numbers of channels, 4 and 6"},
		"groups of a norm": {image, model.Flow{}, modeltest.GroupNorm(3, 4), model.Identity{},
			"the number of groups must divide the number of channels"},
		"a sum of other sizes": {image, model.Flow{Join: model.Sum, Body: []string{"a"}, Shortcut: []string{"b"}},
			strided, conv(4, 4), "the body outputs 4x4x4 and the shortcut 4x8x8; a sum needs equal shapes"},
		"a sum of other channels": {image, model.Flow{Join: model.Sum, Body: []string{"a"}, Shortcut: []string{"b"}},
			conv(4, 6), conv(4, 4), "a sum needs equal shapes"},
		"branches of other sizes": {image, model.Flow{Join: model.Cat}, strided, conv(4, 4),
			"the shapes may differ only in channels"},
		"a certain dropout": {flat, model.Flow{}, model.Dropout{P: 1}, model.Identity{}, "at least 0 and below 1"},
		"a pool to nothing": {image, model.Flow{}, model.AdaptiveAvgPool2d{}, model.Identity{}, "must be at least 1x1"},
	} {
		t.Run(name, func(t *testing.T) {
			n := &model.Network{Input: tc.in, Root: &model.Container{Flow: tc.flow,
				Children: []model.Child{child("a", leaf(tc.a)), child("b", leaf(tc.b))}}}
			var faults model.Faults
			require.ErrorAs(t, n.Check(), &faults)
			assert.Len(t, faults, 1)
			assert.ErrorContains(t, faults, tc.want)
		})
	}
}

func TestConcatenationAddsChannels(t *testing.T) {
	c := &model.Container{Flow: model.Flow{Join: model.Cat}}
	for k := range 11 { // more than one instruction can join
		c.Children = append(c.Children, child(string(rune('a'+k)), leaf(conv(3, k+1))))
	}
	n := &model.Network{Input: model.Shape{3, 5, 6}, Root: c}
	out, err := n.Output()
	require.NoError(t, err)
	assert.Equal(t, model.Shape{66, 5, 6}, out)
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		require.NoError(t, n.Materialize(s, model.Placement{}))
		p, err := n.Program(s, torch.ProgramOptions{})
		require.NoError(t, err)
		assert.Equal(t, []int{2, 66, 5, 6},
			p.Forward(s, s.Zeros(torch.Float32, torch.CPU, 2, 3, 5, 6), false, nil).Shape())
		return s.Err()
	}))
}

// windows returns a random layer that slides over images of four channels. About a third of the layers do not fit.
func windows(r *rand.Rand) model.Layer {
	draw := func(low, high int) model.Pair {
		return model.Pair{H: low + r.IntN(high-low+1), W: low + r.IntN(high-low+1)}
	}
	switch r.IntN(4) {
	case 0:
		c := model.NewConv2d(4, 4*(1+r.IntN(2)), 1)
		c.Kernel, c.Stride, c.Padding, c.Dilation = draw(1, 4), draw(1, 4), draw(0, 3), draw(1, 3)
		c.Groups, c.Bias = 1<<r.IntN(3), r.IntN(2) == 0
		return c
	case 1:
		return model.AvgPool2d{Kernel: draw(1, 5), Stride: draw(1, 6), Padding: draw(0, 2), Ceil: r.IntN(2) == 0,
			ExcludePad: r.IntN(2) == 0}
	case 2:
		return model.MaxPool2d{Kernel: draw(1, 5), Stride: draw(1, 6), Padding: draw(0, 2), Ceil: r.IntN(2) == 0}
	default:
		return model.AdaptiveAvgPool2d{Size: draw(1, 6)}
	}
}

func TestInferGivesWhatLibTorchGives(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	fits, refused := 0, 0
	for range 600 {
		l, in := windows(r), model.Shape{4, 1 + r.IntN(9), 1 + r.IntN(9)}
		want := run(l, in)
		got, err := l.Infer(in)
		if want == nil {
			refused++
			assert.Error(t, err, "%#v of %v gives %v", l, in, got)
			continue
		}
		fits++
		require.NoError(t, err, "%#v of %v is %v", l, in, want)
		assert.Equal(t, want, got, "%#v of %v", l, in)
	}
	assert.Greater(t, fits, 300)
	assert.Greater(t, refused, 60)
}

// run returns LibTorch's output shape, or nil if it refuses the layer.
func run(l model.Layer, in model.Shape) model.Shape {
	var out model.Shape
	_ = torch.With(func(s *torch.Scope) error {
		n := &model.Network{Input: in, Root: &model.Container{Children: []model.Child{child("0", leaf(l))}}}
		if err := n.Materialize(s, model.Placement{}); err != nil {
			return err
		}
		p, err := n.Program(s, torch.ProgramOptions{})
		if err != nil {
			return err
		}
		if shape := p.Forward(s, s.Zeros(torch.Float32, torch.CPU, 1, in[0], in[1], in[2]), false, nil).
			Shape(); shape != nil {
			out = shape[1:]
		}
		return s.Err()
	})
	return out
}

func TestLayersOfImpossibleSizeAreRefused(t *testing.T) {
	wide := model.NewConv2d(1<<20, 1<<20, 1<<10)
	wide.Padding = model.Both(1 << 9)
	n := &model.Network{Input: model.Shape{1 << 20, 8, 8},
		Root: &model.Container{Children: []model.Child{{Name: "conv", Module: &model.Leaf{Layer: wide}}}}}
	require.ErrorContains(t, n.Check(), "exceeds any machine's memory")
}
