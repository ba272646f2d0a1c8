package net2net

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/model/graph"
	"graft/model/transformer"
	"graft/net2net/rewrite"
	"graft/torch"
	"graft/torch/weights"
	"graft/tracing/axes"
)

const grownInTraining = "../../shared/reference/transformers/cases"

// midway is a network of the reference that grows during training.
type midway struct {
	Name   string
	Before struct{ Vocab, Context, Width, Heads, Hidden, Depth int }
	AdamW  struct {
		LR          float64
		Betas       [2]float64
		Eps         float64
		WeightDecay float64 `json:"weight_decay"`
	}
	Batches      [][][]int64
	LossesBefore []float64                 `json:"losses_before"`
	LossesGrown  []float64                 `json:"losses_grown"`
	tensors      map[string]weights.Tensor // before and after growth, with moments, by name
}

func readMidway(t *testing.T) []midway {
	paths, _ := filepath.Glob(filepath.Join(grownInTraining, "adam_*.json"))
	if len(paths) == 0 {
		t.Skip("left out: transformers that grew in training; " + grownInTraining + " is not here")
	}
	var all []midway
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var m midway
		require.NoError(t, json.Unmarshal(text, &m))
		file, err := os.Open(strings.TrimSuffix(path, ".json") + ".pt")
		require.NoError(t, err)
		info, err := file.Stat()
		require.NoError(t, err)
		set, err := weights.ReadPTH(file, info.Size(), weights.Options{})
		require.NoError(t, err)
		require.NoError(t, file.Close())
		m.tensors = map[string]weights.Tensor{}
		for _, w := range set.Tensors {
			m.tensors[w.Name] = w
		}
		all = append(all, m)
	}
	return all
}

// trainee trains a network step by step.
type trainee struct {
	t *testing.T
	s *torch.Scope
	n *model.Network
	o *Optimizer
}

func (x *trainee) train(batches [][][]int64) (losses []float64) {
	for _, ids := range batches {
		var in, labels []int64
		for _, row := range ids {
			in, labels = append(in, row[:len(row)-1]...), append(labels, row[1:]...)
		}
		length := len(ids[0]) - 1
		p, err := x.n.Program(x.s, torch.ProgramOptions{})
		require.NoError(x.t, err)
		f, err := torch.Train(p, x.o.Optimizer, torch.Batches{Inputs: torch.From(x.s, in, len(ids), length),
			Labels: torch.From(x.s, labels, len(ids), length), Size: len(ids)})
		require.NoError(x.t, err)
		losses = append(losses, f.Losses...)
	}
	return losses
}

// shares returns the share that the first column of each group has of its source column, by least squares over the
// rows.
func (m midway) shares(name string, group int) []float64 {
	before, after := m.values("before."+name), m.values("after."+name)
	rows := int(m.tensors["before."+name].Shape[0])
	old, now := len(before)/rows, len(after)/rows
	shares := make([]float64, now/group)
	for k := range shares {
		at := k*group + 0
		source := (k % (old / group)) * group
		sum, weight := 0.0, 0.0
		for r := range rows {
			sum += after[r*now+at] * before[r*old+source]
			weight += before[r*old+source] * before[r*old+source]
		}
		shares[k] = sum / weight
	}
	return shares
}

func (m midway) values(name string) []float64 {
	v, err := m.tensors[name].Float64s()
	if err != nil {
		panic(name + ": " + err.Error())
	}
	return v
}

// The losses after growth follow the reference, so weights and both moments of Adam are carried as it states.
func TestOptimizersFollowGraphs(t *testing.T) {
	for _, m := range readMidway(t) {
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			c := m.Before
			g, err := transformer.New(transformer.Config{Vocabulary: c.Vocab, Context: c.Context, Width: c.Width,
				Heads: c.Heads, Hidden: c.Hidden, Depth: c.Depth, DType: weights.Float64})
			require.NoError(t, err)
			n, err := model.FromGraph(g)
			require.NoError(t, err)
			require.NoError(t, n.Materialize(s, model.Placement{DType: torch.Float64}))
			x := &trainee{t: t, s: s, n: n}
			x.o, err = NewOptimizer(s, n, torch.OptimizerOptions{Rule: torch.AdamW, LR: m.AdamW.LR,
				Beta1: m.AdamW.Betas[0], Beta2: m.AdamW.Betas[1], Eps: m.AdamW.Eps, WeightDecay: m.AdamW.WeightDecay})
			require.NoError(t, err)
			m.restore(t, x)
			m.grow(t, x)
			got := x.train(m.Batches[20:])
			for k, want := range m.LossesGrown {
				assert.InDelta(t, want, got[k], 1e-9, "%s, step %d after growth", m.Name, k)
			}
			return nil
		}))
	}
}

// restore sets the network and its moments to their values at step 20.
func (m midway) restore(t *testing.T, x *trainee) {
	set := &weights.Set{}
	for _, e := range x.n.State() {
		w := m.tensors["before."+e.Name]
		w.Name = e.Name
		set.Tensors = append(set.Tensors, w)
	}
	require.NoError(t, x.n.Load(set))
	for k, name := range x.o.Names {
		x.s.Copy(x.o.Slots[k].First, torch.FromWeights(x.s, torch.CPU, m.tensors["exp_avg_before."+name]))
		x.s.Copy(x.o.Slots[k].Second, torch.FromWeights(x.s, torch.CPU, m.tensors["exp_avg_sq_before."+name]))
	}
	x.s.Fill(x.o.Steps, 20)
	require.NoError(t, x.s.Err())
}

func (m midway) grow(t *testing.T, x *trainee) {
	follow := func(plan *rewrite.Plan, err error) {
		require.NoError(t, err)
		c := &Change{Before: Fingerprint(x.n)}
		require.NoError(t, c.adoptPlan(x.n, plan))
		x.o, err = x.o.Follow(x.s, x.n, c, Following{})
		require.NoError(t, err)
	}
	read := func() *axes.Axes {
		a, err := axes.Read(x.n.Graph)
		require.NoError(t, err)
		return a
	}
	blocks := []string{"blocks.0", "blocks.1"}
	switch m.Name {
	case "adam_depth_2_3":
		follow(rewrite.Deepen(read(), "blocks.0", rewrite.ZeroBranches))
	case "adam_hidden_40_56":
		for _, b := range blocks {
			a := read()
			axis, err := a.Named(b + ".up")
			require.NoError(t, err)
			follow(rewrite.Widen(a, axis, 56, rewrite.Options{Shares: m.shares(b+".down.weight", 1)}))
		}
	case "adam_heads_4_6":
		for _, b := range blocks {
			a := read()
			axis, err := a.Named(b + ".q/0")
			require.NoError(t, err)
			follow(rewrite.Widen(a, axis, 6, rewrite.Options{Shares: m.shares(b+".o.weight", sizeOfHead)}))
		}
	default:
		t.Fatal(m.Name)
	}
}

const sizeOfHead = 4

// A copied block gets its own moments, equal to the donor's moments. Training then separates them.
func TestCopiesHaveMomentsOfTheirOwn(t *testing.T) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		g, err := transformer.New(transformer.Config{Vocabulary: 11, Context: 8, Width: 8, Heads: 2, Depth: 2})
		require.NoError(t, err)
		n, err := model.FromGraph(g)
		require.NoError(t, err)
		require.NoError(t, n.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, 1)}))
		o, err := NewOptimizer(s, n, torch.OptimizerOptions{Rule: torch.AdamW, LR: 0.01})
		require.NoError(t, err)
		train := func(n *model.Network, o *Optimizer) {
			p, err := n.Program(s, torch.ProgramOptions{})
			require.NoError(t, err)
			tokens := s.To(s.Reshape(torch.From(s, []float32{1, 2, 3, 4, 5, 6, 7, 8}, 8), 1, 8), torch.Int64, torch.CPU)
			_, err = torch.Train(p, o.Optimizer, torch.Batches{Inputs: tokens, Labels: tokens, Size: 1})
			require.NoError(t, err)
		}
		train(n, o)
		a, err := ParseAction("deepen:blocks.0")
		require.NoError(t, err)
		c, err := Apply(n, a, Options{Form: Stacked})
		require.NoError(t, err)
		o, err = o.Follow(s, n, c, Following{})
		require.NoError(t, err)
		owner := map[*torch.Tensor]string{}
		copies := 0
		for k, slot := range o.Slots {
			for _, moment := range []*torch.Tensor{slot.First, slot.Second} {
				require.Empty(t, owner[moment], "%s and %s share a moment", owner[moment], o.Names[k])
				owner[moment] = o.Names[k]
			}
			if strings.HasPrefix(o.Names[k], "blocks.1.") {
				copies++
			}
		}
		require.Positive(t, copies)
		return s.Err()
	}))
}

// More groups of keys and an untied head keep the function. Their records replay and revert.
func TestGroupsAndTiesOfGraphs(t *testing.T) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		made := func() *model.Network {
			g, err := transformer.New(transformer.Config{Vocabulary: 11, Context: 8, Width: 8, Heads: 4, Groups: 1,
				Depth: 2})
			require.NoError(t, err)
			n, err := model.FromGraph(g)
			require.NoError(t, err)
			require.NoError(t, n.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, 1),
				DType: torch.Float64}))
			return n
		}
		tokens := s.To(s.Reshape(torch.From(s, []float32{1, 2, 3, 4, 5, 6, 7, 8}, 8), 1, 8), torch.Int64, torch.CPU)
		output := func(n *model.Network) []float64 {
			p, err := n.Program(s, torch.ProgramOptions{})
			require.NoError(t, err)
			values, err := torch.Values[float64](p.Forward(s, tokens, false, nil))
			require.NoError(t, err)
			return values
		}
		n, twin := made(), made()
		want := output(n)
		for text, parameters := range map[string]int{"widen:blocks.0.k/groups:2": 2 * (8 + 1),
			"widen:blocks.1.v/groups:4": 6 * (8 + 1), "widen:untied": 11 * 8} {
			a, err := ParseAction(text)
			require.NoError(t, err)
			c, err := Apply(n, a, Options{})
			require.NoError(t, err, text)
			require.Equal(t, parameters, n.Parameters()-twin.Parameters(), text)
			require.InDeltaSlice(t, want, output(n), 1e-12, text)
			data, err := json.Marshal(c)
			require.NoError(t, err)
			var saved Change
			require.NoError(t, json.Unmarshal(data, &saved))
			again, err := Replay(twin, &saved, Options{})
			require.NoError(t, err, text)
			require.Equal(t, output(n), output(twin), text)
			for x, c := range map[*model.Network]*Change{n: c, twin: again} {
				_, err = Revert(x, c)
				require.NoError(t, err, text)
				require.InDeltaSlice(t, want, output(x), 1e-12, text)
			}
		}
		for text, says := range map[string]string{"widen:untied:4": "takes no size",
			"widen:blocks.0.k/groups:1": "larger multiple",
			"widen:tok/groups:2":        "is not a key or value weight"} {
			a, err := ParseAction(text)
			require.NoError(t, err)
			_, err = Apply(n, a, Options{})
			require.ErrorContains(t, err, says)
		}
		return nil
	}))
}

// Errors explain an axis, because its name is only an index.
func TestErrorsExplainAxes(t *testing.T) {
	n, err := model.Zoo("SmallLLaMA", model.ZooOptions{Input: model.Shape{12}, Tokens: 30})
	require.NoError(t, err)
	_, err = Apply(n.Sketch(), Action{Kind: "widen", Target: "blocks.0.q/0", Size: 2}, Options{})
	require.ErrorContains(t, err,
		"axis blocks.0.q/0 (groups of heads with common keys and values of the attention in blocks.0): ")
	_, err = Apply(n.Sketch(), Action{Kind: "widen", Target: "blocks.0.q/7", Size: 2}, Options{})
	require.ErrorContains(t, err, "blocks.0.up (hidden width of the feed-forward in blocks.0)")
	require.Empty(t, Meaning(n, Action{Kind: "widen", Target: "vocabulary", Size: 40}))
}

// Compare runs graphs without dropout too: otherwise two passes in train mode would differ by their random masks.
func TestCompareIgnoresDropoutOfGraphs(t *testing.T) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		g, err := transformer.New(transformer.Config{Vocabulary: 11, Context: 8, Width: 8, Heads: 2, Depth: 1,
			Dropout: 0.5})
		require.NoError(t, err)
		n, err := model.FromGraph(g)
		require.NoError(t, err)
		require.NoError(t, n.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, 1)}))
		tokens := s.Reshape(torch.From(s, []int64{1, 2, 3, 4, 5, 6, 7, 8}, 8), 1, 8)
		text := g.String()
		d, err := Compare(n, n, tokens, true)
		require.NoError(t, err)
		require.Zero(t, d)
		require.Equal(t, text, n.Graph.String(), "the network keeps its dropout")
		return nil
	}))
}

// The record of a change has other fingerprints than its network before, even if the printed network is the same, as
// with tensors of the user's own classes. Records of earlier versions have equal ones; they can be reverted too.
func TestUnprintedSizesAreReverted(t *testing.T) {
	for _, earlier := range []bool{false, true} {
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			b := graph.NewBuilder("Factors", graph.Input{Value: "x", DType: weights.Float32,
				Shape: []graph.Size{{Name: "batch", N: 2}, {N: 4}}}, weights.Float32)
			x := b.Call("matmul.default", "self", b.Graph.Input.Value, "other", b.Parameter("down", "normal 1", 4, 3))
			b.Graph.Output = b.Call("matmul.default", "self", x, "other", b.Parameter("up", "normal 1", 3, 5))
			n, err := model.FromGraph(b.Graph)
			require.NoError(t, err)
			require.NoError(t, n.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, 1)}))
			drawn, err := axes.Read(n.Graph)
			require.NoError(t, err)
			name := drawn.Name(drawn.Tensors["down"][1].Find())
			c, err := Apply(n, Action{Kind: "widen", Target: name, Size: 6}, Options{})
			require.NoError(t, err)
			require.Equal(t, []int{4, 6}, n.Graph.Tensor("down").Shape)
			require.NotEqual(t, c.Before, c.After)
			if old := digest(n, n.GraphText()); earlier {
				c.Before, c.After = old, old
			}
			_, err = Revert(n, c)
			require.NoError(t, err)
			require.Equal(t, []int{4, 3}, n.Graph.Tensor("down").Shape)
			return nil
		}))
	}
}
