package rewrite

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model/graph"
	"graft/model/transformer"
	"graft/torch"
	"graft/torch/weights"
	"graft/tracing/axes"
)

// drawConfig draws a small transformer with random options.
func drawConfig(r *rand.Rand, dtype weights.DType) transformer.Config {
	c := transformer.Config{Vocabulary: 5 + r.IntN(20), Context: 3 + r.IntN(6), Groups: 1 + r.IntN(3),
		Size: 2 * (1 + r.IntN(3)), Depth: 1 + r.IntN(3), DType: dtype, Norm: transformer.Norm(r.IntN(2)),
		Post: r.IntN(3) == 0, Positions: transformer.Positions(r.IntN(4)), MLP: transformer.MLP(r.IntN(3)),
		Untied: r.IntN(2) == 0, NoBias: r.IntN(2) == 0, Full: r.IntN(3) == 0,
		Eps: []float64{1e-5, 1e-3, 1e-8}[r.IntN(3)]}
	c.Stacked = r.IntN(3) == 0
	c.Heads = c.Groups * (1 + r.IntN(3))
	c.Width, c.Hidden = 4+r.IntN(14), 3+r.IntN(20)
	if r.IntN(3) == 0 {
		c.Scale = 0.3
	}
	c.EmbedNorm, c.Padded = r.IntN(4) == 0, c.Full && r.IntN(2) == 0
	if c.Task = transformer.Task(r.IntN(3)); c.Task != transformer.NextToken {
		c.Classes = 2 + r.IntN(4)
	}
	if r.IntN(4) == 0 {
		c.Dropout = 0.1
	}
	if r.IntN(4) == 0 {
		c.DropPath = 0.2
	}
	return c
}

// drawWeights draws weights so large that no term of the network vanishes.
func drawWeights(g *graph.Graph, r *rand.Rand) *weights.Set {
	set := &weights.Set{}
	drawn, err := g.Draw(r.Uint64())
	if err != nil {
		panic(err)
	}
	for k, t := range g.Tensors {
		if t.Role == graph.Constant {
			set.Tensors = append(set.Tensors, drawn.Tensors[k])
			continue
		}
		values := make([]float64, t.Count())
		for i := range values {
			values[i] = r.NormFloat64() * 0.3
			if t.Init == "ones" {
				values[i]++
			}
		}
		w := weights.FromFloat64s(t.Name, values)
		if t.DType == weights.Float32 {
			small := make([]float32, len(values))
			for i := range values {
				small[i] = float32(values[i])
			}
			if w, err = weights.FromFloat32s(t.Name, []int64{int64(len(small))}, small); err != nil {
				panic(err)
			}
		}
		w.Shape = nil
		for _, size := range t.Shape {
			w.Shape = append(w.Shape, int64(size))
		}
		set.Tensors = append(set.Tensors, w)
	}
	return set
}

func (x *subject) tokens(r *rand.Rand, c transformer.Config) [][]int64 {
	ids := make([][]int64, 2)
	for k := range ids {
		ids[k] = append(ids[k], r.Int64N(int64(c.Vocabulary-1))) // a text is not only padding
		for range c.Context - 1 {
			ids[k] = append(ids[k], r.Int64N(int64(c.Vocabulary)))
		}
	}
	return ids
}

// gradients returns the gradients of the sum of squared logits, by tensor.
func (x *subject) gradients(ids [][]int64) map[string]*torch.Tensor {
	p, err := x.n.Program(x.s, torch.ProgramOptions{})
	require.NoError(x.t, err)
	var flat []int64
	for _, row := range ids {
		flat = append(flat, row...)
	}
	out := p.Forward(x.s, torch.From(x.s, flat, len(ids), len(ids[0])), true, nil)
	x.s.Backward(x.s.Sum(x.s.Mul(out, out)))
	require.NoError(x.t, x.s.Err())
	all := map[string]*torch.Tensor{}
	for _, name := range x.n.Trained() {
		gradient := x.s.Grad(x.n.Tensor(name))
		all[name] = x.s.Clone(gradient)
		x.s.Fill(gradient, 0)
	}
	require.NoError(x.t, x.s.Err())
	return all
}

func (x *subject) values(t *torch.Tensor) []float64 {
	v, err := torch.Values[float64](x.s.To(x.s.Detach(t), torch.Float64, torch.CPU))
	require.NoError(x.t, err)
	return v
}

// operation is a change of a drawn network.
type operation struct {
	name string
	// exact reports that gradients are related as the plan states, up to rounding.
	exact bool
	plan  func(*axes.Axes) (*Plan, error)
}

// drawOperation draws a change that fits.
func drawOperation(r *rand.Rand, g *graph.Graph, c transformer.Config) operation {
	a, err := axes.Read(g)
	if err != nil {
		panic(err)
	}
	if r.IntN(4) == 0 {
		blocks, _ := Blocks(a)
		path, how := blocks[r.IntN(len(blocks))].Path, ZeroBranches
		if r.IntN(3) == 0 {
			path = "blocks"
		}
		if r.IntN(2) == 0 && len(blocks[0].Norms) == 0 {
			how = OppositeBranches
		}
		return operation{fmt.Sprintf("deepen %s %s", path, how), len(blocks[0].Norms) == 0,
			func(a *axes.Axes) (*Plan, error) { return Deepen(a, path, how) }}
	}
	var fit []int
	list := a.List()
	for k, axis := range list {
		looked := slices.ContainsFunc(a.Uses, func(u axes.Use) bool { return u.Kind == axes.Looks && u.Term.Has(axis) })
		if axis.Fixed == "" && !looked &&
			!(c.Positions == transformer.Learned && axis == a.Tensors["pos.weight"][0].Find()) {
			fit = append(fit, k)
		}
	}
	k := fit[r.IntN(len(fit))]
	to := list[k].Size + 1 + r.IntN(2*list[k].Size)
	if r.IntN(3) == 0 {
		to = 2 * list[k].Size
	}
	o := Options{Spread: []float64{0, 0.5}[r.IntN(2)], Seed: r.Uint64() >> 32}
	o.Partition = o.Spread == 0 && r.IntN(2) == 0
	normed := false
	for _, u := range a.Uses {
		normed = normed || u.Kind == axes.Normalises && u.Term.Has(list[k])
	}
	exact := !o.Partition && (!normed || o.Spread == 0 && to%list[k].Size == 0)
	return operation{fmt.Sprintf("widen axis %d from %d to %d", k, list[k].Size, to), exact,
		func(a *axes.Axes) (*Plan, error) { return Widen(a, a.List()[k], to, o) }}
}

func TestDrawnTransformersKeepTheFunction(t *testing.T) {
	count := 60
	if os.Getenv("GRAFT_LONG") != "" {
		count = 2000
	}
	done, refused := 0, 0
	for seed := range count {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		dtype, within := weights.Float64, 1e-10
		if seed%3 == 0 {
			dtype, within = weights.Float32, 1e-5
		}
		c := drawConfig(r, dtype)
		g, err := transformer.New(c)
		require.NoError(t, err)
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			n, err := g.Bind(s, torch.CPU, drawWeights(g, r))
			require.NoError(t, err)
			x := &subject{t, s, n}
			ids := x.tokens(r, c)
			want := x.logits(ids)
			var plans []*Plan
			for range 1 + r.IntN(3) {
				op := drawOperation(r, x.n.Graph, c)
				a, err := axes.Read(x.n.Graph)
				require.NoError(t, err)
				plan, err := op.plan(a)
				if err != nil {
					refused++
					t.Logf("seed %d, %s: %v", seed, op.name, err)
					continue
				}
				done++
				before := x.gradients(ids)
				grown, err := plan.Grow(s, x.n)
				require.NoError(t, err, "seed %d, %s", seed, op.name)
				x.n = grown
				if !assert.Less(t, distance(want, x.logits(ids)), within, "seed %d, %s of %+v", seed, op.name, c) {
					return nil
				}
				if op.exact && c.Dropout == 0 && c.DropPath == 0 {
					x.checkMoments(plan, before, x.gradients(ids), within,
						fmt.Sprintf("seed %d, %s of %+v", seed, op.name, c))
				}
				plans = append(plans, plan)
			}
			for k := len(plans) - 1; k >= 0; k-- {
				back, err := plans[k].Reverse()
				require.NoError(t, err)
				x.n, err = back.Grow(s, x.n)
				require.NoError(t, err)
			}
			assert.Less(t, distance(want, x.logits(ids)), within, "seed %d, and back", seed)
			if len(plans) > 0 {
				assert.Equal(t, g.Form(), x.n.Graph.Form(), "seed %d", seed)
			}
			return nil
		}))
	}
	t.Logf("%d changes, %d refused", done, refused)
	assert.Greater(t, done, 3*refused)
}

// checkMoments compares gradients after a change with the gradients that the plan makes from the earlier ones.
func (x *subject) checkMoments(p *Plan, before, after map[string]*torch.Tensor, within float64, what string) {
	largest := 0.0 // some gradients are zero up to rounding, such as the gradients of key biases
	for _, g := range after {
		for _, v := range x.values(g) {
			largest = max(largest, math.Abs(v))
		}
	}
	for _, m := range p.Moves {
		t := p.Graph.Tensor(m.Name)
		if t.Role != graph.Parameter || m.Fresh || m.Values != "" {
			continue
		}
		want := x.values(p.Moments(x.s, m, before[m.From], 1))
		for k, got := range x.values(after[m.Name]) {
			if !assert.InDelta(x.t, want[k], got, 10*within*largest, "%s: gradient of %s", what, m.Name) {
				return
			}
		}
	}
}
