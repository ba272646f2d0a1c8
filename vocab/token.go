// Package vocab gives the layers of a network structural tokens. A token describes a layer's function and size by
// numbers with the same meaning in every network, so a layer of an unlisted kind is not an error.
package vocab

import (
	"fmt"
	"math"

	"graft/model"
)

// Token describes a layer, or a sum or concatenation of branches, as an input of a policy. The values of a token do not
// include the layer's name, so layers that differ only in name have equal values.
type Token struct {
	Path       string // path of the layer, for display; empty where branches meet
	Kind       Kind
	In, Out    int     // number of input and output channels or features
	Kernel     int     // number of positions that a window covers; zero if there is no window
	Stride     float64 // input positions per output position on one side
	Groups     int     // number of groups of channels; zero if each channel is separate
	Parameter  float64 // parameter of an activation or a dropout
	From, To   int     // number of input and output positions, height times width
	Before     int     // number of tokens on the longest path from the input
	After      int     // number of tokens on the longest path to the output
	Parameters int     // number of trained parameters
	Operations int64   // floating-point operations of a forward pass over one example
	Grown      bool    // surgery added the layer
}

// String returns text such as "convolution 3>32 kernel 9 at 1024>900".
func (t Token) String() string {
	text := fmt.Sprintf("%v %d>%d", t.Kind, t.In, t.Out)
	if t.Kernel > 0 {
		text += fmt.Sprintf(" kernel %d", t.Kernel)
	}
	text += fmt.Sprintf(" at %d>%d", t.From, t.To)
	if t.Grown {
		text += " grown"
	}
	return text
}

// measures are the values of a token in addition to its kind, each of magnitude one.
var measures = []struct {
	name  string
	value func(t Token) float64
}{
	{"channels_in", func(t Token) float64 { return log2(float64(t.In)) / 8 }},
	{"channels_out", func(t Token) float64 { return log2(float64(t.Out)) / 8 }},
	{"kernel", func(t Token) float64 { return log2(1+float64(t.Kernel)) / 4 }},
	{"stride", func(t Token) float64 { return log2(t.Stride) / 2 }},
	{"groups", func(t Token) float64 { return log2(1+float64(t.Groups)) / 8 }},
	{"parameter", func(t Token) float64 { return t.Parameter }},
	{"positions_in", func(t Token) float64 { return log2(float64(t.From)) / 16 }},
	{"positions_out", func(t Token) float64 { return log2(float64(t.To)) / 16 }},
	{"tokens_before", func(t Token) float64 { return log2(1+float64(t.Before)) / 4 }},
	{"tokens_after", func(t Token) float64 { return log2(1+float64(t.After)) / 4 }},
	{"place", func(t Token) float64 { return float64(t.Before) / float64(max(1, t.Before+t.After)) }},
	{"parameters", func(t Token) float64 { return log2(1+float64(t.Parameters)) / 16 }},
	{"operations", func(t Token) float64 { return log2(1+float64(t.Operations)) / 24 }},
	{"grown", func(t Token) float64 { return flag(t.Grown) }},
}

// log2 treats zero as a small positive number; sizes of zero do not occur in a network that runs.
func log2(x float64) float64 { return math.Log2(math.Max(x, 1.0/1024)) }

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Names returns the names of the numbers that Values returns, in order. The kinds of tokens that occur in networks
// built from layers come first, then the measures, such as the number of channels. If graphs is true, the kinds that
// occur only in graphs of operators come last.
func Names(graphs bool) []string {
	var names []string
	for _, name := range kindNames[:graphKinds] {
		names = append(names, "kind_"+name)
	}
	for _, m := range measures {
		names = append(names, m.name)
	}
	if graphs {
		for _, name := range kindNames[graphKinds:] {
			names = append(names, "kind_"+name)
		}
	}
	return names
}

// OfGraphs reports whether the token's kind occurs only in graphs of operators.
func (t Token) OfGraphs() bool { return t.Kind >= graphKinds }

// Values returns the token as numbers: a one-hot encoding of its kind, and its measures, such as the number of
// channels. If graphs is false, kinds that occur only in graphs of operators count as Other.
func (t Token) Values(graphs bool) []float64 {
	values := make([]float64, graphKinds, len(Names(graphs)))
	if !t.OfGraphs() {
		values[t.Kind] = 1
	} else if !graphs {
		values[Other] = 1
	}
	for _, m := range measures {
		values = append(values, m.value(t))
	}
	if graphs {
		for k := graphKinds; k < kinds; k++ {
			values = append(values, flag(t.Kind == k))
		}
	}
	return values
}

// newToken measures a layer. For a layer of unknown kind, missing sizes come from its shapes.
func newToken(path string, l model.Layer, in, out model.Shape, grown bool) Token {
	t := Token{Path: path, Kind: kindOf(l), In: in[0], Out: out[0], From: positions(in), To: positions(out),
		Groups: l.Channels().Groups, Operations: l.Operations(in, out), Grown: grown}
	t.Parameters, _ = model.Counts(l)
	t.Stride = math.Sqrt(float64(t.From) / float64(t.To))
	window := func(kernel, stride model.Pair) {
		t.Kernel, t.Stride = kernel.H*kernel.W, math.Sqrt(float64(stride.H*stride.W))
	}
	switch l := l.(type) {
	case model.Conv2d:
		window(l.Kernel, l.Stride)
		t.Groups = l.Groups
	case model.AvgPool2d:
		window(l.Kernel, l.Stride)
	case model.MaxPool2d:
		window(l.Kernel, l.Stride)
	case model.Activation:
		t.Parameter = l.Parameter
	case model.Dropout:
		t.Parameter = l.P
	}
	return t
}

// positions of features are one.
func positions(s model.Shape) int { return s.Count() / s[0] }
