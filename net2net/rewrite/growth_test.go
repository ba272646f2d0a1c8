package rewrite

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model/graph"
	"graft/model/transformer"
	"graft/torch"
	"graft/torch/weights"
	"graft/tracing/axes"
)

const reference = "../../../shared/reference/transformers"

// choices is a configuration of the reference.
type choices struct {
	Vocab, Context, Width, Heads, Groups, Size, Hidden, Depth int
	Norm, Place, Position, MLP                                string
	Tied, Bias, Causal                                        bool
	Base, Scale                                               *float64
	Eps                                                       map[string]float64
	Dropout                                                   float64
}

func (c choices) config(dtype weights.DType) transformer.Config {
	out := transformer.Config{Vocabulary: c.Vocab, Context: c.Context, Width: c.Width,
		Heads: c.Heads, Groups: c.Groups, Size: c.Size, Hidden: c.Hidden, Depth: c.Depth,
		Norm: map[string]transformer.Norm{"layer": transformer.LayerNorm, "rms": transformer.RMSNorm}[c.Norm],
		Post: c.Place == "post", DType: dtype,
		Positions: map[string]transformer.Positions{"learned": transformer.Learned,
			"rotary_half": transformer.RotaryHalves, "rotary_pairs": transformer.RotaryPairs,
			"none": transformer.None}[c.Position], MLP: map[string]transformer.MLP{"gelu": transformer.GELU,
			"relu": transformer.ReLU, "swiglu": transformer.SwiGLU}[c.MLP],
		Untied: !c.Tied, NoBias: !c.Bias, Full: !c.Causal, Eps: c.Eps["default"], EpsOf: map[string]float64{},
		Dropout: c.Dropout}
	if c.Base != nil {
		out.Base = *c.Base
	}
	if c.Scale != nil {
		out.Scale = *c.Scale
	}
	for name, eps := range c.Eps {
		if name != "norm" {
			name = "blocks." + name
		}
		out.EpsOf[name] = eps
	}
	return out
}

type growth struct {
	Name, DType   string
	Before, After choices
	IDs           [][]int64
	LogitsBefore  []float64 `json:"logits_before"`
	LogitsAfter   []float64 `json:"logits_after"`
	path          string
}

// growths returns the cases of the reference. It skips the test if the reference is missing.
func growths(t *testing.T) []growth {
	paths, _ := filepath.Glob(filepath.Join(reference, "cases", "*.json"))
	if len(paths) == 0 {
		t.Skip("left out: transformers that grew; " + reference + " is not here")
	}
	var all []growth
	for _, path := range paths {
		if strings.HasPrefix(filepath.Base(path), "adam_") {
			continue
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		g := growth{path: strings.TrimSuffix(path, ".json")}
		require.NoError(t, json.Unmarshal(text, &g))
		all = append(all, g)
	}
	return all
}

func readState(t testing.TB, path string) *weights.Set {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	info, err := file.Stat()
	require.NoError(t, err)
	set, err := weights.ReadPTH(file, info.Size(), weights.Options{})
	require.NoError(t, err)
	return set
}

// complete adds the constants, which no state dict holds, to weights.
func complete(t testing.TB, g *graph.Graph, set *weights.Set) *weights.Set {
	drawn, err := g.Draw(1)
	require.NoError(t, err)
	out := &weights.Set{Tensors: set.Tensors}
	for k, tensor := range g.Tensors {
		if tensor.Role == graph.Constant {
			out.Tensors = append(out.Tensors, drawn.Tensors[k])
		}
	}
	return out
}

// subject is a network under test.
type subject struct {
	t testing.TB
	s *torch.Scope
	n *graph.Network
}

func (x *subject) logits(ids [][]int64) []float64 {
	p, err := x.n.Program(x.s, torch.ProgramOptions{})
	require.NoError(x.t, err)
	var flat []int64
	for _, row := range ids {
		flat = append(flat, row...)
	}
	out := p.Forward(x.s, torch.From(x.s, flat, len(ids), len(ids[0])), false, nil)
	require.NoError(x.t, x.s.Err())
	values, err := torch.Values[float64](x.s.To(x.s.Detach(out), torch.Float64, torch.CPU))
	require.NoError(x.t, err)
	return values
}

// axis returns an axis by its place in a dimension of a tensor.
func (x *subject) axis(a *axes.Axes, tensor string, dim, at int) *axes.Term {
	var found []*axes.Term
	a.Tensors[tensor][dim].Axes(func(axis *axes.Term) { found = append(found, axis) })
	require.Greater(x.t, len(found), at, tensor)
	return found[at]
}

// step widens an axis in every block, or in the whole network.
type step struct {
	tensor  string // %d is the block
	dim, at int
	to      int
}

func (x *subject) widen(st step, depth int, o Options) {
	for block := range depth {
		name := st.tensor
		if strings.Contains(name, "%d") {
			name = fmt.Sprintf(name, block)
		} else if block > 0 {
			return
		}
		a, err := axes.Read(x.n.Graph)
		require.NoError(x.t, err)
		o.Seed = uint64(block)
		plan, err := Widen(a, x.axis(a, name, st.dim, st.at), st.to, o)
		require.NoError(x.t, err, "%s to %d", name, st.to)
		x.n, err = plan.Grow(x.s, x.n)
		require.NoError(x.t, err)
	}
}

// distance returns the largest difference divided by the largest value.
func distance(want, got []float64) float64 {
	worst, largest := 0.0, 0.0
	for k := range want {
		worst, largest = max(worst, math.Abs(want[k]-got[k])), max(largest, math.Abs(want[k]))
	}
	return worst / largest
}

func TestGrowthsOfTheReferenceKeepTheFunction(t *testing.T) {
	for _, g := range growths(t) {
		var steps []step
		add := func(differs bool, tensor string, dim, at, to int) {
			if differs {
				steps = append(steps, step{tensor, dim, at, to})
			}
		}
		b, a := g.Before, g.After
		add(a.Hidden != b.Hidden, "blocks.%d.up.weight", 0, 0, a.Hidden)
		switch {
		case a.Groups != b.Groups && a.Heads == b.Heads: // ungrouping is another operation
			continue
		case b.Groups == b.Heads:
			add(a.Heads != b.Heads, "blocks.%d.q.weight", 0, 0, a.Heads)
		default:
			add(a.Groups != b.Groups, "blocks.%d.q.weight", 0, 0, a.Groups)
			add(a.Heads/a.Groups != b.Heads/b.Groups, "blocks.%d.q.weight", 0, 1, a.Heads/a.Groups)
		}
		rotary := strings.HasPrefix(b.Position, "rotary")
		if a.Size != b.Size {
			at := 1
			if b.Groups != b.Heads {
				at = 2
			}
			if rotary {
				add(true, "blocks.0.q.weight", 0, at, a.Size/2) // the pairs of all blocks share their frequencies
			} else {
				add(true, "blocks.%d.q.weight", 0, at, a.Size)
			}
			add(true, "blocks.%d.o.weight", 1, at, a.Size)
		}
		add(a.Width != b.Width, "tok.weight", 1, 0, a.Width)
		if len(steps) == 0 { // another test covers depth alone
			continue
		}
		dtype, within := weights.Float64, 1e-12
		if g.DType == "float32" {
			dtype, within = weights.Float32, 1e-5
		}
		for _, spread := range []float64{0, 0.5} {
			require.NoError(t, torch.With(func(s *torch.Scope) error {
				net, err := transformer.New(b.config(dtype))
				require.NoError(t, err)
				n, err := net.Bind(s, torch.CPU, complete(t, net, readState(t, g.path+".before.pt")))
				require.NoError(t, err)
				x := &subject{t, s, n}
				for _, st := range steps {
					x.widen(st, b.Depth, Options{Spread: spread})
				}
				for range a.Depth - b.Depth {
					x.deepen(fmt.Sprintf("blocks.%d", b.Depth-1), ZeroBranches)
				}
				assert.Less(t, distance(g.LogitsBefore, x.logits(g.IDs)), within, "%s, spread %v, %v", g.Name,
					spread, steps)
				if !rotary || a.Size == b.Size {
					grown, err := x.n.Graph.Bind(s, torch.CPU, complete(t, x.n.Graph, readState(t, g.path+".after.pt")))
					require.NoError(t, err, g.Name)
					x.n = grown
					if a.Size == b.Size { // else scores keep the scale of the size before
						assert.Less(t, distance(g.LogitsAfter, x.logits(g.IDs)), within, "%s after", g.Name)
					}
				}
				return nil
			}))
		}
	}
}
