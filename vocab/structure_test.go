package vocab_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/torch"
	"graft/tracing"
	"graft/vocab"
)

func structure(t *testing.T, n *model.Network) *vocab.Structure {
	t.Helper()
	trace, err := tracing.Read(n)
	require.NoError(t, err)
	s, err := vocab.ReadStructure(trace)
	require.NoError(t, err)
	for k, l := range trace.Layers {
		at, ok := s.Token(l)
		require.True(t, ok)
		require.Equal(t, trace.Layers[k].At.Path, s.Tokens[at].Path)
	}
	return s
}

func known(t *testing.T, name string) *model.Network {
	n, err := model.Zoo(name, model.ZooOptions{})
	require.NoError(t, err)
	return n
}

func texts(s *vocab.Structure) (lines []string) {
	for k, token := range s.Tokens {
		lines = append(lines, fmt.Sprintf("%v %v", s.Before[k], token))
	}
	return lines
}

func TestTokensOfAChain(t *testing.T) {
	n := known(t, "ConvNet2")
	same := model.NewConv2d(32, 32, 3)
	same.Padding = model.Both(1)
	grown := chain(leaf(same), leaf(model.NewBatchNorm2d(32)), leaf(model.Activate(torch.ReLU)))
	grown.Mark = model.Grown
	n.Root.Replace("conv1", chain(n.Root.Child("conv1"), grown))
	s := structure(t, n)
	require.Equal(t, []string{
		"[] convolution 3>32 kernel 9 at 1024>900", "[0] batch-norm 32>32 at 900>900", "[1] relu 32>32 at 900>900",
		"[2] convolution 32>32 kernel 9 at 900>900 grown", "[3] batch-norm 32>32 at 900>900 grown",
		"[4] relu 32>32 at 900>900 grown", "[5] avg-pool 32>32 kernel 4 at 900>225",
		"[6] convolution 32>32 kernel 9 at 225>169", "[7] batch-norm 32>32 at 169>169",
		"[8] relu 32>32 at 169>169", "[9] adaptive-pool 32>32 at 169>1", "[10] flatten 32>32 at 1>1",
		"[11] matrix 32>10 at 1>1", "[12] relu 10>10 at 1>1",
	}, texts(s))
	for k, token := range s.Tokens {
		require.Equal(t, k, token.Before)
		require.Equal(t, len(s.Tokens)-1-k, token.After)
	}
	require.Equal(t, 9*32*32+32, s.Tokens[3].Parameters)
	require.Equal(t, 2.0, s.Tokens[6].Stride)
}

// leaf returns a module of a layer. leaf, chain and join build small networks.
func leaf(l model.Layer) model.Module { return &model.Leaf{Layer: l} }

func chain(modules ...model.Module) *model.Container {
	c := &model.Container{}
	for k, m := range modules {
		c.Children = append(c.Children, model.Child{Name: fmt.Sprint(k), Module: m})
	}
	return c
}

func join(j model.Join, modules ...model.Module) *model.Container {
	c := chain(modules...)
	c.Flow.Join = j
	return c
}

// Branches are encoded along the graph: a sum or concatenation comes after all its branches, and the longest one
// counts.
func TestTokensOfBranches(t *testing.T) {
	conv := func(in, out int) model.Module { return leaf(model.NewConv2d(in, out, 1)) }
	n := &model.Network{Input: model.Shape{4, 2, 2}, Root: chain(
		join(model.Cat, conv(4, 2), chain(conv(4, 6), leaf(model.Activate(torch.GELU)))), join(model.Sum, conv(8, 8)),
		leaf(model.Flatten{}))}
	s := structure(t, n)
	require.Equal(t, []string{"[] convolution 4>2 kernel 1 at 4>4", "[] convolution 4>6 kernel 1 at 4>4",
		"[1] gelu 6>6 at 4>4", "[0 2] cat 8>8 at 4>4", "[3] convolution 8>8 kernel 1 at 4>4", "[4 3] sum 8>8 at 4>4",
		"[5] flatten 8>32 at 4>1"}, texts(s))
	require.Equal(t, [][]int{{3}, {2}, {3}, {4, 5}, {5}, {6}, nil}, s.After)
	require.Equal(t, []int{4, 5, 4, 3, 2, 1, 0}, after(s))
	require.Equal(t, 2, s.Tokens[3].Before, "the longer branch counts")
}

func after(s *vocab.Structure) (list []int) {
	for _, token := range s.Tokens {
		list = append(list, token.After)
	}
	return list
}

// strange is a layer of an unknown kind.
type strange struct{ model.Identity }

func (strange) String() string { return "Strange()" }

func (strange) Infer(in model.Shape) (model.Shape, error) {
	return model.Shape{in[0], in[1] / 2, in[2] / 2}, nil
}

func (strange) Slots() []model.Slot {
	return []model.Slot{{Name: "weight", Role: model.Weight, Shape: []int{7}, Axes: []model.Axis{model.Inner}}}
}

// A layer or an activation of an unknown kind gives a token of the kind Other with its measures, not an error.
func TestTokensOfUnknownLayers(t *testing.T) {
	n := &model.Network{Input: model.Shape{4, 8, 8},
		Root: chain(leaf(strange{}), leaf(model.Identity{}), leaf(model.Activation{Kind: 99}))}
	s := structure(t, n)
	token := s.Tokens[0]
	require.Equal(t, vocab.Other, token.Kind)
	require.Equal(t, []any{4, 4, 64, 16, 2.0, 7}, []any{token.In, token.Out, token.From, token.To, token.Stride,
		token.Parameters})
	require.Equal(t, vocab.Identity, s.Tokens[1].Kind)
	require.Equal(t, vocab.Other, s.Tokens[2].Kind)
	alike := token
	for k := vocab.Other + 1; ; k++ {
		alike.Kind = k
		if k.String() == fmt.Sprintf("Kind(%d)", int(k)) {
			break
		}
		require.NotEqual(t, token.Values(true), alike.Values(true), "%v", k)
	}
}

// Every kind and every measure has its own value and its own name.
func TestValuesHaveNames(t *testing.T) {
	names := vocab.Names(true)
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(names))), len(names))
	base := vocab.Token{Kind: vocab.Convolution, In: 4, Out: 4, Kernel: 9, Stride: 1, Groups: 1, From: 16, To: 16,
		Before: 3, After: 3, Parameters: 10, Operations: 10}
	require.Len(t, base.Values(true), len(names))
	for name, change := range map[string]func(*vocab.Token){
		"channels_in": func(t *vocab.Token) { t.In = 5 }, "channels_out": func(t *vocab.Token) { t.Out = 5 },
		"kernel": func(t *vocab.Token) { t.Kernel = 25 }, "stride": func(t *vocab.Token) { t.Stride = 2 },
		"groups": func(t *vocab.Token) { t.Groups = 2 }, "parameter": func(t *vocab.Token) { t.Parameter = 0.5 },
		"positions_in": func(t *vocab.Token) { t.From = 9 }, "positions_out": func(t *vocab.Token) { t.To = 9 },
		"tokens_before": func(t *vocab.Token) { t.Before = 9 }, "tokens_after": func(t *vocab.Token) { t.After = 9 },
		"parameters":  func(t *vocab.Token) { t.Parameters = 11 },
		"operations":  func(t *vocab.Token) { t.Operations = 11 },
		"grown":       func(t *vocab.Token) { t.Grown = true },
		"kind_matrix": func(t *vocab.Token) { t.Kind = vocab.Matrix },
	} {
		other := base
		change(&other)
		at := slices.Index(names, name)
		require.GreaterOrEqual(t, at, 0, name)
		require.NotEqual(t, base.Values(true)[at], other.Values(true)[at], name)
	}
}

// All networks from the zoo have tokens of known kinds, with values of the order of one.
func TestZooHasTokens(t *testing.T) {
	for _, entry := range model.ZooEntries() {
		if entry.IsGraph() {
			continue
		}
		s := structure(t, known(t, entry.Name))
		for _, token := range s.Tokens {
			require.NotEqual(t, vocab.Other, token.Kind, "%s %s", entry.Name, token.Path)
			for k, v := range token.Values(true) {
				require.True(t, v > -2 && v < 3, "%s %s: %s is %v", entry.Name, token.Path, vocab.Names(true)[k], v)
			}
		}
	}
}

func TestBrokenNetworksHaveNoStructure(t *testing.T) {
	n := known(t, "ConvNet2")
	trace, err := tracing.Read(n)
	require.NoError(t, err)
	for _, l := range n.Leaves() {
		if _, ok := l.Layer.(model.Linear); ok {
			l.Layer = model.NewLinear(7, 7)
		}
	}
	_, err = vocab.ReadStructure(trace)
	require.ErrorContains(t, err, "read the structure of ConvNet2")
}
