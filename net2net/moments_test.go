package net2net

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/model/transformer"
	"graft/net2net/rewrite"
	"graft/torch"
)

// tokenLearner returns a small transformer with an optimizer that has taken a step.
func tokenLearner(t *testing.T, s *torch.Scope) (*model.Network, *Optimizer) {
	g, err := transformer.New(transformer.Config{Vocabulary: 11, Context: 8, Width: 8, Heads: 2, Depth: 2})
	require.NoError(t, err)
	n, err := model.FromGraph(g)
	require.NoError(t, err)
	require.NoError(t, n.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, 1)}))
	o, err := NewOptimizer(s, n, torch.OptimizerOptions{Rule: torch.AdamW, LR: 0.01})
	require.NoError(t, err)
	p, err := n.Program(s, torch.ProgramOptions{})
	require.NoError(t, err)
	defer p.Close()
	tokens := s.To(s.Reshape(torch.From(s, []float32{1, 2, 3, 4, 5, 6, 7, 8}, 8), 1, 8), torch.Int64, torch.CPU)
	_, err = torch.Train(p, o.Optimizer, torch.Batches{Inputs: tokens, Labels: tokens, Size: 1})
	require.NoError(t, err)
	return n, o
}

// followedBy applies an action to a transformer, and returns the network, its optimizer and the change.
func followedBy(t *testing.T, s *torch.Scope, action string, o Options, with Following) (*model.Network, *Optimizer,
	*Change) {
	n, opt := tokenLearner(t, s)
	a, err := ParseAction(action)
	require.NoError(t, err)
	c, err := Apply(n, a, o)
	require.NoError(t, err)
	opt, err = opt.Follow(s, n, c, with)
	require.NoError(t, err)
	return n, opt, c
}

func valuesOf(t *testing.T, s *torch.Scope, x *torch.Tensor) []float64 {
	values, err := torch.Values[float64](s.To(x, torch.Float64, torch.CPU))
	require.NoError(t, err)
	return values
}

// freshInGraph returns which elements of a graph's tensor the plan adds, and whether it adds all of them. An element is
// old if its tensor is the first with its origin, and its place is the first from the old place.
func freshInGraph(c *Change, name string, shape []int) (fresh []bool, isWhole bool) {
	taken := map[string]bool{}
	at := slices.IndexFunc(c.Graph.Moves, func(m rewrite.Move) bool {
		plain := !m.Fresh && m.Values == ""
		if m.Name == name {
			isWhole = !plain || taken[m.From]
			return true
		}
		taken[m.From] = taken[m.From] || plain
		return false
	})
	m := c.Graph.Moves[at]
	fresh = make([]bool, model.Shape(shape).Count())
	seen := map[string]bool{}
	for k := range fresh {
		place, rest := make([]byte, len(shape)), k
		for d := len(shape) - 1; d >= 0; d-- {
			place[d], rest = byte(rest%shape[d]), rest/shape[d]
		}
		isPadding := false
		for j := len(m.Dims) - 1; j >= 0; j-- {
			from := m.Dims[j].From[place[m.Dims[j].At]]
			if from < 0 {
				isPadding = true
				break
			}
			place[m.Dims[j].At] = byte(from)
		}
		fresh[k] = isWhole || isPadding || seen[string(place)]
		seen[string(place)] = true
	}
	return fresh, isWhole
}

// After a change, a graph's optimizer has the expected moments, step counts and births.
func TestMomentsOfGraphs(t *testing.T) {
	for name, x := range map[string]struct {
		action  string
		options Options
		slices  int // tensors with old and new elements
		tensors int // new tensors
	}{
		"deepen":            {"deepen:blocks.0", Options{}, 0, 16},
		"deepen, stacked":   {"deepen:blocks.0", Options{Form: Stacked}, 0, 16},
		"deepen, opposite":  {"deepen:blocks.0", Options{Form: Opposite}, 0, 16},
		"hidden units":      {"widen:blocks.0.up:48", Options{Seed: 3}, 3, 0},
		"equal shares":      {"widen:blocks.0.up:48", Options{Seed: 3, Split: SplitEqual}, 3, 0},
		"partition":         {"widen:blocks.0.up:48", Options{Seed: 3, Split: SplitPartition}, 3, 0},
		"heads":             {"widen:blocks.0.q/0:3", Options{}, 7, 0},
		"the size of heads": {"widen:blocks.1.q/1:6", Options{}, 4, 0},
		"residual stream":   {"widen:tok:16", Options{}, 28, 0},
		"vocabulary":        {"widen:vocabulary:20", Options{}, 1, 0},
		"an untied head":    {"widen:untied", Options{}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, torch.With(func(s *torch.Scope) error {
				const now = 7
				n, carried, c := followedBy(t, s, x.action, x.options, Following{Births: true, Step: now})
				_, settled, _ := followedBy(t, s, x.action, x.options, Following{Moments: ResetNew})
				_, reset, _ := followedBy(t, s, x.action, x.options, Following{Moments: Reset})
				require.Nil(t, settled.Born)
				counts := map[*Optimizer][]int64{}
				for _, o := range []*Optimizer{carried, settled, reset} {
					var err error
					counts[o], err = torch.Values[int64](o.Steps)
					require.NoError(t, err)
				}
				grew, added := 0, 0
				for k, e := range n.Trained() {
					fresh, isWhole := freshInGraph(c, e.Name, e.Tensor.Shape())
					switch {
					case isWhole:
						added++
						require.Zero(t, counts[settled][k], e.Name)
					case slices.Contains(fresh, true):
						grew++
						fallthrough
					default:
						require.Equal(t, int64(1), counts[settled][k], e.Name)
					}
					require.Zero(t, counts[reset][k])
					first, second := valuesOf(t, s, carried.Slots[k].First), valuesOf(t, s, carried.Slots[k].Second)
					mean, old := 0.0, 0.0
					for at := range fresh {
						if !fresh[at] {
							mean, old = mean+second[at], old+1
						}
					}
					for at := range fresh {
						if fresh[at] {
							first[at], second[at] = 0, mean/max(1, old)
						}
					}
					require.Equal(t, first, valuesOf(t, s, settled.Slots[k].First), e.Name)
					got := valuesOf(t, s, settled.Slots[k].Second)
					for at := range fresh {
						require.InEpsilon(t, 1+second[at], 1+got[at], 1e-6, e.Name)
						require.InDelta(t, second[at], got[at], 1e-5*second[at]+1e-30, "%s[%d]", e.Name, at)
					}
					require.Zero(t, slices.Max(valuesOf(t, s, reset.Slots[k].Second)))
					require.Equal(t, slices.Contains(fresh, true), carried.Born[k] != nil, e.Name)
					for at := range fresh {
						if carried.Born[k] != nil {
							born := valuesOf(t, s, carried.Born[k])[at]
							require.Equal(t, fresh[at], born == now, "%s[%d]", e.Name, at)
						}
					}
				}
				require.Equal(t, [2]int{x.slices, x.tensors}, [2]int{grew, added})
				return nil
			}))
		})
	}
}

// Births survive further changes and reversals: each element keeps its own birth.
func TestBirthsFollowChanges(t *testing.T) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		n, o := tokenLearner(t, s)
		var changes []*Change
		for k, action := range []string{"widen:blocks.0.up:48", "deepen:blocks.0", "widen:blocks.0.up:64"} {
			a, err := ParseAction(action)
			require.NoError(t, err)
			c, err := Apply(n, a, Options{Seed: uint64(k)})
			require.NoError(t, err)
			changes = append(changes, c)
			o, err = o.Follow(s, n, c, Following{Births: true, Step: int64(10 * (k + 1))})
			require.NoError(t, err)
		}
		count := func(name string) map[float64]int {
			k := slices.Index(o.Names, name)
			require.GreaterOrEqual(t, k, 0, name)
			births := map[float64]int{}
			if o.Born != nil && o.Born[k] != nil {
				for _, b := range valuesOf(t, s, o.Born[k]) {
					births[b]++
				}
			}
			return births
		}
		require.Equal(t, map[float64]int{longAgo: 32, 10: 16, 30: 16}, count("blocks.0.up.bias"))
		require.Equal(t, map[float64]int{20: 48}, count("blocks.1.up.bias"), "the copied block")
		require.Empty(t, count("blocks.2.up.bias"), "the block behind it has another name")
		for k := len(changes) - 1; k >= 0; k-- {
			back, err := Revert(n, changes[k])
			require.NoError(t, err)
			o, err = o.Follow(s, n, back, Following{Births: true, Step: 99})
			require.NoError(t, err)
			want := map[float64]int{longAgo: 32, 10: 16}
			if k == 0 {
				want = map[float64]int{longAgo: 32}
			}
			require.Equal(t, want, count("blocks.0.up.bias"))
		}
		return nil
	}))
}

// New slices take their first updates with Adam's step count of an old tensor. With a second moment of zero, the
// updates are several times the learning rate, as ResetNew states. With the mean of the old slices, they are below it.
func TestNewSlicesStartWithSmallUpdates(t *testing.T) {
	largest := func(second float64) (worst, first float64) {
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			const rate = 1e-3
			p := s.RequireGrad(s.Zeros(torch.Float64, torch.CPU, 1), true)
			o := s.NewOptimizer(torch.Group{Params: []*torch.Tensor{p},
				State:            []torch.State{{Second: s.Full(second, torch.Float64, torch.CPU, 1), Steps: 100_000}},
				OptimizerOptions: torch.OptimizerOptions{Rule: torch.Adam, LR: rate}})
			before := 0.0
			for k := range 30 {
				s.SetGrad(p, s.Full(0.5, torch.Float64, torch.CPU, 1))
				require.NoError(t, o.Step())
				now := valuesOf(t, s, s.Detach(p))[0]
				step := math.Abs(now-before) / rate
				if k == 0 {
					first = step
				}
				worst, before = max(worst, step), now
			}
			return s.Err()
		}))
		return worst, first
	}
	worst, first := largest(0)
	require.InDelta(t, 3.16, first, 0.01)
	require.InDelta(t, 6.5, worst, 0.1)
	worst, first = largest(0.25) // the mean square of gradients of this size
	require.InDelta(t, 0.1, first, 1e-3)
	require.Less(t, worst, 1.0)
}

// An unknown value gives an error that lists the known values.
func TestUnknownMoments(t *testing.T) {
	for _, m := range AllMoments() {
		require.NoError(t, m.Validate())
	}
	require.EqualError(t, Moments("keep").Validate(),
		`moments is "keep"; expected one of: carry, reset-new, reset`)
}
