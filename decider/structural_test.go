package decider_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/decider"
	"graft/model"
	"graft/net2net"
	"graft/torch"
)

func fresh(t testing.TB, seed uint64) *decider.Structural {
	p, err := decider.NewStructural(decider.StructuralShape{}, decider.Scale{}, decider.Scale{}, seed)
	require.NoError(t, err)
	return p
}

var halfTime = decider.State{Left: 30 * time.Second, Budget: time.Minute, Step: 10 * time.Millisecond, Decisions: 1,
	Accuracy: 0.4}

// A policy scores all actions that fit a network of the zoo, and none. Repeated calls and batches give the same
// probabilities.
func TestPolicyReadsTheZoo(t *testing.T) {
	kinds := net2net.Kinds()
	p := fresh(t, 1)
	var all []decider.Situation
	for _, entry := range model.ZooEntries() {
		if entry.IsGraph() {
			continue
		}
		n, err := model.Zoo(entry.Name, model.ZooOptions{})
		require.NoError(t, err)
		observation, err := decider.ProposedObservation(n, kinds, net2net.Options{})
		require.NoError(t, err, entry.Name)
		proposals, err := net2net.Proposals(n)
		require.NoError(t, err)
		require.Len(t, observation.Choices, len(proposals)+1, "%s: all that is proposed can be done", entry.Name)
		for _, c := range observation.Choices[:len(proposals)] {
			require.NotEmpty(t, c.Tokens, "%s %v", entry.Name, c.Action)
			require.Positive(t, c.Parameters, "%s %v", entry.Name, c.Action)
			require.Positive(t, c.Operations, "%s %v", entry.Name, c.Action)
		}
		all = append(all, decider.Situation{Observation: observation, State: halfTime})
	}
	weighed, err := p.Probabilities(all...)
	require.NoError(t, err)
	again, err := p.Probabilities(all...)
	require.NoError(t, err)
	require.Equal(t, weighed, again)
	for k, probabilities := range weighed {
		require.Len(t, probabilities, len(all[k].Choices))
		require.InDelta(t, 1, sum(probabilities), 1e-12)
		alone, err := p.Probabilities(all[k])
		require.NoError(t, err)
		require.InDeltaSlice(t, probabilities, alone[0], 1e-9, "others beside it change nothing")
	}
}

func sum(values []float64) (total float64) {
	for _, v := range values {
		total += v
	}
	return total
}

// A decision is the likeliest action, or a draw that depends on the seed and the decision's number. A temperature above
// one flattens the probabilities.
func TestDecisions(t *testing.T) {
	p := fresh(t, 3)
	greedy := decide(t, p, halfTime)
	require.Len(t, greedy.Probabilities, 6, "three blocks, two spaces and nothing")
	require.Equal(t, greedy, decide(t, p, halfTime))

	p.Temperature = 20
	warm := decide(t, p, halfTime)
	require.Equal(t, greedy.Action, warm.Action)
	require.Less(t, slices.Max(warm.Probabilities), slices.Max(greedy.Probabilities))
	require.InDelta(t, math.Pow(greedy.Probabilities[0]/greedy.Probabilities[1], 1.0/20),
		warm.Probabilities[0]/warm.Probabilities[1], 1e-9, "logits are divided")

	p.Sample = true
	seen, probabilities := map[string]float64{}, map[string]float64{}
	const draws = 300
	observation, err := decider.ProposedObservation(zoo(t, "ConvNet2"), nil, net2net.Options{})
	require.NoError(t, err)
	s := halfTime
	s.Decisions = 7
	for k, c := range observation.Choices {
		probabilities[c.Action.String()] = decide(t, p, s).Probabilities[k]
	}
	for seed := range uint64(draws) {
		p.Seed = seed
		d := decide(t, p, s)
		seen[d.Action.String()] += 1.0 / draws
		require.Equal(t, d, decide(t, p, s))
	}
	for action, share := range probabilities {
		require.InDelta(t, share, seen[action], 0.1, action)
	}
}

func zoo(t testing.TB, name string) *model.Network {
	n, err := model.Zoo(name, model.ZooOptions{})
	require.NoError(t, err)
	return n
}

// A policy considers the action kinds that it learned unless Kinds lists others.
func TestKindsThatWereLearned(t *testing.T) {
	p := fresh(t, 1)
	p.Learned = []net2net.Kind{"deepen"}
	require.Len(t, decide(t, p, halfTime).Probabilities, 4)
	p.Kinds = []net2net.Kind{"deepen", "widen"}
	require.Len(t, decide(t, p, halfTime).Probabilities, 6)
	p.Kinds = []net2net.Kind{}
	require.Equal(t, net2net.Action{}, decide(t, p, halfTime).Action)
}

// A policy considers only the targets that it learned unless Kinds or Actions lists others.
func TestTargetsThatWereLearned(t *testing.T) {
	p := fresh(t, 1)
	p.Learned, p.Targets = []net2net.Kind{"deepen", "widen"}, []string{"deepen convolution", "widen convolution"}
	n := zoo(t, "ConvNet2")
	seen, err := decider.ProposedObservation(n, nil, net2net.Options{})
	require.NoError(t, err)
	within := 0
	for _, c := range seen.Choices {
		target := seen.Target(c)
		require.Contains(t, []string{"", "deepen convolution", "deepen matrix", "widen convolution",
			"widen matrix"}, target)
		require.Equal(t, strings.HasSuffix(target, "matrix"), strings.Contains(c.Action.Target, "fc"), "%s: %s",
			c.Action, target)
		if target == "" || slices.Contains(p.Targets, target) {
			within++
		}
	}
	require.Less(t, within, len(seen.Choices))
	require.Len(t, decide(t, p, halfTime).Probabilities, within)
	p.Kinds = p.Learned
	require.Len(t, decide(t, p, halfTime).Probabilities, len(seen.Choices), "kinds that are named count for all layers")
	p.Actions = []net2net.Action{{Kind: "widen", Target: "conv1", Size: 40}, {Kind: "deepen", Target: "nowhere"}}
	require.Len(t, decide(t, p, halfTime).Probabilities, 2, "the one that fits, and none")

	p.Kinds, p.Actions = []net2net.Kind{"kernel"}, nil
	require.ErrorContains(t, p.Fits(n),
		"the policy was trained on the action kinds [deepen widen], but the configuration offers kernel")
	p.Actions, p.Kinds, p.Targets = nil, nil, []string{"kernel matrix"}
	require.ErrorContains(t, p.Fits(n),
		"the actions that it was trained on: kernel matrix, but none of these actions fits")
	set, err := p.Set()
	require.NoError(t, err)
	read, err := decider.StructuralOf(set)
	require.NoError(t, err)
	require.Equal(t, p.Targets, read.Targets)
}

// A joined policy averages its members' probabilities.
func TestMembersAgree(t *testing.T) {
	a, b := fresh(t, 1), fresh(t, 2)
	joined, err := decider.JoinStructural(a, b)
	require.NoError(t, err)
	pa, pb, both := decide(t, a, halfTime).Probabilities, decide(t, b, halfTime).Probabilities,
		decide(t, joined, halfTime).Probabilities
	for k := range both {
		require.InDelta(t, (pa[k]+pb[k])/2, both[k], 1e-12)
	}
	small, err := decider.NewStructural(decider.StructuralShape{Hidden: 8}, decider.Scale{}, decider.Scale{}, 1)
	require.NoError(t, err)
	_, err = decider.JoinStructural(a, small)
	require.ErrorContains(t, err, "policy 1 differs from the first policy in its shape")
	_, err = decider.JoinStructural()
	require.ErrorContains(t, err, "got no policies")
}

func TestPoliciesThatCannotBe(t *testing.T) {
	_, err := decider.NewStructural(decider.StructuralShape{Hidden: -1, Rounds: 99}, decider.Scale{},
		decider.Scale{}, 1)
	require.ErrorContains(t, err, "hidden is -1")
	require.ErrorContains(t, err, "rounds is 99")
	require.ErrorContains(t, decider.StructuralOptions{Temperature: -1}.Validate(), "temperature is -1")
	require.NoError(t, decider.StructuralOptions{}.Validate())
	_, err = fresh(t, 1).Probabilities()
	require.ErrorContains(t, err, "no situation")
	_, err = decider.NewObservation(zoo(t, "ConvNet2"), []net2net.Action{{Kind: "deepen", Target: "nowhere"}},
		net2net.Options{})
	require.ErrorContains(t, err, `block "nowhere" not found`)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = fresh(t, 1).Decide(ctx, decider.State{Network: zoo(t, "ConvNet2")})
	require.ErrorIs(t, err, context.Canceled)
}

// With net2net.Original, blocks are numbered as in the original system: grown blocks do not count.
func TestObservationsInTheOriginalsWay(t *testing.T) {
	n := zoo(t, "ConvNet2")
	o := net2net.Options{Compat: net2net.Original}
	_, err := net2net.Apply(n, net2net.Action{Kind: "deepen", Target: "0"}, o)
	require.NoError(t, err)
	p, err := decider.NewObservation(n, []net2net.Action{{Kind: "deepen", Target: "1"}, {}}, o)
	require.NoError(t, err)
	var paths []string
	for _, k := range p.Choices[0].Tokens {
		paths = append(paths, p.Structure.Tokens[k].Path)
	}
	require.Equal(t, "conv2.layers.0 conv2.layers.1 conv2.layers.2", strings.Join(paths, " "))
	require.Equal(t, 9*32*32+32+64, p.Choices[0].Parameters)
	require.Equal(t, decider.Choice{}, p.Choices[1], "leaving it alone adds nothing and is about nothing")
}

// drawn describes a network with a concatenation and a residual. Its fields change names and order, but not what the
// network computes.
type drawn struct {
	names    []string // name of the k-th child of each chain
	branches []int    // order of the concatenation's branches
	swapped  bool     // exchanges the residual's body and shortcut
}

func (d drawn) network() *model.Network {
	leaf := func(l model.Layer) model.Module { return &model.Leaf{Layer: l} }
	chain := func(modules ...model.Module) *model.Container {
		c := &model.Container{}
		for k, m := range modules {
			c.Children = append(c.Children, model.Child{Name: d.names[k], Module: m})
		}
		return c
	}
	conv := func(in, out, kernel int) model.Module {
		c := model.NewConv2d(in, out, kernel)
		c.Padding = model.Both(kernel / 2)
		return leaf(c)
	}
	relu := func() model.Module { return leaf(model.Activate(torch.ReLU)) }
	parts := []model.Module{conv(3, 4, 1), chain(conv(3, 6, 3), relu()),
		chain(conv(3, 8, 3), leaf(model.NewBatchNorm2d(8)), relu(), conv(8, 8, 3))}
	var ordered []model.Module
	for _, k := range d.branches {
		ordered = append(ordered, parts[k])
	}
	cat := chain(ordered...)
	cat.Flow.Join = model.Cat
	sum := &model.Container{Flow: model.Flow{Join: model.Sum}, Children: []model.Child{
		{Name: "left", Module: chain(conv(18, 18, 3), relu())}, {Name: "right", Module: conv(18, 18, 1)}}}
	sum.Flow.Body, sum.Flow.Shortcut = []string{"left"}, []string{"right"}
	if d.swapped {
		sum.Flow.Body, sum.Flow.Shortcut = sum.Flow.Shortcut, sum.Flow.Body
	}
	return &model.Network{Input: model.Shape{3, 8, 8}, Root: chain(cat, sum,
		leaf(model.AdaptiveAvgPool2d{Size: model.Both(1)}), leaf(model.Flatten{}), leaf(model.NewLinear(18, 4)))}
}

// distribution returns the sorted probabilities of a decision, which do not depend on names.
func distribution(t require.TestingT, p *decider.Structural, n *model.Network) []float64 {
	d, err := p.Decide(context.Background(), decider.State{Network: n, Left: time.Second, Budget: 2 * time.Second})
	require.NoError(t, err)
	return slices.Sorted(slices.Values(d.Probabilities))
}

// Names of layers, the order of branches and the order of a sum's sides change no probability.
func TestOrderAndNamesDoNotCount(t *testing.T) {
	plain := drawn{names: []string{"0", "1", "2", "3", "4"}, branches: []int{0, 1, 2}}
	p := fresh(t, 5)
	want := distribution(t, p, plain.network())
	require.Greater(t, len(slices.Compact(slices.Clone(want))), 6,
		"different things to do have different probabilities")
	rapid.Check(t, func(t *rapid.T) {
		other := drawn{names: rapid.SliceOfNDistinct(rapid.StringMatching("[a-z]{1,6}"), 5, 5,
			rapid.ID).Draw(t, "names"), branches: rapid.Permutation([]int{0, 1, 2}).Draw(t, "branches"),
			swapped: rapid.Bool().Draw(t, "swapped")}
		require.InDeltaSlice(t, want, distribution(t, p, other.network()), 1e-12)
	})
}

// A policy observes the actions of networks that run as graphs. Each action changes some operators, and adds parameters
// and operations.
func TestGraphsAreObserved(t *testing.T) {
	for _, name := range []string{"CharGPT", "SmallLLaMA", "ViTTiny32", "Mixer32", "ConvNeXt32"} {
		n, err := model.Zoo(name, model.ZooOptions{})
		require.NoError(t, err)
		o, err := decider.ProposedObservation(n, nil, net2net.Options{})
		require.NoError(t, err)
		require.Greater(t, len(o.Choices), 4, name)
		for _, c := range o.Choices {
			if c.Action.Kind == net2net.None {
				require.Empty(t, c.Tokens)
				continue
			}
			require.NotEmpty(t, c.Tokens, "%s: %s", name, c.Action)
			require.Less(t, len(c.Tokens), len(o.Structure.Tokens), "%s: %s", name, c.Action)
			require.Positive(t, c.Parameters, "%s: %s", name, c.Action)
			require.Positive(t, c.Operations, "%s: %s", name, c.Action)
			require.NotEmpty(t, o.Target(c))
		}
	}
}

// BenchmarkObserveGPT2 reads a graph of 238 operators and all actions that fit it.
func BenchmarkObserveGPT2(b *testing.B) {
	n, err := model.Zoo("GPT2", model.ZooOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		o, err := decider.ProposedObservation(n, nil, net2net.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(o.Choices)), "choices")
		b.ReportMetric(float64(len(o.Structure.Tokens)), "tokens")
	}
}
