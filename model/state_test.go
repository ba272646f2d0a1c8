package model_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/model/modeltest"
	"graft/torch"
	"graft/torch/weights"
)

// The values are SHA-256 digests of a state dict's little-endian float32 tensors, one after the other. PyTorch 1.13,
// 2.4 and 2.15 make the same tensors by `torch.manual_seed(seed); module = make()`.
func TestFreshWeightsAreThoseOfPyTorch(t *testing.T) {
	grouped := model.Conv2d{In: 8, Out: 16, Kernel: model.Pair{H: 3, W: 5}, Stride: model.Both(1),
		Dilation: model.Both(1), Groups: 4}
	single := func(l model.Layer) *model.Network {
		return &model.Network{Root: &model.Container{Children: []model.Child{child("0", leaf(l))}}}
	}
	for name, tc := range map[string]struct {
		net   *model.Network
		seeds map[int64]string
	}{
		"Conv2d(3, 32, 3)": {single(model.NewConv2d(3, 32, 3)), map[int64]string{
			7:  "2a6b41a66b638cb88ed657d7cc8e334e28806e2897128d7e6ec3be58eab066d4",
			42: "32e55f7d047f4222aa6d3c77690e61c2a23903ccab5313bb67e900445882ef42"}},
		"Conv2d(8, 16, (3, 5), groups=4, bias=False)": {single(grouped), map[int64]string{
			7:  "5c0bd669a195d0ba52624ef2abfd687f54a146292c26a9ceaed9e4b45fdbc00a",
			42: "ba431161221d1a40f71b06715b6ae543d4e05aa0be1df959b27c21f6d9279cda"}},
		"Linear(100, 10)": {single(model.NewLinear(100, 10)), map[int64]string{
			7:  "3bca33b628e67850ec960f09fd0a7dc1aecdae03c412e93d58df3776680f0107",
			42: "089d207db8c768997b5c079d0379284f7ce052fdf2298d5f9dccfc53c23831dc"}},
		"BatchNorm2d(7)": {single(model.NewBatchNorm2d(7)), map[int64]string{
			7: "5feceab200f51bfc1d12b9fc215689ce05e8ffe7c3225909024d7dee9f61f7bf"}},
		"LayerNorm(7)": {single(modeltest.LayerNorm(7)), map[int64]string{
			7: "e21a76f952da92a4eb103991fb3551f72937518f4640f31320cc54870caac306"}},
		"ConvNet2": {fromZoo(t, "ConvNet2"), map[int64]string{
			7:  "8ed43094f50f9f28ef7c9d4767ad7d1d2d24407581222e64ff84f68b479ee6bc",
			42: "1f6f30b1b7f29e0a117167a63819c6afa9a5877df02cad1a47367994fe667e8d"}},
	} {
		for seed, want := range tc.seeds {
			assert.Equal(t, want, freshDigest(t, tc.net, seed), "%s with seed %d", name, seed)
		}
	}
}

func freshDigest(t *testing.T, n *model.Network, seed int64) string {
	var all []byte
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		require.NoError(t, n.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, seed)}))
		for _, e := range n.State() {
			if e.Slot.Role != model.Seen {
				all = append(all, bytes(t, e.Tensor)...)
			}
		}
		return s.Err()
	}))
	return digest(string(all))
}

func TestFreshTensorsAreWhatTheirRolesSay(t *testing.T) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		n := fromZoo(t, "ConvNet2")
		require.NoError(t, n.Materialize(s, model.Placement{}))
		for _, e := range n.State() {
			got := info(t, e.Tensor)
			assert.Equal(t, e.Slot.Role.Trained(), got.RequiresGrad, e.Name)
			assert.Equal(t, e.Slot.DType(torch.Float32), got.DType, e.Name)
			assert.Equal(t, append([]int{}, e.Slot.Shape...), got.Shape, e.Name)
		}
		assert.Len(t, n.Params(), 10)
		assert.Same(t, s, n.Scope())
		assert.Equal(t, model.Placement{DType: torch.Float32}, n.Placement())
		return nil
	}))
}

func TestDoublesAreTheSameDraws(t *testing.T) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		draw := func(d torch.DType) []float64 {
			n := fromZoo(t, "ConvNet2")
			require.NoError(t, n.Materialize(s, model.Placement{DType: d, Random: s.NewGenerator(torch.CPU, 3)}))
			assert.Equal(t, d, info(t, n.Params()[0]).DType)
			values, err := torch.Values[float64](s.To(n.Params()[0], torch.Float64, torch.CPU))
			require.NoError(t, err)
			return values
		}
		assert.Equal(t, draw(torch.Float32), draw(torch.Float64))
		return s.Err()
	}))
}

// fitting returns weights that fit ConvNet2.
func fitting(t *testing.T) *weights.Set {
	var set *weights.Set
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		n := fromZoo(t, "ConvNet2")
		require.NoError(t, n.Materialize(s, model.Placement{}))
		var err error
		set, err = n.Save()
		return err
	}))
	return set
}

func without(set *weights.Set, name string) {
	set.Tensors = slices.DeleteFunc(set.Tensors, func(w weights.Tensor) bool { return w.Name == name })
}

func TestLoadListsAllThatDoesNotFit(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(*weights.Set)
		want  []string
	}{
		"a tensor is missing": {
			func(set *weights.Set) { without(set, "conv2.layers.1.running_mean") },
			[]string{"do not fit this ConvNet2", "conv2.layers.1.running_mean [32] is missing"}},
		"a tensor too many": {
			func(set *weights.Set) {
				set.Tensors = append(set.Tensors, weights.Tensor{Name: "fc2.bias", DType: weights.Float32,
					Shape: []int64{0}})
			},
			[]string{"fc2.bias [0] is only in the file"}},
		"another shape": {
			func(set *weights.Set) {
				for k := range set.Tensors {
					if set.Tensors[k].Name == "fc.layers.0.weight" {
						set.Tensors[k].Shape = []int64{32, 10}
					}
				}
			},
			[]string{"fc.layers.0.weight is [32 10] in the file and [10 32] in the network"}},
		"another name": {
			func(set *weights.Set) { set.Tensors[0].Name = "conv.weight" },
			[]string{"conv1.layers.0.weight [32 3 3 3] is missing", "conv.weight [32 3 3 3] is only in the file",
				"use weights written for this network"}},
		"everything is of another network": {
			func(set *weights.Set) {
				for k := range set.Tensors {
					set.Tensors[k].Name = fmt.Sprintf("other.%02d", k)
				}
			},
			[]string{"the network has 16 tensors, the file has 16", "conv1.layers.0.weight [32 3 3 3] is missing",
				"more\n  other.00 [32 3 3 3] is only in the file"}},
		"names with a prefix, next to others": {
			func(set *weights.Set) {
				for k := range set.Tensors {
					set.Tensors[k].Name = "state_dict." + set.Tensors[k].Name
				}
				set.Tensors = append(set.Tensors, weights.Tensor{Name: "step", DType: weights.Float32,
					Shape: []int64{0}})
			},
			[]string{`have the prefix "state_dict." in the file`,
				"run 'graft weights convert --prefix state_dict. FILE OUT'"}},
		"another network": {
			func(set *weights.Set) { set.Tensors = nil }, []string{"conv1.layers.0.weight", "more"}},
	} {
		t.Run(name, func(t *testing.T) {
			set := fitting(t)
			tc.spoil(set)
			require.NoError(t, torch.With(func(s *torch.Scope) error {
				n := fromZoo(t, "ConvNet2")
				require.NoError(t, n.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, 1)}))
				before := bytes(t, n.Params()[2])
				err := n.Load(set)
				for _, want := range tc.want {
					assert.ErrorContains(t, err, want)
				}
				assert.Equal(t, before, bytes(t, n.Params()[2]), "nothing is changed")
				return s.Err()
			}))
		})
	}
}

func TestLoadDoesWithoutCounts(t *testing.T) {
	set := fitting(t)
	without(set, "conv1.layers.1.num_batches_tracked")
	without(set, "conv2.layers.1.num_batches_tracked")
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		n := fromZoo(t, "ConvNet2")
		require.NoError(t, n.Materialize(s, model.Placement{}))
		for _, e := range n.State() {
			if e.Slot.Role == model.Seen {
				s.Fill(e.Tensor, 5)
			}
		}
		require.NoError(t, n.Load(set))
		for _, e := range n.State() {
			if e.Slot.Role == model.Seen {
				seen, err := e.Tensor.Item()
				require.NoError(t, err)
				assert.Zero(t, seen, e.Name)
			}
		}
		return s.Err()
	}))
}

func TestWithoutTensors(t *testing.T) {
	n := fromZoo(t, "ConvNet2")
	assert.ErrorContains(t, n.Load(fitting(t)), "no tensors to load into")
	_, err := n.Save()
	assert.ErrorContains(t, err, "save conv1.layers.0.weight")
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		_, err := n.Program(s, torch.ProgramOptions{})
		assert.ErrorContains(t, err, "no weights yet")
		return nil
	}))
}
