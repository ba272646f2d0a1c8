package model_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/torch"
)

func fromZoo(t *testing.T, name string) *model.Network {
	n, err := model.Zoo(name, model.ZooOptions{})
	require.NoError(t, err)
	return n
}

func TestZooMakesWhatItLists(t *testing.T) {
	for _, e := range model.ZooEntries() {
		n := fromZoo(t, e.Name)
		assert.Equal(t, e.Input, n.Input, e.Name)
		out, err := n.Output()
		require.NoError(t, err)
		assert.Equal(t, e.Classes, out[len(out)-1], e.Name)
		assert.NotEmpty(t, e.About, e.Name)
		assert.NotContains(t, e.About, "\n", e.Name)
		assert.Nil(t, n.Scope(), e.Name)
	}
}

func TestZooHeedsItsOptions(t *testing.T) {
	for _, e := range model.ZooEntries() {
		if e.IsGraph() {
			continue
		}
		n, err := model.Zoo(e.Name, model.ZooOptions{Classes: 7, Input: model.Shape{1, 48, 40}})
		require.NoError(t, err, e.Name)
		assert.Equal(t, model.Shape{1, 48, 40}, n.Input)
		out, err := n.Output()
		require.NoError(t, err, e.Name)
		assert.Equal(t, model.Shape{7}, out, e.Name)
	}
	n, err := model.Zoo("MLP", model.ZooOptions{Input: model.Shape{784}})
	require.NoError(t, err)
	assert.Equal(t, 784*512+512+512*256+256+256*10+10, n.Parameters())
}

func TestZooNames(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range model.ZooEntries() {
		assert.False(t, seen[e.Name], e.Name)
		seen[e.Name] = true
	}
	assert.Equal(t, fromZoo(t, "FeedForwardNet").String(), fromZoo(t, "FeedForwardNet1").String())
}

func TestZooErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		entry   string
		options model.ZooOptions
		want    string
	}{
		"another case": {"convnet2", model.ZooOptions{},
			`unknown network "convnet2"; did you mean ConvNet2? the zoo has FeedForwardNet, `},
		"a typing error":   {"ResNet81", model.ZooOptions{}, "did you mean ResNet18?"},
		"another notation": {"mobilenet_v2", model.ZooOptions{}, "did you mean MobileNetV2?"},
		"nothing alike":    {"transformer-xl", model.ZooOptions{}, "the zoo has FeedForwardNet"},
		"no name":          {"", model.ZooOptions{}, `unknown network ""; the zoo has`},
		"fewer than no classes": {"MLP", model.ZooOptions{Classes: -1},
			"create MLP for inputs of 3x32x32 and -1 classes"},
		"an empty input": {"MLP", model.ZooOptions{Input: model.Shape{}}, "every size and the number of classes must " +
			"be at least 1"},
		"an input of nothing": {"MLP", model.ZooOptions{Input: model.Shape{3, 0, 0}}, "every size and the number of " +
			"classes must be at " +
			"least 1"},
		"an input too small": {"ConvNet2", model.ZooOptions{Input: model.Shape{3, 4, 4}},
			"create ConvNet2 for inputs of 3x4x4: conv2.layers.0: the kernel of "},
		"features": {"ResNet18", model.ZooOptions{Input: model.Shape{30}}, "conv1: Conv2d(30, "},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := model.Zoo(tc.entry, tc.options)
			assert.ErrorContains(t, err, tc.want)
		})
	}
}

func TestBatchNormConvolution(t *testing.T) {
	n := fromZoo(t, "BatchNormConvolution")
	assert.Equal(t, 3*32*9+32+64+32*10+10, n.Parameters())
	assert.Equal(t, 2, originalBlocks(n))
}

// facts holds the output of testdata/torchvision_facts.py for a network.
type facts struct {
	Lines, Parameters, Tensors, Runs int
	Print, State, Outputs            string // SHA-256
	Flops                            int64  // of convolutions and linear layers, without biases
	Logits                           [][]float64
}

var update = flag.Bool("update", false, "make the golden data again, with torchvision")

const torchvisionFacts = "testdata/torchvision.json"

func readFacts(t *testing.T) map[string]facts {
	if *update {
		python := os.Getenv("GRAFT_PYTHON")
		if python == "" {
			python = "/usr/bin/python3"
		}
		out, err := exec.Command(python, "-W", "ignore", "testdata/torchvision_facts.py").Output()
		require.NoError(t, err, "%s needs torchvision; name another Python in GRAFT_PYTHON", python)
		require.NoError(t, os.WriteFile(torchvisionFacts, out, 0o644))
	}
	text, err := os.ReadFile(torchvisionFacts)
	require.NoError(t, err)
	var golden struct{ Networks map[string]facts }
	require.NoError(t, json.Unmarshal(text, &golden))
	require.Len(t, golden.Networks, 5)
	return golden.Networks
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// pythonList formats sizes as a Python list.
func pythonList(sizes []int) string {
	return strings.ReplaceAll(fmt.Sprint(append([]int{}, sizes...)), " ", ", ")
}

func TestCommonNetworksAreTorchvisions(t *testing.T) {
	for name, want := range readFacts(t) {
		n := fromZoo(t, name)
		assert.Equal(t, want.Lines, strings.Count(n.String(), "\n")+1, name)
		assert.Equal(t, want.Print, digest(n.String()), name)
		assert.Equal(t, want.Parameters, n.Parameters(), name)
		var state []string
		for _, e := range n.State() {
			state = append(state, e.Name+" "+pythonList(e.Slot.Shape))
		}
		assert.Len(t, state, want.Tensors, name)
		assert.Equal(t, want.State, digest(strings.Join(state, "\n")), name)
	}
}

// The layers run in torchvision's order, with the same output shapes and operations.
func TestCommonNetworksRunAsTorchvisions(t *testing.T) {
	for name, want := range readFacts(t) {
		rows, err := fromZoo(t, name).Sheet()
		require.NoError(t, err)
		var ran []string
		var flops int64
		for _, row := range rows {
			if strings.HasSuffix(row.Path, "()") {
				continue
			}
			ran = append(ran, row.Path+" "+pythonList(row.Out))
			flops += products(row)
		}
		assert.Len(t, ran, want.Runs, name)
		assert.Equal(t, want.Outputs, digest(strings.Join(ran, "\n")), name)
		assert.Equal(t, want.Flops, flops, name)
	}
}

// products returns the operations that PyTorch's counter counts.
func products(row model.Row) int64 {
	bias := false
	switch l := row.Leaf.Layer.(type) {
	case model.Conv2d:
		bias = l.Bias
	case model.Linear:
		bias = l.Bias
	default:
		return 0
	}
	if bias {
		return row.Operations - int64(row.Out.Count())
	}
	return row.Operations
}

// rounding is the tolerance for sums in another order, through dozens of layers that normalise over few values. The
// largest measured difference is 1.5e-4; a wrong layer gives 0.1.
const rounding = 1e-3

// Fresh weights of one seed give the same logits as in torchvision's code.
func TestCommonNetworksComputeWhatTorchvisionsDo(t *testing.T) {
	ramp := make([]float32, 2*3*64*64)
	for k := range ramp {
		ramp[k] = float32(float64(k*37%101)/101 - 0.5)
	}
	for name, want := range readFacts(t) {
		if want.Logits == nil {
			continue
		}
		for _, fast := range []bool{false, true} {
			n := fromZoo(t, name)
			withoutDropout(n)
			got := forward(t, n, torch.ProgramOptions{Fast: fast}, ramp)
			classes := len(got) / 2
			for row := range want.Logits {
				assert.Less(t, difference(got[row*classes:], want.Logits[row]), rounding, "%s, fast %v", name, fast)
			}
		}
	}
}

func withoutDropout(n *model.Network) {
	n.Walk(func(_ string, m model.Module) bool {
		if l, ok := m.(*model.Leaf); ok {
			if _, ok := l.Layer.(model.Dropout); ok {
				l.Layer = model.Identity{}
			}
		}
		return true
	})
}

// forward runs two images through the network with fresh weights in train mode.
func forward(t *testing.T, n *model.Network, o torch.ProgramOptions, images []float32) (got []float32) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		require.NoError(t, n.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, 1)}))
		p, err := n.Program(s, o)
		require.NoError(t, err)
		got, err = torch.Values[float32](p.Forward(s, torch.From(s, images, 2, 3, 64, 64), true, nil))
		return err
	}))
	return got
}

// difference returns the largest difference, relative to the largest expected value.
func difference(got []float32, want []float64) float64 {
	most, largest := 0.0, 0.0
	for k, w := range want {
		most = max(most, math.Abs(float64(got[k])-w))
		largest = max(largest, math.Abs(w))
	}
	if largest == 0 {
		return most
	}
	return most / largest
}

// GPT-2 has 124M parameters with its tied head. The published BERT has 109,482,240 parameters, with 1,536 for segments,
// which graft's BERT lacks, and without the 1,538 for two classes.
func TestTransformersOfTheZoo(t *testing.T) {
	for name, parameters := range map[string]int{"GPT2": 124_439_808, "CharGPT": 834_304, "SmallLLaMA": 791_680,
		"SmallBERT": 851_202, "BERTBase": 109_482_242} {
		n, err := model.Zoo(name, model.ZooOptions{})
		require.NoError(t, err)
		assert.Equal(t, parameters, n.Parameters(), name)
		assert.True(t, n.Tokens())
		assert.Empty(t, n.Graph.Undrawn(), name)
	}
	for _, name := range []string{"GPT2", "CharGPT", "SmallLLaMA", "SmallBERT", "BERTBase"} {
		_, err := model.Zoo(name, model.ZooOptions{Input: model.Shape{3, 32, 32}})
		assert.ErrorContains(t, err, "create "+name+" for inputs of 3x32x32: the network reads tokens; use a number "+
			"of tokens such as ")
	}
	n, err := model.Zoo("CharGPT", model.ZooOptions{Input: model.Shape{16}, Classes: 86})
	require.NoError(t, err)
	out, err := n.Output()
	require.NoError(t, err)
	assert.Equal(t, model.Shape{16, 86}, out)
}
