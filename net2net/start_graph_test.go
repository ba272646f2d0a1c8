package net2net_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/model/graph"
	"graft/net2net"
	"graft/net2net/rewrite"
	"graft/torch"
	"graft/torch/weights"
)

// graphOf returns the case's network as a graph of operators, with the same weights.
func (c startCase) graphOf(t *testing.T, s *torch.Scope, tree *model.Network) *model.Network {
	in := graph.Input{Value: "x", DType: weights.Float64, Shape: []graph.Size{{Name: "batch", N: 2}}}
	for _, size := range c.input {
		in.Shape = append(in.Shape, graph.Size{N: size})
	}
	b := graph.NewBuilder("Drawn", in, weights.Float64)
	x := in.Value
	for k, l := range c.layers {
		slots := l.Slots()
		b.Module(fmt.Sprint(k), strings.SplitN(l.String(), "(", 2)[0], func() {
			parameter := func(at int) any {
				if at >= len(slots) {
					return nil
				}
				return b.Parameter(slots[at].Name, "zeros", slots[at].Shape...)
			}
			switch l := l.(type) {
			case model.Linear:
				x = b.Call("linear.default", "input", x, "weight", parameter(0), "bias", parameter(1))
			case model.Conv2d:
				x = b.Call("conv2d.default", "input", x, "weight", parameter(0), "bias", parameter(1), "stride",
					[]int{l.Stride.H, l.Stride.W}, "padding", []int{l.Padding.H, l.Padding.W})
			case model.BatchNorm:
				mean := b.Tensor(graph.Tensor{Name: "running_mean", Role: graph.Buffer, DType: weights.Float64,
					Shape: []int{l.Features}})
				variance := b.Tensor(graph.Tensor{Name: "running_var", Role: graph.Buffer, DType: weights.Float64,
					Shape: []int{l.Features}})
				x = b.Call("batch_norm.default", "input", x, "weight", parameter(0), "bias", parameter(1),
					"running_mean", mean, "running_var", variance,
					"training", false, "momentum", l.Momentum, "eps", l.Eps,
					"cudnn_enabled", false)
			case model.AvgPool2d:
				x = b.Call("avg_pool2d.default", "self", x, "kernel_size", []int{2, 2}, "stride", []int{2, 2})
			case model.Flatten:
				x = b.Call("flatten.using_ints", "self", x, "start_dim", 1, "end_dim", -1)
			case model.Activation:
				x = b.Call(map[torch.Activation]string{torch.ReLU: "relu", torch.Tanh: "tanh",
					torch.Sigmoid: "sigmoid"}[l.Kind]+".default", "self", x)
			}
		})
	}
	b.Graph.Output = x
	b.Graph.Recover(nil)
	n, err := model.FromGraph(b.Graph)
	require.NoError(t, err)
	require.NoError(t, n.Materialize(s, model.Placement{DType: torch.Float64, Random: s.NewGenerator(torch.CPU, 1)}))
	tensors := tree.Tensors()
	for _, e := range n.State() {
		s.Copy(e.Tensor, tensors[e.Name])
	}
	require.NoError(t, s.Err())
	return n
}

// A network that runs as a graph gets the same new units as its tree. It keeps its function, moments, reversal and
// replay.
func TestStartsOfGraphs(t *testing.T) {
	for name, c := range startCases() {
		for _, start := range []net2net.Start{"gradmax", "firefly", "tiny"} {
			t.Run(fmt.Sprintf("%s, %s", start, name), func(t *testing.T) {
				require.NoError(t, torch.With(func(s *torch.Scope) error {
					tree, o, _ := c.network(t, s)
					n := c.graphOf(t, s, tree)
					o.Start, o.Amplitude = start, 0
					checkGraphStart(t, s, c, tree, n, o)
					return s.Err()
				}))
			})
		}
	}
}

func checkGraphStart(t *testing.T, s *torch.Scope, c startCase, tree, n *model.Network, o net2net.Options) {
	first, err := n.Clone(s)
	require.NoError(t, err)
	before := logitsOf(t, n, o)
	want, err := net2net.Gain(tree, c.action(), o)
	require.NoError(t, err)
	gain, err := net2net.Gain(n, c.action(), o)
	require.NoError(t, err)
	require.InEpsilon(t, want, gain, 1e-9)

	made, err := net2net.Apply(tree, c.action(), o)
	require.NoError(t, err)
	change, err := net2net.Apply(n, c.action(), o)
	require.NoError(t, err)
	require.Equal(t, made.Units, change.Units)
	require.Equal(t, made.Notes, change.Notes)
	requireSameTensors(t, tree, n, 1e-9)
	if after := logitsOf(t, n, o); o.Start != "tiny" {
		require.Less(t, net2net.DriftBetween(before, after).Relative, 1e-12)
	}

	text, err := json.Marshal(change)
	require.NoError(t, err)
	var saved net2net.Change
	require.NoError(t, json.Unmarshal(text, &saved))
	twin, err := first.Clone(s)
	require.NoError(t, err)
	_, err = net2net.Replay(twin, &saved, net2net.Options{})
	require.NoError(t, err)
	requireSameTensors(t, n, twin, 0)
	_, err = net2net.Revert(twin, &saved)
	require.NoError(t, err)
	requireSameTensors(t, first, twin, 0)
}

func logitsOf(t *testing.T, n *model.Network, o net2net.Options) []float64 {
	values, err := net2net.Logits(n, o.Batch, true)
	require.NoError(t, err)
	return values
}

// requireSameTensors compares the tensors of two networks by name.
func requireSameTensors(t *testing.T, a, b *model.Network, tolerance float64) {
	t.Helper()
	tensors := a.Tensors()
	for _, e := range b.State() {
		want, got := plainOf(t, tensors[e.Name]), plainOf(t, e.Tensor)
		require.Equal(t, want.Shape, got.Shape, e.Name)
		for k, v := range want.Values {
			require.LessOrEqual(t, math.Abs(v-got.Values[k]), tolerance*(1+math.Abs(v)), "%s, value %d", e.Name, k)
		}
	}
}

// The optimizer of a graph keeps the moments of old units. New units get a zero first moment and the mean second
// moment.
func TestMomentsOfNewUnitsInGraphs(t *testing.T) {
	c := startCases()["linear and tanh"]
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		tree, o, labels := c.network(t, s)
		n := c.graphOf(t, s, tree)
		optimizer, err := net2net.NewOptimizer(s, n, torch.OptimizerOptions{Rule: torch.Adam, LR: 0.01})
		require.NoError(t, err)
		p, err := n.Program(s, torch.ProgramOptions{})
		require.NoError(t, err)
		_, err = torch.Train(p, optimizer.Optimizer, torch.Batches{Inputs: o.Batch,
			Labels: torch.From(s, labels, len(labels)), Size: len(labels)})
		require.NoError(t, err)
		was := [2]plainTensor{plainOf(t, optimizer.Slots[0].First), plainOf(t, optimizer.Slots[0].Second)}
		o.Start = "gradmax"
		change, err := net2net.Apply(n, c.action(), o)
		require.NoError(t, err)
		optimizer, err = optimizer.Follow(s, n, change, net2net.Following{})
		require.NoError(t, err)
		now := [2]plainTensor{plainOf(t, optimizer.Slots[0].First), plainOf(t, optimizer.Slots[0].Second)}
		mean := 0.0
		for _, v := range was[1].Values {
			mean += v / float64(len(was[1].Values))
		}
		old := len(was[0].Values)
		for k := range 2 {
			require.Equal(t, was[k].Values, now[k].Values[:old])
			for _, v := range now[k].Values[old:] {
				require.InDelta(t, mean*float64(k), v, 1e-12)
			}
		}
		return s.Err()
	}))
}

// New ways to start units apply to a transformer's hidden units. For heads and the residual stream, the error names the
// remedy.
func TestStartsOfTransformers(t *testing.T) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		n, err := model.Zoo("CharGPT", model.ZooOptions{Input: model.Shape{16}, Classes: 20})
		require.NoError(t, err)
		require.NoError(t, n.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, 3)}))
		tokens, labels := make([]int64, 8*16), make([]int64, 8*16)
		for k := range tokens {
			tokens[k], labels[k] = int64(k*7%20), int64((k+1)*7%20)
		}
		labels[3] = -100 // an ignored label
		o := net2net.Options{Batch: torch.From(s, tokens, 8, 16), Seed: 2,
			Loss: net2net.CrossEntropy(torch.From(s, labels, 8, 16))}
		before := logitsOf(t, n, o)
		actions, err := net2net.Proposals(n)
		require.NoError(t, err)
		widened, refused := 0, 0
		for _, a := range actions {
			if a.Kind != "widen" {
				continue
			}
			for _, o.Start = range []net2net.Start{"gradmax", "firefly", "tiny"} {
				twin, err := n.Clone(s)
				require.NoError(t, err)
				change, err := net2net.Apply(twin, a, o)
				if err != nil {
					require.ErrorContains(t, err, `use new_units = "copies"`)
					refused++
					continue
				}
				widened++
				if o.Start != "tiny" {
					require.Less(t, net2net.DriftBetween(before, logitsOf(t, twin, o)).Relative, 1e-5, a.String())
				}
				_, err = net2net.Revert(twin, change)
				require.NoError(t, err)
				require.Equal(t, before, logitsOf(t, twin, o))
			}
		}
		t.Logf("measured: %d widened, %d refused", widened, refused)
		require.Positive(t, widened)
		require.Positive(t, refused)
		return s.Err()
	}))
}

// A record with splits, as Firefly writes them, replays and reverts in trees and graphs: a split without a perturbation
// keeps the function, and reverting merges the halves.
func TestSplitsAmongNewUnits(t *testing.T) {
	c := startCases()["convolutions"]
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		tree, o, _ := c.network(t, s)
		o.Start = "gradmax"
		for _, n := range []*model.Network{tree, c.graphOf(t, s, tree)} {
			first, err := n.Clone(s)
			require.NoError(t, err)
			twin, err := n.Clone(s)
			require.NoError(t, err)
			record, err := net2net.Apply(twin, c.action(), o)
			require.NoError(t, err)
			old := len(record.Units) - 3
			record.Units[old], record.Units[old+2] = 1, 3
			moves := 0
			zero := func(added []rewrite.Added) {
				for _, a := range added {
					clear(a.Values)
					moves++
				}
			}
			for _, m := range record.Moves {
				zero(m.Added)
			}
			if record.Graph != nil {
				for _, m := range record.Graph.Moves {
					zero(m.Added)
				}
			}
			require.Positive(t, moves)
			before := logitsOf(t, n, o)
			change, err := net2net.Replay(n, record, net2net.Options{})
			require.NoError(t, err)
			require.Less(t, net2net.DriftBetween(before, logitsOf(t, n, o)).Relative, 1e-12)
			require.Equal(t, record.Units, change.Units)
			_, err = net2net.Revert(n, change)
			require.NoError(t, err)
			requireSameTensors(t, first, n, 1e-15)
		}
		return s.Err()
	}))
}
