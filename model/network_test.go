package model_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/model/modeltest"
	"graft/torch"
)

func leaf(l model.Layer) *model.Leaf { return &model.Leaf{Layer: l} }

func child(name string, m model.Module) model.Child { return model.Child{Name: name, Module: m} }

func relu() *model.Leaf { return leaf(model.Activate(torch.ReLU)) }

// conv returns a convolution that keeps the size of an image.
func conv(in, out int) model.Conv2d {
	c := model.NewConv2d(in, out, 3)
	c.Padding = model.Both(1)
	return c
}

// residual returns a small network with a shortcut and a layer that runs twice.
func residual() *model.Network {
	body := &model.Container{Children: []model.Child{child("0", leaf(conv(4, 4))),
		child("1", leaf(model.NewBatchNorm2d(4)))}}
	block := &model.Container{
		Flow:     model.Flow{Join: model.Sum, Body: []string{"body", "relu"}, Then: []string{"relu"}},
		Children: []model.Child{child("body", body), child("relu", relu())},
	}
	return &model.Network{Input: model.Shape{3, 8, 8}, Root: &model.Container{
		Class: "Net",
		Flow:  model.Flow{Body: []string{"stem", "block", model.PoolStep, model.FlattenStep, "fc"}},
		Children: []model.Child{child("stem", leaf(conv(3, 4))), child("block", block),
			child("fc", leaf(model.NewLinear(4, 2)))},
	}}
}

func TestNetworksPrintAsPyTorchDoes(t *testing.T) {
	assert.Equal(t, `Net(
  (stem): Conv2d(3, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))
  (block): Residual(
    (body): Sequential(
      (0): Conv2d(4, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))
      (1): BatchNorm2d(4, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)
    )
    (relu): ReLU()
  )
  (fc): Linear(in_features=4, out_features=2, bias=True)
)`, residual().String())
	assert.Equal(t, "Sequential()", (&model.Network{Root: &model.Container{}}).String())
	assert.Equal(t, "Block()", (&model.Network{Root: &model.Container{Mark: model.Grown}}).String())
}

func activation(kind torch.Activation, parameter float64, inplace bool) model.Activation {
	return model.Activation{Kind: kind, Parameter: parameter, Inplace: inplace}
}

// PyTorch 1.13 and 2.4 print these texts. Later versions also print the option bias of normalisations; the rest is the
// same up to 2.15.
func TestLayersPrintAsPyTorchDoes(t *testing.T) {
	pair := func(h, w int) model.Pair { return model.Pair{H: h, W: w} }
	dilated, uneven, grouped, odd := model.NewConv2d(4, 8, 3), model.NewConv2d(3, 8, 3), model.NewConv2d(4, 8, 3),
		model.NewConv2d(4, 8, 1)
	dilated.Dilation = pair(1, 2)
	uneven.Kernel, uneven.Stride, uneven.Padding = pair(3, 5), pair(2, 1), pair(1, 2)
	grouped.Groups = 4
	odd.Kernel, odd.Stride, odd.Padding, odd.Dilation, odd.Groups, odd.Bias = pair(3, 1), pair(2, 1), pair(1, 0),
		pair(2, 1), 2, false
	for want, l := range map[string]model.Layer{
		"Conv2d(3, 8, kernel_size=(3, 3), stride=(1, 1))":                 model.NewConv2d(3, 8, 3),
		"Conv2d(3, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))": conv(3, 8),
		"Conv2d(3, 8, kernel_size=(3, 5), stride=(2, 1), padding=(1, 2))": uneven,
		"Conv2d(4, 8, kernel_size=(3, 3), stride=(1, 1), " +
			"dilation=(1, 2))": dilated,
		"Conv2d(4, 8, kernel_size=(3, 3), stride=(1, " +
			"1), groups=4)": grouped,
		"Conv2d(4, 8, kernel_size=(3, 1), stride=(2, 1), padding=(1, 0), dilation=(2, 1), groups=2, bias=False)": odd,
		"Linear(in_features=3, out_features=4, bias=True)": model.NewLinear(3,
			4),
		"Linear(in_features=3, out_features=4, bias=False)": model.Linear{In: 3,
			Out: 4},
		"BatchNorm2d(8, eps=1e-05, momentum=0.1, affine=True, " +
			"track_running_stats=True)": model.NewBatchNorm2d(8),
		"BatchNorm1d(8, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)": modeltest.BatchNorm1d(8),
		"BatchNorm2d(8, eps=1e-06, momentum=0.01, affine=True, track_running_stats=True)": model.BatchNorm{Features: 8,
			Eps: 1e-6, Momentum: 0.01, Affine: true, Track: true},
		"BatchNorm2d(8, eps=0.001, momentum=0.0, affine=True, track_running_stats=True)": model.BatchNorm{Features: 8,
			Eps: 1e-3, Affine: true, Track: true},
		"BatchNorm1d(8, eps=0.00012345, momentum=0.5, affine=False, track_running_stats=False)": model.BatchNorm{
			Features: 8, Flat: true, Eps: 0.00012345, Momentum: 0.5,
		},
		"BatchNorm2d(8, eps=1e-05, momentum=1.0, affine=True, track_running_stats=True)": model.BatchNorm{Features: 8,
			Eps: 1e-5, Momentum: 1, Affine: true, Track: true},
		"LayerNorm((10,), eps=1e-05, elementwise_affine=True)": modeltest.LayerNorm(10),
		"LayerNorm((3, 4, 5), eps=1e-06, elementwise_affine=True)": model.LayerNorm{Sizes: []int{3, 4, 5}, Eps: 1e-6,
			Affine: true},
		"LayerNorm((7,), eps=1e-05, elementwise_affine=False)": model.LayerNorm{Sizes: []int{7}, Eps: 1e-5},
		"GroupNorm(2, 8, eps=1e-05, affine=True)":              modeltest.GroupNorm(2, 8),
		"GroupNorm(1, 8, eps=1e-06, affine=False)":             model.GroupNorm{Groups: 1, Features: 8, Eps: 1e-6},
		"ReLU()":                         model.Activate(torch.ReLU),
		"ReLU(inplace=True)":             activation(torch.ReLU, 0, true),
		"ReLU6()":                        model.Activate(torch.ReLU6),
		"ReLU6(inplace=True)":            activation(torch.ReLU6, 0, true),
		"LeakyReLU(negative_slope=0.01)": model.Activate(torch.LeakyReLU),
		"LeakyReLU(negative_slope=0.2, inplace=True)": activation(torch.LeakyReLU, 0.2, true),
		"LeakyReLU(negative_slope=1e-05)":             activation(torch.LeakyReLU, 1e-5, false),
		"Sigmoid()":                                   model.Activate(torch.Sigmoid),
		"Tanh()":                                      model.Activate(torch.Tanh),
		"GELU(approximate='none')":                    model.Activate(torch.GELU),
		"SiLU()":                                      model.Activate(torch.SiLU),
		"SiLU(inplace=True)":                          activation(torch.SiLU, 0, true),
		"Hardswish()":                                 activation(torch.Hardswish, 0, true),
		"ELU(alpha=1.0)":                              model.Activate(torch.ELU),
		"ELU(alpha=0.5, inplace=True)":                activation(torch.ELU, 0.5, true),
		"AvgPool2d(kernel_size=2, stride=2, padding=0)":           model.NewAvgPool2d(model.One(2)),
		"AvgPool2d(kernel_size=(2, 2), stride=(2, 2), padding=0)": model.NewAvgPool2d(model.Both(2)),
		"AvgPool2d(kernel_size=(3, 2), stride=(2, 1), padding=(1, 0))": model.AvgPool2d{Kernel: pair(3, 2),
			Stride: pair(2, 1), Padding: pair(1, 0)},
		"AvgPool2d(kernel_size=3, stride=2, padding=1)": model.AvgPool2d{Kernel: model.One(3), Stride: model.One(2),
			Padding: model.One(1), Ceil: true, ExcludePad: true},
		"MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)": model.NewMaxPool2d(model.One(2)),
		"MaxPool2d(kernel_size=(2, 2), stride=(2, 2), padding=0, dilation=1, " +
			"ceil_mode=False)": model.NewMaxPool2d(model.Both(2)),
		"MaxPool2d(kernel_size=(3, 2), stride=(2, 1), padding=(1, 0), dilation=1, " +
			"ceil_mode=True)": model.MaxPool2d{Kernel: pair(3, 2), Stride: pair(2, 1), Padding: pair(1, 0), Ceil: true},
		"AdaptiveAvgPool2d(output_size=1)":      model.AdaptiveAvgPool2d{Size: model.One(1)},
		"AdaptiveAvgPool2d(output_size=(7, 5))": model.AdaptiveAvgPool2d{Size: pair(7, 5)},
		"Flatten(start_dim=1, end_dim=-1)":      model.Flatten{},
		"Dropout(p=0.5, inplace=False)":         model.Dropout{P: 0.5},
		"Dropout(p=0.2, inplace=True)":          model.Dropout{P: 0.2, Inplace: true},
		"Dropout(p=0.0, inplace=False)":         model.Dropout{},
		"Identity()":                            model.Identity{},
	} {
		assert.Equal(t, want, l.String())
	}
}

func TestWalkGoesInPyTorchsOrder(t *testing.T) {
	var paths []string
	n := residual()
	n.Walk(func(path string, _ model.Module) bool {
		paths = append(paths, path)
		return path != "block.body"
	})
	assert.Equal(t, []string{"", "stem", "block", "block.body", "block.relu", "fc"}, paths)
	assert.Len(t, n.Leaves(), 5)
}

func TestFind(t *testing.T) {
	n := residual()
	for path, want := range map[string]string{"": "", "stem": "stem", "block.body.1": "1", "block": "block"} {
		m, parent, name := n.Find(path)
		require.NotNil(t, m, path)
		assert.Equal(t, want, name)
		if path == "" {
			assert.Nil(t, parent)
			continue
		}
		assert.Same(t, m, parent.Child(name))
	}
	for _, path := range []string{"nobody", "stem.weight", "block.body.2", ".", "block.", model.FlattenStep} {
		m, parent, name := n.Find(path)
		assert.Nil(t, m, path)
		assert.Nil(t, parent, path)
		assert.Empty(t, name, path)
	}
}

func TestSketchSharesTensorsAndCloneDoesNot(t *testing.T) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		n := residual()
		require.NoError(t, n.Materialize(s, model.Placement{}))
		sketch := n.Sketch()
		clone, err := n.Clone(s)
		require.NoError(t, err)
		for k, e := range n.State() {
			assert.Same(t, e.Tensor, sketch.State()[k].Tensor)
			twin := clone.State()[k]
			assert.NotSame(t, e.Tensor, twin.Tensor)
			assert.Equal(t, e.Name, twin.Name)
			before, after := info(t, e.Tensor), info(t, twin.Tensor)
			assert.Equal(t, before, after, e.Name)
			assert.Equal(t, bytes(t, e.Tensor), bytes(t, twin.Tensor), e.Name)
		}
		before := n.String()
		sketch.Root.Replace("fc", leaf(model.Identity{}))
		sketch.Root.Child("block").(*model.Container).Flow.Body[0] = "nobody"
		clone.Root.Children[0].Name = "trunk"
		s.Fill(clone.State()[0].Tensor, 7)
		assert.Equal(t, before, n.String())
		assert.NoError(t, n.Check())
		assert.NotEqual(t, bytes(t, n.State()[0].Tensor), bytes(t, clone.State()[0].Tensor))
		return s.Err()
	}))
}

func info(t *testing.T, tensor *torch.Tensor) torch.Info {
	i, err := tensor.Info()
	require.NoError(t, err)
	return i
}

func bytes(t *testing.T, tensor *torch.Tensor) []byte {
	data, err := tensor.Bytes()
	require.NoError(t, err)
	return data
}

func TestCheckFindsWhatCannotRun(t *testing.T) {
	linear := func() *model.Leaf { return leaf(model.NewLinear(4, 4)) }
	for name, tc := range map[string]struct {
		root model.Container
		want string
	}{
		"two parts of one name": {
			model.Container{Children: []model.Child{child("a", linear()), child("a", relu())}},
			`duplicate part name "a"`},
		"a name with a dot": {
			model.Container{Children: []model.Child{child("a.b", linear())}},
			`part name "a.b"`},
		"no name": {
			model.Container{Children: []model.Child{child("", linear())}},
			`part name ""`},
		"a part that is called like a step": {
			model.Container{Children: []model.Child{child(model.FlattenStep, leaf(model.Flatten{}))}},
			`part name "flatten()"`},
		"a flow that names nobody": {
			model.Container{Flow: model.Flow{Body: []string{"a", "b"}}, Children: []model.Child{child("a", linear())}},
			`the network: the execution order contains "b", which is not a child module`},
		"a layer with weights that runs twice": {
			model.Container{Flow: model.Flow{Body: []string{"a", "a"}}, Children: []model.Child{child("a", linear())}},
			`"a" runs 2 times, but only layers without weights may`},
		"a container with weights that runs twice": {
			model.Container{Flow: model.Flow{Body: []string{"a"}, Then: []string{"a"}},
				Children: []model.Child{child("a", &model.Container{Children: []model.Child{child("0", linear())}})}},
			`"a" runs 2 times`},
		"a part that never runs": {
			model.Container{Flow: model.Flow{Body: []string{"a"}},
				Children: []model.Child{child("a", linear()), child("b", relu())}},
			`"b" never runs; add it to the execution order`},
		"a shortcut that nothing joins": {
			model.Container{Flow: model.Flow{Shortcut: []string{"b"}},
				Children: []model.Child{child("a", linear()), child("b", relu())}},
			`only a residual can have a shortcut`},
		"a fault further in": {
			model.Container{Children: []model.Child{child("a",
				&model.Container{Flow: model.Flow{Body: []string{"x"}}})}},
			`a: the execution order contains "x"`},
		"the concatenation has no branches": {
			model.Container{Flow: model.Flow{Join: model.Cat}}, `the concatenation has no branches`},
	} {
		t.Run(name, func(t *testing.T) {
			n := &model.Network{Root: &tc.root, Input: model.Shape{4}}
			assert.ErrorContains(t, n.Check(), tc.want)
		})
	}
}

func TestCheckFindsAllFaultsAtOnce(t *testing.T) {
	n := residual()
	n.Root.Children[0].Name = "st.em"
	n.Root.Child("block").(*model.Container).Flow.Then = nil
	n.Root.Child("block").(*model.Container).Flow.Body = []string{"body"}
	var faults model.Faults
	require.ErrorAs(t, n.Check(), &faults)
	assert.Len(t, faults, 4)
}

func TestCheckAllows(t *testing.T) {
	for name, root := range map[string]model.Container{
		"nothing at all": {},
		"a layer without weights that runs twice": {Flow: model.Flow{Body: []string{"a", "a"}},
			Children: []model.Child{child("a", relu())}},
		"a step that runs twice":    {Flow: model.Flow{Body: []string{model.FlattenStep, model.FlattenStep}}},
		"a residual around nothing": {Flow: model.Flow{Join: model.Sum}},
		"branches": {Flow: model.Flow{Join: model.Cat, Then: []string{"c"}},
			Children: []model.Child{child("a", relu()), child("b", relu()), child("c", relu())}},
	} {
		n := &model.Network{Root: &root, Input: model.Shape{4}}
		assert.NoError(t, n.Check(), name)
	}
}

func TestLocate(t *testing.T) {
	n := residual()
	block := n.Root.Child("block").(*model.Container)
	lane, step := block.Locate("relu")
	assert.Equal(t, model.BodyLane, lane)
	assert.Equal(t, 1, step)
	assert.Equal(t, 2, block.Uses("relu"))
	lane, step = n.Root.Locate("fc")
	assert.Equal(t, model.BodyLane, lane)
	assert.Equal(t, 4, step)
}
