package decider_test

import (
	"context"
	"encoding/binary"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/decider"
	"graft/internal/files"
	"graft/net2net"
	"graft/torch/weights"
)

// stump returns a tree that predicts low if an input is below the cut, and high otherwise.
func stump(input int32, cut, low, high float32) decider.RegressionTree {
	return decider.RegressionTree{Feature: []int32{input, -1, -1}, Cut: []float32{cut, low, high},
		Right: []int32{2, 0, 0}}
}

// forest returns a policy that prefers to deepen (input 0) while more than half of the budget (input 7) is left.
func forest(t testing.TB) *decider.Structural {
	observation, err := decider.ProposedObservation(zoo(t, "ConvSmall"), nil, net2net.Options{})
	require.NoError(t, err)
	early, late := halfTime, halfTime
	early.Left, late.Left = halfTime.Budget, 0
	scale := decider.MeasureForestScale([]decider.Situation{{Observation: observation, State: early},
		{Observation: observation, State: late}})
	return &decider.Structural{StructuralShape: decider.StructuralShape{Hidden: 32, Rounds: 2},
		Rows: scale, Learned: []net2net.Kind{"deepen", "widen"}, Notes: map[string]string{"tables": "none"},
		Forest: []decider.RegressionTree{
			{Feature: []int32{7, 2, -1, -1, 0, -1, -1}, Cut: []float32{0, 0, 0, 1, 0, 0, 1},
				Right: []int32{4, 3, 0, 0, 6, 0, 0}},
			stump(0, 0, 0, 0.1),
		}}
}

func TestForestsDecide(t *testing.T) {
	p := forest(t)
	n := zoo(t, "ConvSmall")
	state := func(left time.Duration) decider.State {
		return decider.State{Network: n, Left: left, Budget: halfTime.Budget}
	}
	early, err := p.Decide(context.Background(), state(halfTime.Budget))
	require.NoError(t, err)
	require.Equal(t, net2net.Kind("deepen"), early.Action.Kind)
	late, err := p.Decide(context.Background(), state(time.Millisecond))
	require.NoError(t, err)
	require.Equal(t, net2net.None, late.Action.Kind)

	twice, err := decider.JoinStructural(p, p)
	require.NoError(t, err)
	require.Len(t, twice.Forest, 4)
	same, err := twice.Decide(context.Background(), state(time.Millisecond))
	require.NoError(t, err)
	require.InDeltaSlice(t, late.Probabilities, same.Probabilities, 1e-12)
	require.Equal(t, []*decider.Structural{twice}, twice.Split())
	require.Len(t, learnedPolicy(t).Split(), 2)
}

func TestForestFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.safetensors")
	require.NoError(t, forest(t).Write(files.OS{}, path))
	got, err := decider.ReadStructural(files.OS{}, path)
	require.NoError(t, err)
	require.Equal(t, forest(t), got)
}

func TestDamagedForests(t *testing.T) {
	number := func(name string, at int, value int32) func(set *weights.Set) {
		return func(set *weights.Set) {
			for _, tensor := range set.Tensors {
				if tensor.Name == name {
					binary.LittleEndian.PutUint32(tensor.Data[4*at:], uint32(value))
				}
			}
		}
	}
	for name, c := range map[string]struct {
		says  string
		spoil func(set *weights.Set)
	}{
		"no nodes":        {"has 0 nodes", number("forest.sizes", 0, 0)},
		"fewer nodes":     {"tensor forest.feature", number("forest.sizes", 0, 6)},
		"another input":   {"reads input 999", number("forest.feature", 0, 999)},
		"a cycle":         {"the right child of node 1 is node 1;", number("forest.right", 1, 1)},
		"over the end":    {"the right child of node 0 is node 7;", number("forest.right", 0, 7)},
		"a node too many": {"is unreachable", number("forest.feature", 1, -1)},
		"a leaf too few":  {"the right child of node 6 is node 0;", number("forest.feature", 6, 1)},
		"not a number":    {"threshold of node 3 is NaN", number("forest.cut", 3, 0x7fc00000)},
		"no tensor": {"tensor forest.right is missing", func(set *weights.Set) {
			set.Tensors = set.Tensors[:3]
		}},
		"members besides": {"and no members", func(set *weights.Set) { change(t, set, "members", 1) }},
		"too many trees": {"the forest has 2000000 trees",
			func(set *weights.Set) { change(t, set, "trees", 2000000) }},
		"trees of version": {"and no trees", func(set *weights.Set) { change(t, set, "version", 1) }},
		"other inputs": {"the policy's rows have inputs",
			func(set *weights.Set) { change(t, set, "rows.names", []string{"deepen"}) }},
	} {
		t.Run(name, func(t *testing.T) {
			set, err := forest(t).Set()
			require.NoError(t, err)
			c.spoil(set)
			_, err = decider.StructuralOf(set)
			require.ErrorContains(t, err, c.says)
		})
	}
}

// Any forest that is read without an error decides.
func FuzzForest(f *testing.F) {
	set, err := forest(f).Set()
	require.NoError(f, err)
	f.Add(set.Tensors[1].Data, set.Tensors[3].Data)
	f.Fuzz(func(t *testing.T, feature, right []byte) {
		damaged := &weights.Set{Metadata: set.Metadata, Tensors: append([]weights.Tensor{}, set.Tensors...)}
		damaged.Tensors[1].Data, damaged.Tensors[3].Data = fitted(feature, 40), fitted(right, 40)
		p, err := decider.StructuralOf(damaged)
		if err != nil {
			return
		}
		d, err := p.Decide(context.Background(), decider.State{Network: zoo(t, "ConvSmall"), Left: time.Second,
			Budget: halfTime.Budget})
		require.NoError(t, err)
		require.NotEmpty(t, d.Probabilities)
	})
}

func fitted(data []byte, size int) []byte { return append(data, make([]byte, size)...)[:size] }
