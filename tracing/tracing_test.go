package tracing_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/model/modeltest"
	"graft/torch"
	"graft/tracing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// picture formats a trace for a golden file.
func picture(t *tracing.Trace) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %v\n\nlayers\n", t.Network.Name(), t.Network.Input)
	for _, l := range t.Layers {
		fmt.Fprintf(&b, "  %-28s %v %s -> %s\n", l.At.Path, l.Out.Shape, edge(l.In), edge(l.Out))
	}
	b.WriteString("\nblocks\n")
	for k, block := range t.Blocks {
		var paths []string
		for _, l := range block.Layers {
			paths = append(paths, l.At.Path)
		}
		fmt.Fprintf(&b, "  %d %s, %s: %s\n", k, block.Name, block.Marked, strings.Join(paths, " "))
	}
	b.WriteString("\nspaces\n")
	for _, s := range t.Spaces {
		fmt.Fprintf(&b, "  s%d %s: %d units", s.Index, s.Name(), s.Units)
		for _, group := range []struct {
			word   string
			layers []*tracing.Layer
		}{{"kept by", s.Keepers}, {"used by", s.Users}} {
			if len(group.layers) > 0 {
				fmt.Fprintf(&b, "; %s %s", group.word, names(group.layers))
			}
		}
		for _, why := range s.Fixed {
			fmt.Fprintf(&b, "; fixed, %s", why)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func names(layers []*tracing.Layer) string {
	var words []string
	for _, l := range layers {
		words = append(words, l.At.Path)
	}
	return strings.Join(words, " ")
}

func edge(e tracing.Edge) string {
	var words []string
	for _, p := range e.Parts {
		words = append(words, fmt.Sprintf("s%d*%d", p.Space.Index, p.Channels))
	}
	return strings.Join(words, "+")
}

// drawn returns networks with properties that the zoo lacks.
func drawn() map[string]*model.Network {
	leaf := func(l model.Layer) model.Module { return &model.Leaf{Layer: l} }
	chain := func(modules ...model.Module) *model.Container {
		c := &model.Container{}
		for k, m := range modules {
			c.Children = append(c.Children, model.Child{Name: fmt.Sprint(k), Module: m})
		}
		return c
	}
	cat := func(modules ...model.Module) *model.Container {
		c := chain(modules...)
		c.Flow.Join = model.Cat
		return c
	}
	grouped := model.NewConv2d(8, 16, 1)
	grouped.Groups = 4
	depthwise := model.NewConv2d(6, 12, 1)
	depthwise.Groups = 6
	across := model.NewConv2d(12, 12, 1)
	across.Groups = 2
	sum := &model.Container{Flow: model.Flow{Join: model.Sum, Shortcut: []string{"shortcut"}}}
	sum.Children = append(chain(cat(leaf(model.NewConv2d(4, 2, 1)), leaf(model.NewConv2d(4, 6, 1)))).Children,
		model.Child{Name: "shortcut", Module: leaf(model.NewConv2d(4, 8, 1))})
	end := func(features int) []model.Module {
		return []model.Module{leaf(model.Flatten{}), leaf(model.NewLinear(features, 2))}
	}
	build := func(modules ...model.Module) *model.Network {
		return &model.Network{Input: model.Shape{4, 2, 2}, Root: chain(modules...)}
	}
	return map[string]*model.Network{
		"Grouped": build(append([]model.Module{leaf(model.NewConv2d(4, 8, 1)), leaf(grouped),
			leaf(modeltest.GroupNorm(8, 16)), leaf(model.NewConv2d(16, 4, 1))}, end(16)...)...),
		"Depthwise": build(append([]model.Module{leaf(model.NewConv2d(4, 6, 1)), leaf(depthwise),
			leaf(model.Activate(torch.ReLU))}, end(48)...)...),
		"Cat": build(append([]model.Module{cat(leaf(model.NewConv2d(4, 4, 1)), leaf(model.NewConv2d(4, 8, 1))),
			leaf(model.NewBatchNorm2d(12)),
			leaf(model.NewConv2d(12, 12, 1))}, end(48)...)...),
		"Tangled": build(append([]model.Module{cat(leaf(model.NewConv2d(4, 5, 1)), leaf(model.NewConv2d(4, 7, 1))),
			leaf(across)}, end(48)...)...),
		"CatSum": build(append([]model.Module{sum}, end(32)...)...),
		"LayerNorm": build(append([]model.Module{leaf(model.NewConv2d(4, 4, 1)), leaf(modeltest.LayerNorm(4, 2, 2)),
			leaf(model.Flatten{}), leaf(model.NewLinear(16, 8)),
			leaf(modeltest.LayerNorm(8))}, leaf(model.NewLinear(8, 2)))...),
	}
}

func TestTraces(t *testing.T) {
	all := drawn()
	for _, name := range []string{"ConvNet2", "LargeConvNet", "CIFARResNet20", "MobileNetV2"} {
		n, err := model.Zoo(name, model.ZooOptions{})
		require.NoError(t, err)
		all[name] = n
	}
	for name, n := range all {
		t.Run(name, func(t *testing.T) {
			trace, err := tracing.Read(n)
			require.NoError(t, err)
			got, path := picture(trace), filepath.Join("testdata", name+".txt")
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err, "run with -update")
			require.Equal(t, string(want), got)
		})
	}
}

// In every network, the parts of an edge add up to its channels, in whole units of each space. Every space has a maker
// or is the input.
func TestEdgesAreWhole(t *testing.T) {
	all := drawn()
	for _, entry := range model.ZooEntries() {
		if entry.IsGraph() {
			continue
		}
		n, err := model.Zoo(entry.Name, model.ZooOptions{})
		require.NoError(t, err)
		all[entry.Name] = n
	}
	for name, n := range all {
		trace, err := tracing.Read(n)
		require.NoError(t, err)
		for _, l := range trace.Layers {
			for _, e := range []tracing.Edge{l.In, l.Out} {
				sum := 0
				for _, p := range e.Parts {
					sum += p.Channels
					require.Zero(t, p.Channels%p.Space.Units, "%s %s", name, l.At.Path)
					require.Contains(t, trace.Spaces, p.Space)
				}
				require.Equal(t, e.Shape[0], sum, "%s %s", name, l.At.Path)
			}
		}
		for k, s := range trace.Spaces {
			require.Equal(t, k, s.Index)
			require.True(t, k == 0 || len(s.Makers) > 0, name)
		}
	}
}

func TestTargets(t *testing.T) {
	n, err := model.Zoo("MobileNetV2", model.ZooOptions{})
	require.NoError(t, err)
	trace, err := tracing.Read(n)
	require.NoError(t, err)
	space, channels, err := trace.SpaceAt("features.2.conv.0")
	require.NoError(t, err)
	require.Equal(t, 96, channels)
	units, err := space.Target(channels, 100)
	require.NoError(t, err)
	require.Equal(t, 100, units)
	require.True(t, slices.ContainsFunc(space.Keepers, func(l *tracing.Layer) bool {
		return l.At.Path == "features.2.conv.1.0"
	}),
		"the depthwise convolution changes along")
	_, _, err = trace.SpaceAt("features.99")
	require.ErrorContains(t, err, "not found; the blocks of")
	_, err = trace.Block("7777")
	require.ErrorContains(t, err, `block "7777" not found`)
}

// A block keeps its name if other blocks grow behind it.
func TestGrownBlocksKeepTheName(t *testing.T) {
	n, err := model.Zoo("LargeConvNet", model.ZooOptions{})
	require.NoError(t, err)
	trace, err := tracing.Read(n)
	require.NoError(t, err)
	b, err := trace.Block("conv1")
	require.NoError(t, err)
	require.Equal(t, "conv1.0", b.Name)
}

func TestConcatenationHasNoOneSpace(t *testing.T) {
	trace, err := tracing.Read(drawn()["Cat"])
	require.NoError(t, err)
	_, _, err = trace.SpaceAt("0")
	require.ErrorContains(t, err, "use one of its parts: 0.0, 0.1")
}

func TestBrokenNetworkIsNotTraced(t *testing.T) {
	n := &model.Network{Input: model.Shape{3, 4, 4}, Root: &model.Container{Children: []model.Child{{Name: "fc",
		Module: &model.Leaf{Layer: model.NewLinear(48, 2)}}}}}
	_, err := tracing.Read(n)
	require.ErrorContains(t, err, "add a Flatten() before the linear layer")
}
