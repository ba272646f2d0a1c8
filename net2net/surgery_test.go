package net2net_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/model"
	"graft/model/modeltest"
	"graft/net2net"
	"graft/net2net/surgerytest"
	"graft/torch"
)

// Number of networks for each operation. With GRAFT_LONG, all operations run on more than three thousand networks. The
// networks are the same every time; -rapid.seed and -rapid.checks draw others.
const (
	networks     = "32"
	manyNetworks = "640"
	seed         = "20161"
)

// long reports that tests may take minutes.
var long = os.Getenv("GRAFT_LONG") != ""

func TestMain(m *testing.M) {
	flag.Parse()
	checks := networks
	if long {
		checks = manyNetworks
	}
	for name, value := range map[string]string{"rapid.checks": checks, "rapid.seed": seed} {
		if f := flag.Lookup(name); f.Value.String() == f.DefValue {
			_ = flag.Set(name, value)
		}
	}
	os.Exit(m.Run())
}

// Every operation passes the conformance suite.
func TestConformance(t *testing.T) {
	require.NoError(t, torch.SetThreads(1)) // threads do not help small networks
	for _, kind := range net2net.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			operated := 0
			rapid.Check(t, func(t *rapid.T) {
				if surgerytest.Check(t, surgerytest.Any(kind)) {
					operated++
				}
			})
			t.Logf("measured: %s keeps the function of %d random networks, in both modes and both precisions", kind,
				operated)
		})
	}
	t.Run("several", func(t *testing.T) { rapid.Check(t, surgerytest.Compose) })
}

// New units keep the function if their start claims it, and the record, the moments and the reversal treat them as new.
func TestStartsKeepTheirGuarantees(t *testing.T) {
	require.NoError(t, torch.SetThreads(1)) // threads do not help small networks
	for start, preserves := range map[net2net.Start]bool{"gradmax": true, "firefly": true, "tiny": false} {
		t.Run(string(start), func(t *testing.T) {
			fitted := 0
			rapid.Check(t, func(t *rapid.T) {
				if surgerytest.CheckStart(t, start, preserves) {
					fitted++
				}
			})
			t.Logf("measured: %s starts new units of %d random networks", start, fitted)
			require.Greater(t, fitted, 5)
		})
	}
}

// A refusal says what prevents the operation, and leaves the network unchanged.
func TestRefusals(t *testing.T) {
	cases := map[string]struct {
		network, action string
		options         net2net.Options
		words           []string
	}{
		"unknown block": {"ConvNet2", "deepen:conv7", net2net.Options{},
			[]string{`block "conv7" not found`, "0 conv1, 1 conv2, 2 fc"}},
		"number past the last": {"ConvNet2", "deepen:3", net2net.Options{}, []string{`block "3" not found`}},
		"even kernel": {"ConvNet2", "deepen:conv1:2", net2net.Options{},
			[]string{"even kernel, (2, 2)", "deepen:conv1:3"}},
		"kernel of a linear layer": {"ConvNet2", "deepen:fc:3", net2net.Options{}, []string{"no kernel"}},
		"output": {"ConvNet2", "widen:fc:20", net2net.Options{},
			[]string{"cannot be widened to 20", "the network's output"}},
		"no width": {"ConvNet2", "widen:conv1", net2net.Options{}, []string{"widen:conv1:64"}},
		"narrower": {"ConvNet2", "widen:conv1:16", net2net.Options{}, []string{"already has 32 channels"}},
		"unknown layer": {"ConvNet2", "widen:conv9:64", net2net.Options{},
			[]string{`layer or block "conv9" not found`}},
		"kernel to an even size": {"ConvNet2", "kernel:conv1:6", net2net.Options{},
			[]string{"(3, 3) must grow", "5 or 7", "instead of 6"}},
		"smaller kernel":   {"ConvNet2", "kernel:conv1:1", net2net.Options{}, []string{"must be larger"}},
		"no kernel at all": {"ConvNet2", "kernel:fc:3", net2net.Options{}, []string{"no convolution"}},
		"no batch":         {"ConvNet2", "deepen:conv1", net2net.Options{}, []string{"calibrated on a batch"}},
		"identity and GELU": {"gelu", "deepen:0", net2net.Options{Form: net2net.Identity},
			[]string{"GELU(approximate='none') is not idempotent", "residual"}},
		"groups": {"groups", "widen:0:9", net2net.Options{},
			[]string{"multiple of 4", "1 (GroupNorm(2, 8", "; use 12"}},
		"LayerNorm": {"layernorm", "widen:0:9", net2net.Options{}, []string{"multiple of 8", "LayerNorm"}},
		"original past the last": {"ConvNet2", "deepen:4", net2net.Options{Compat: net2net.Original},
			[]string{`marked block "4" not found`}},
		"original widening": {"ConvNet2", "widen:conv1:64", net2net.Options{Compat: net2net.Original},
			[]string{"supports only deepen"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, torch.With(func(s *torch.Scope) error {
				n := refusing(t, c.network)
				require.NoError(t, n.Materialize(s, model.Placement{}))
				before := n.String()
				a, err := net2net.ParseAction(c.action)
				require.NoError(t, err)
				_, err = net2net.Apply(n, a, c.options)
				require.Error(t, err)
				for _, word := range c.words {
					require.ErrorContains(t, err, word)
				}
				require.Equal(t, before, n.String())
				return nil
			}))
		})
	}
}

// refusing returns a network that refuses an operation.
func refusing(t *testing.T, name string) *model.Network {
	layers := map[string][]model.Layer{
		"gelu":      {model.NewConv2d(3, 8, 1), model.Activate(torch.GELU), model.Flatten{}, model.NewLinear(32, 2)},
		"groups":    {model.NewConv2d(3, 8, 1), modeltest.GroupNorm(2, 8), model.Flatten{}, model.NewLinear(32, 2)},
		"layernorm": {model.NewConv2d(3, 8, 1), modeltest.LayerNorm(8, 2, 2), model.Flatten{}, model.NewLinear(32, 2)},
	}
	if layers[name] == nil {
		n, err := model.Zoo(name, model.ZooOptions{})
		require.NoError(t, err)
		return n
	}
	c := &model.Container{}
	for k, l := range layers[name] {
		c.Children = append(c.Children, model.Child{Name: fmt.Sprint(k), Module: &model.Leaf{Layer: l}})
	}
	return &model.Network{Input: model.Shape{3, 2, 2}, Root: c}
}

func TestParseAction(t *testing.T) {
	for _, text := range []string{"none", "deepen:1", "deepen:conv1:5", "widen:layer1.0.conv1:48", "kernel:conv1:7",
		"branch:2"} {
		a, err := net2net.ParseAction(text)
		require.NoError(t, err)
		require.Equal(t, text, a.String())
	}
	for text, word := range map[string]string{
		"": "unknown operation", "dig:1": `unknown operation "dig"`, "deepen": "expected deepen:BLOCK",
		"deepen:":   "expected deepen",
		"widen:a:b": "not a size",
		"widen:a:0": "not a size", "widen:a:99999999": "not a size", "widen:a:8:9": "expected widen",
	} {
		_, err := net2net.ParseAction(text)
		require.ErrorContains(t, err, word, text)
	}
}

// Noise has the requested size and applies only to copies.
func TestNoise(t *testing.T) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		n, err := model.Zoo("ConvNet2", model.ZooOptions{})
		require.NoError(t, err)
		require.NoError(t, n.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, 1)}))
		quiet, err := n.Clone(s)
		require.NoError(t, err)
		a := net2net.Action{Kind: "widen", Target: "conv1", Size: 128}
		const noise = 0.01
		for network, size := range map[*model.Network]float64{n: noise, quiet: 0} {
			_, err := net2net.Apply(network, a, net2net.Options{Noise: size})
			require.NoError(t, err)
		}
		loud, err := torch.Values[float32](n.State()[0].Tensor)
		require.NoError(t, err)
		exact, err := torch.Values[float32](quiet.State()[0].Tensor)
		require.NoError(t, err)
		old, rms, off := 32*27, 0.0, 0.0
		require.Equal(t, exact[:old], loud[:old])
		for k := old; k < len(exact); k++ {
			off += math.Pow(float64(loud[k]-exact[k]), 2)
			rms += math.Pow(float64(exact[k]), 2)
		}
		require.InEpsilon(t, noise, math.Sqrt(off/rms), 0.1)
		return s.Err()
	}))
}

// The shares of copies add up to exactly the weight, in any order.
func TestSharesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float32Range(-1e6, 1e6), 3, 3).Draw(t, "weights")
		copies := rapid.IntRange(1, 13).Draw(t, "copies")
		if err := torch.With(func(s *torch.Scope) error {
			index, count, first := make([]int64, copies+2), make([]float64, copies+2), make([]float64, copies+2)
			for k := range copies {
				count[k] = float64(copies)
			}
			first[0], index[copies], index[copies+1], count[copies], count[copies+1] = 1, 1, 2, 1, 1
			from := torch.Sources{Columns: torch.From(s, index, len(index)), Copies: torch.From(s, count, len(count)),
				First: torch.From(s, first, len(first))}
			shares, err := torch.Values[float32](s.Spread(torch.From(s, values, 1, 3), from))
			if err != nil {
				return err
			}
			for _, order := range [][]float32{shares[:copies],
				rapid.Permutation(slices.Clone(shares[:copies])).Draw(t, "order")} {
				sum := float32(0)
				for _, share := range order {
					sum += share
				}
				if sum != values[0] && math.Abs(float64(values[0])) > 1e-30 {
					t.Fatalf("%d shares of %v add up to %v", copies, values[0], sum)
				}
			}
			if shares[copies] != values[1] || shares[copies+1] != values[2] {
				t.Fatalf("single columns changed: %v", shares)
			}
			return s.Err()
		}); err != nil {
			t.Fatal(err)
		}
	})
}
