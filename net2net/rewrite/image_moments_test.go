package rewrite

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model/graph"
	"graft/torch"
	"graft/torch/weights"
	"graft/tracing/axes"
)

// gradientsOf returns the gradients of the sum of squared outputs, by tensor.
func gradientsOf(t *testing.T, s *torch.Scope, n *graph.Network, images *torch.Tensor) map[string][]float64 {
	p, err := n.Program(s, torch.ProgramOptions{})
	require.NoError(t, err)
	out := p.Forward(s, images, true, nil)
	s.Backward(s.Sum(s.Mul(out, out)))
	require.NoError(t, s.Err())
	all := map[string][]float64{}
	for _, name := range n.Trained() {
		gradient := s.Grad(n.Tensor(name))
		all[name], err = torch.Values[float64](s.To(s.Detach(gradient), torch.Float64, torch.CPU))
		require.NoError(t, err)
		s.Fill(gradient, 0)
	}
	return all
}

// follows compares the gradients after a change, and their squares, with the moments that the plan makes from the
// gradients before it. Copied tensors are compared, because new tensors have no gradient to follow.
func follows(t *testing.T, s *torch.Scope, p *Plan, was *graph.Graph, before, after map[string][]float64,
	what string) (compared int) {
	largest := 0.0
	for _, g := range after {
		largest = max(largest, slices.Max(g), -slices.Min(g))
	}
	for _, m := range p.Moves {
		if p.Graph.Tensor(m.Name).Role != graph.Parameter || m.Fresh || m.Values != "" || m.Fold != nil {
			continue
		}
		compared++
		for power := 1; power <= 2; power++ {
			values := make([]float64, len(before[m.From]))
			for k, g := range before[m.From] {
				values[k] = math.Pow(g, float64(power))
			}
			shape := was.Tensor(m.From).Shape
			moment := p.Moments(s, m, torch.From(s, values, shape...), float64(power))
			got, err := torch.Values[float64](moment)
			require.NoError(t, err, what)
			require.Len(t, got, len(after[m.Name]), "%s: %s", what, m.Name)
			for k, g := range after[m.Name] {
				if !assert.InDelta(t, math.Pow(g, float64(power)), got[k], 1e-9*math.Pow(largest, float64(power)),
					"%s: moment %d of %s", what, power, m.Name) {
					return compared
				}
			}
		}
	}
	return compared
}

// In networks for images, the optimizer's moments of widened, deepened and shrunk layers are the gradients of the new
// network, and their squares.
func TestMomentsOfNetworksForImages(t *testing.T) {
	for name, network := range networksForImages {
		g, err := network.Graph([]int{3, 8, 8}, 5)
		require.NoError(t, err)
		compared := 0
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			r := rand.New(rand.NewPCG(5, 5))
			n, images := double(t, s, g, r)
			read, err := axes.Read(n.Graph)
			require.NoError(t, err)
			was := gradientsOf(t, s, n, images)
			check := func(what string, p *Plan) {
				grown, err := p.Grow(s, n)
				require.NoError(t, err, what)
				now := gradientsOf(t, s, grown, images)
				compared += follows(t, s, p, n.Graph, was, now, what)
				back, err := p.Reverse()
				require.NoError(t, err, what)
				follows(t, s, back, grown.Graph, now, was, what+", and back")
			}
			for k, axis := range read.List() {
				p, err := Widen(read, axis, 2*axis.Size, Options{Seed: uint64(k)})
				if axis.Fixed == "" && err == nil {
					check(fmt.Sprintf("%s, widen %s", name, read.Name(axis)), p)
				}
			}
			blocks, _ := Blocks(read)
			for _, b := range blocks {
				p, err := Deepen(read, b.Path, ZeroBranches)
				require.NoError(t, err)
				check(fmt.Sprintf("%s, deepen %s", name, b.Path), p)
			}
			return nil
		}))
		require.Positive(t, compared, name)
	}
}

// double returns a network in double precision with large weights, and images.
func double(t *testing.T, s *torch.Scope, g *graph.Graph, r *rand.Rand) (*graph.Network, *torch.Tensor) {
	for k := range g.Tensors {
		if g.Tensors[k].DType == weights.Float32 {
			g.Tensors[k].DType = weights.Float64
		}
	}
	g.Input.DType = weights.Float64
	drawn := drawWeights(g, r)
	fresh, err := g.Draw(1)
	require.NoError(t, err)
	for k, w := range fresh.Tensors {
		if g.Tensors[k].Role == graph.Buffer {
			drawn.Tensors[k] = w // variances are positive, and counts are integers
		}
	}
	n, err := g.Bind(s, torch.CPU, drawn)
	require.NoError(t, err)
	images := make([]float64, 2*3*8*8)
	for k := range images {
		images[k] = r.NormFloat64()
	}
	return n, torch.From(s, images, 2, 3, 8, 8)
}
