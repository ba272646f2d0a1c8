package axes

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model/graph"
	"graft/model/pt2"
	"graft/model/transformer"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, g *graph.Graph) {
	a, err := Read(g)
	require.NoError(t, err, name)
	var text bytes.Buffer
	printAxes(&text, a)
	path := filepath.Join("testdata", name+".txt")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, text.Bytes(), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), text.String(), name)
}

// printAxes writes the axes, and the tensors that have them.
func printAxes(w io.Writer, a *Axes) {
	all := a.List()
	names := map[*Term]string{}
	for k, axis := range all {
		names[axis] = fmt.Sprintf("a%d", k)
	}
	var text func(t *Term) string
	text = func(t *Term) string {
		t = t.Find()
		if t.Kind == Axis {
			if names[t] == "" {
				return fmt.Sprint(t.Size)
			}
			return names[t]
		}
		var parts []string
		for _, p := range t.Parts {
			parts = append(parts, text(p))
		}
		return "(" + strings.Join(parts, map[Kind]string{Product: "*", Sum: "+"}[t.Kind]) + ")"
	}
	for k, axis := range all {
		reason := axis.Fixed
		if reason != "" {
			reason = ", fixed: " + reason
		}
		fmt.Fprintf(w, "a%d = %d%s\n", k, axis.Size, reason)
	}
	for _, t := range a.Graph.Tensors {
		var parts []string
		for _, term := range a.Tensors[t.Name] {
			parts = append(parts, text(term))
		}
		fmt.Fprintf(w, "%s [%s]\n", t.Name, strings.Join(parts, ", "))
	}
}

func TestAxesOfTransformers(t *testing.T) {
	small := transformer.Config{Vocabulary: 11, Context: 5, Width: 12, Heads: 4, Depth: 1}
	for name, change := range map[string]func(*transformer.Config){
		"gpt": func(c *transformer.Config) { c.Stacked = true },
		"grouped": func(c *transformer.Config) {
			c.Groups, c.Size, c.Positions, c.MLP, c.Untied = 2, 6, transformer.RotaryPairs, transformer.SwiGLU, true
		},
		"halves": func(c *transformer.Config) {
			c.Size, c.Positions, c.Norm = 6, transformer.RotaryHalves, transformer.RMSNorm
		},
	} {
		c := small
		change(&c)
		g, err := transformer.New(c)
		require.NoError(t, err)
		golden(t, name, g)
	}
}

func TestAxesOfArchives(t *testing.T) {
	for _, name := range []string{"llama", "vit_mha", "encoder_layers", "resnet18", "densenet", "mobilenet_v2",
		"groupnorm", "t5_encoder", "lstm"} {
		golden(t, "archive_"+name, archive(t, name))
	}
}

// archive reads a network that PyTorch exported.
func archive(t *testing.T, name string) *graph.Graph {
	data, err := os.ReadFile("../../../shared/reference/import/cases/" + name + ".pt2")
	if err != nil {
		t.Skip("left out: axes of archives of PyTorch, which are not here")
	}
	net, err := pt2.Read(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	return net.Graph
}

// An operator without a rule fixes the axes that it works on. A part of the network that it does not reach stays free.
func TestUnknownOperatorsFixAxes(t *testing.T) {
	g, err := transformer.New(transformer.Config{Vocabulary: 11, Context: 5, Width: 12, Heads: 4, Depth: 1})
	require.NoError(t, err)
	for k := range g.Nodes {
		if g.Nodes[k].Operator == "gelu.default" {
			g.Nodes[k].Operator = "flip.default"
			g.Nodes[k].Set("dims", []any{int64(2)})
		}
	}
	onlyUpIsFixed(t, g, "flip.default")
	for k := range g.Nodes {
		// an unknown overload of an operator with a rule
		if n := &g.Nodes[k]; n.Operator == "flip.default" {
			n.Operator, n.Returns = "gelu.other", [][]graph.Extent{{{N: 1, Of: "batch"}, {N: 5}, {N: 48}}}
		}
	}
	onlyUpIsFixed(t, g, "gelu.other")
}

func onlyUpIsFixed(t *testing.T, g *graph.Graph, operator string) {
	a, err := Read(g)
	require.NoError(t, err)
	hidden, err := a.Named("blocks.0.up")
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(hidden.Fixed, operator+" uses it in an unknown way"), hidden.Fixed)
	heads, err := a.Named("blocks.0.q/0")
	require.NoError(t, err)
	assert.Empty(t, heads.Fixed)
	_, err = a.Named("blocks.0")
	assert.ErrorContains(t, err, "axes that can change: tok (width of the residual stream")
}
