package graph

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/torch/weights"
)

// operands generates values of an argument.
func operands(depth int) *rapid.Generator[any] {
	kinds := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Int64().AsAny(), rapid.Float64().AsAny(),
		rapid.String().AsAny(), rapid.Just[any](weights.BFloat16), rapid.Map(rapid.String(),
			func(s string) any { return Value(s) }), rapid.Map(rapid.String(), func(s string) any { return Weight(s) }),
	}
	if depth == 0 {
		kinds = append(kinds, rapid.Map(rapid.SliceOfN(operands(1), 0, 4), func(list []any) any { return list }))
	}
	return rapid.OneOf(kinds...)
}

func TestTheNotationSaysTheNode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := Node{Operator: rapid.StringN(1, 10, -1).Draw(t, "operator"), Module: rapid.String().Draw(t, "module")}
		for _, name := range rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "results") {
			n.Results = append(n.Results, Value(name))
		}
		for _, name := range rapid.SliceOfN(rapid.String(), 0, 4).Draw(t, "names") {
			n.Args = append(n.Args, Arg{name, operands(0).Draw(t, "value")})
		}
		again, err := ParseNode(n.String())
		require.NoError(t, err, n.String())
		require.Equal(t, n, again, n.String())
	})
}

func TestFaultsOfTheNotationAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "expected a name",
		"y = relu.default(self=%x":     `expected ","`,
		"y = relu.default(self=%x) on": "expected the end",
		"y = relu.default(self=x)":     "expected an operand",
		"y, z relu.default()":          `expected "="`,
		"y = cat.default(a=[[1]])":     "a list must not contain a list",
		"y = f(a=1e999)":               "expected an operand",
		`y = f(a="b)`:                  "double quotes",
	} {
		_, err := ParseNode(text)
		assert.ErrorContains(t, err, want, text)
	}
}

func FuzzParseNode(f *testing.F) {
	f.Add(`y, h = lstm.input(input=%x, params=[@rnn.w, @"a b"], dropout=0.5, on=true, none=none, t=float32) in rnn`)
	f.Fuzz(func(t *testing.T, text string) {
		n, err := ParseNode(text)
		if err != nil {
			return
		}
		again, err := ParseNode(n.String())
		require.NoError(t, err)
		require.Equal(t, n.String(), again.String())
	})
}
