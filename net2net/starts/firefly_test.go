package starts

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/pythontest"
	"graft/torch"
)

const rowsOfBatch, unitsOfLayer = 20, 60

// drawn returns a tensor with uniform values between -1 and 1.
func drawn(s *torch.Scope, random *torch.Generator, shape ...int) *torch.Tensor {
	x := s.Zeros(torch.Float64, torch.CPU, shape...)
	s.Uniform(x, -1, 1, random)
	return x
}

// segmentOf returns a segment of two layers with an activation between them.
func segmentOf(t *testing.T, s *torch.Scope, images bool) *Segment {
	random := s.NewGenerator(torch.CPU, 3)
	var b torch.Builder
	g := &Segment{Middle: s.NewProgram(&b, b.Activate(b.Input(), torch.Tanh, 0), torch.ProgramOptions{})}
	if !images {
		g.Inputs, g.Gradient = drawn(s, random, rowsOfBatch, 4), drawn(s, random, rowsOfBatch, 3)
		g.Producer = Layer{Weight: drawn(s, random, unitsOfLayer, 4), Bias: drawn(s, random, unitsOfLayer)}
		g.Consumer = Layer{Weight: s.Mul(drawn(s, random, 3, unitsOfLayer), important(s, 1, unitsOfLayer))}
		return g
	}
	g.Inputs, g.Gradient = drawn(s, random, rowsOfBatch, 2, 7, 7), drawn(s, random, rowsOfBatch, 3, 4, 4)
	g.Producer = Layer{Plane: &torch.Plane{Padding: [2]int{1, 1}}, Weight: drawn(s, random, unitsOfLayer, 2, 3, 3)}
	g.Consumer = Layer{Plane: &torch.Plane{Stride: [2]int{2, 2}, Padding: [2]int{1, 1}},
		Weight: s.Mul(drawn(s, random, 3, unitsOfLayer, 3, 3), important(s, 1, unitsOfLayer, 1, 1))}
	require.NoError(t, s.Err())
	return g
}

// important returns factors that make the outgoing weights of three units large, so splits of these units have a large
// effect.
func important(s *torch.Scope, shape ...int) *torch.Tensor {
	factors := slices.Repeat([]float64{0.01}, unitsOfLayer)
	factors[0], factors[1], factors[2] = 1, -1, 1
	return torch.From(s, factors, shape...)
}

// tensorOf describes a tensor for Python.
func tensorOf(t *testing.T, x *torch.Tensor) any {
	if x == nil {
		return nil
	}
	values, err := torch.Values[float64](x)
	require.NoError(t, err)
	return map[string]any{"shape": x.Shape(), "values": values}
}

// chosen holds the units that Python selects.
type chosen struct {
	In, Out [][]float64
	Splits  []int
}

// Firefly selects the same units as the formulas, from the same random directions, with both kinds of candidates.
func TestFireflyEqualsTheFormulas(t *testing.T) {
	python := pythontest.Find(t, "torch")
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		split := false
		for _, images := range []bool{false, true} {
			for _, epsilon := range []float64{0, 1.5} {
				if images == (epsilon > 0) && os.Getenv("GRAFT_LONG") == "" {
					continue
				}
				g := segmentOf(t, s, images)
				r := Request{Count: 14, Amplitude: epsilon, Seed: 9}
				got, err := firefly.start(s, g, r)
				require.NoError(t, err)
				want := g.selected(t, s, python, r)
				require.Equal(t, want.Splits, got.Splits)
				split = split || slices.Max(got.Splits) >= 0
				if epsilon == 0 {
					require.Equal(t, slices.Repeat([]int{-1}, r.Count), got.Splits)
				}
				for k := range want.In {
					require.InDeltaSlice(t, want.In[k], got.In[k], 1e-9)
					require.InDeltaSlice(t, want.Out[k], got.Out[k], 1e-9)
				}
			}
		}
		require.True(t, split, "no split was chosen in any case")
		return s.Err()
	}))
}

// selected returns the units that Python selects from the directions that the seed draws.
func (g *Segment) selected(t *testing.T, s *torch.Scope, python string, r Request) chosen {
	in, _, err := g.norms(s)
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(r.Seed, 0x66697265))
	draw := func(count int) (all [][]float64) {
		for range count {
			all = append(all, direction(random, g.inputs(), in))
		}
		return all
	}
	plane := func(l Layer) any {
		if l.Plane == nil {
			return nil
		}
		return map[string]any{"stride": max(1, l.Plane.Stride[0]), "padding": l.Plane.Padding[0]}
	}
	fresh := draw(candidatesPerUnit * r.Count)
	text, err := json.Marshal(map[string]any{"inputs": tensorOf(t, g.Inputs), "gradient": tensorOf(t, g.Gradient),
		"producer": tensorOf(t, g.Producer.Weight), "bias": tensorOf(t, g.Producer.Bias),
		"consumer": tensorOf(t, g.Consumer.Weight), "first": plane(g.Producer), "second": plane(g.Consumer),
		"fresh": fresh, "deltas": draw(g.units()), "epsilon": r.Amplitude, "count": r.Count})
	require.NoError(t, err)
	command := exec.Command(python, "-W", "ignore", "testdata/firefly.py")
	command.Stdin = bytes.NewReader(text)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	require.NoError(t, err, "%s", stderr.String())
	var c chosen
	require.NoError(t, json.Unmarshal(out, &c))
	return c
}
