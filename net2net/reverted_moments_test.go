package net2net

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/net2net/rewrite"
	"graft/torch"
)

// imageLearner returns a small convolutional network with an optimizer that has taken a step.
func imageLearner(t *testing.T, s *torch.Scope) (*model.Network, *Optimizer) {
	n, err := model.Zoo("ConvNet", model.ZooOptions{})
	require.NoError(t, err)
	random := s.NewGenerator(torch.CPU, 1)
	require.NoError(t, n.Materialize(s, model.Placement{Random: random}))
	o, err := NewOptimizer(s, n, torch.OptimizerOptions{Rule: torch.Adam, LR: 0.01})
	require.NoError(t, err)
	p, err := n.Program(s, torch.ProgramOptions{})
	require.NoError(t, err)
	defer p.Close()
	images := s.Zeros(torch.Float32, torch.CPU, 4, 3, 32, 32)
	s.Normal(images, 0, 1, random)
	_, err = torch.Train(p, o.Optimizer, torch.Batches{Inputs: images,
		Labels: torch.From(s, []int64{1, 2, 3, 4}, 4), Size: 4})
	require.NoError(t, err)
	return n, o
}

// Reverting a change restores the moments of the network before it.
func TestMomentsRevert(t *testing.T) {
	for action, learner := range map[string]func(*testing.T, *torch.Scope) (*model.Network, *Optimizer){
		"widen:0:48":            imageLearner,
		"widen:1:64":            imageLearner,
		"widen:2:40":            imageLearner,
		"deepen:blocks.0":       tokenLearner,
		"widen:blocks.0.up:48":  tokenLearner,
		"widen:blocks.0.up:96":  tokenLearner,
		"widen:blocks.0.q/0:3":  tokenLearner,
		"widen:blocks.1.q/1:6":  tokenLearner,
		"widen:blocks.0.q/1:12": tokenLearner,
		"widen:tok:16":          tokenLearner,
		"widen:tok:20":          tokenLearner,
		"widen:vocabulary:20":   tokenLearner,
		"widen:context:12":      tokenLearner,
		"widen:untied":          tokenLearner,
	} {
		t.Run(action, func(t *testing.T) {
			require.NoError(t, torch.With(func(s *torch.Scope) error {
				n, o := learner(t, s)
				moments := func() map[string][2][]float64 {
					all := map[string][2][]float64{}
					for k, name := range o.Names {
						all[name] = [2][]float64{valuesOf(t, s, o.Slots[k].First), valuesOf(t, s, o.Slots[k].Second)}
					}
					return all
				}
				want := moments()
				a, err := ParseAction(action)
				require.NoError(t, err)
				c, err := Apply(n, a, Options{Split: SplitEqual})
				require.NoError(t, err)
				o, err = o.Follow(s, n, c, Following{})
				require.NoError(t, err)
				c, err = Revert(n, c)
				require.NoError(t, err)
				o, err = o.Follow(s, n, c, Following{})
				require.NoError(t, err)
				got := moments()
				require.Len(t, got, len(want))
				for name, w := range want {
					for k := range w {
						largest := max(slices.Max(w[k]), -slices.Min(w[k]))
						require.InDeltaSlice(t, w[k], got[name][k], 1e-5*largest, "%s, moment %d", name, k+1)
					}
				}
				return nil
			}))
		})
	}
}

// In a graph, slices without an origin start with a first moment of zero, and with the tensor's mean second moment.
func TestMomentsOfPadding(t *testing.T) {
	for action, tensors := range map[string]int{"widen:tok:20": 28, "widen:vocabulary:20": 1, "widen:context:12": 1} {
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			n, o := tokenLearner(t, s)
			means := map[string]float64{}
			for k, name := range o.Names {
				second := valuesOf(t, s, o.Slots[k].Second)
				for _, v := range second {
					means[name] += v / float64(len(second))
				}
			}
			a, err := ParseAction(action)
			require.NoError(t, err)
			c, err := Apply(n, a, Options{})
			require.NoError(t, err)
			o, err = o.Follow(s, n, c, Following{})
			require.NoError(t, err)
			found := 0
			for k, e := range n.Trained() {
				at := slices.IndexFunc(c.Graph.Moves, func(m rewrite.Move) bool { return m.Name == e.Name })
				first, second := valuesOf(t, s, o.Slots[k].First), valuesOf(t, s, o.Slots[k].Second)
				padded := false
				for i := range first {
					if !isPadding(c.Graph.Moves[at], e.Tensor.Shape(), i) {
						continue
					}
					padded = true
					require.Zero(t, first[i], e.Name)
					require.InEpsilon(t, means[e.Name], second[i], 1e-5, e.Name)
				}
				if padded {
					found++
				}
			}
			require.Equal(t, tensors, found, action)
			return nil
		}))
	}
}

// isPadding reports whether an element of a tensor, by its index, has no origin.
func isPadding(m rewrite.Move, shape []int, index int) bool {
	inner := model.Shape(shape).Count()
	for at, size := range shape {
		inner /= size
		place := index / inner % size
		if slices.ContainsFunc(m.Dims, func(d rewrite.Dim) bool { return d.At == at && d.From[place] < 0 }) {
			return true
		}
	}
	return false
}
