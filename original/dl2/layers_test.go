package dl2_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
	"graft/learn/dense"
	"graft/original/dl2"
)

// The gradients of all forms of networks equal finite differences.
func TestGradientsOfForms(t *testing.T) {
	for _, o := range []dl2.ShapeOptions{
		{}, {NoAffine: true, Layers: 2}, {FirstTanh: true}, {Front: dl2.ByJob},
		{Front: dl2.ByAttribute, FirstTanh: true}, {Front: dl2.ByJob, Shortcut: true, Layers: 2},
		{Front: dl2.ByJob, Shortcut: true, NoAffine: true, FirstTanh: true},
	} {
		for _, value := range []bool{false, true} {
			o.WindowOptions, o.Neurons = elastic.WindowOptions{Size: 3}, 5
			t.Run(fmt.Sprintf("%+v value %v", o, value), func(t *testing.T) {
				random := rand.New(rand.NewPCG(1, 2))
				n, err := dense.New(6*3, random, o.Stack(6, 3, value)...)
				require.NoError(t, err)
				require.Equal(t, map[bool]int{false: 10, true: 1}[value], n.Outputs())
				for _, p := range n.Params { // larger than the small initial weights, which hide errors
					for k := range p {
						p[k] += 0.3 * random.NormFloat64()
					}
				}
				requireGradients(t, n, random)
			})
		}
	}
}

func requireGradients(t *testing.T, n *dense.Network, random *rand.Rand) {
	const examples, h = 3, 1e-6
	draw := func(count int) (all []float64) {
		for range count {
			all = append(all, random.NormFloat64())
		}
		return all
	}
	x, weigh, p := draw(examples*n.Inputs), draw(examples*n.Outputs()), n.NewPass(examples)
	value := func() (sum float64) {
		for k, v := range p.Forward(x) {
			sum += v * weigh[k]
		}
		return sum
	}
	value()
	got := n.NewGradients()
	p.Backward(weigh, got)
	for k, param := range n.Params {
		for at := range param {
			was := param[at]
			param[at] = was + h
			above := value()
			param[at] = was - h
			below := value()
			param[at] = was
			require.InDelta(t, (above-below)/(2*h), got[k][at], 1e-6, "parameter %d, value %d", k, at)
		}
	}
}

// A layer per job reads only the job's column, and a layer per row reads only the row.
func TestFirstLayersSeeTheirPart(t *testing.T) {
	for front, same := range map[string]func(input, output int) bool{
		dl2.ByJob:       func(input, output int) bool { return input%4 == output/6 },
		dl2.ByAttribute: func(input, output int) bool { return input/4 == output/4 },
	} {
		o := dl2.ShapeOptions{WindowOptions: elastic.WindowOptions{Size: 4}, Front: front, FirstTanh: true,
			NoAffine: true}
		n, err := dense.New(24, rand.New(rand.NewPCG(1, 1)), o.Stack(6, 3, false)[:2]...)
		require.NoError(t, err)
		p, x := n.NewPass(1), make([]float64, 24)
		for input := range x {
			clear(x)
			x[input] = 1
			for output, v := range p.Forward(x) {
				require.Equal(t, same(input, output), v != 0, "%s: input %d, output %d", front, input, output)
			}
		}
	}
}
