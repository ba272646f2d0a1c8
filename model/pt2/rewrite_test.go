package pt2

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// The orders are from torch.movedim of PyTorch 2.11.
func TestMovedDimensions(t *testing.T) {
	ints := func(list ...int64) (all []any) {
		for _, v := range list {
			all = append(all, v)
		}
		return all
	}
	for _, c := range []struct{ from, to, want []any }{
		{ints(0), ints(-1), ints(1, 2, 3, 0)},
		{ints(1, 2), ints(2, 1), ints(0, 2, 1, 3)},
		{ints(-1, 0), ints(0, 2), ints(3, 1, 0, 2)},
		{ints(0, 1), ints(2, 3), ints(2, 3, 0, 1)},
	} {
		order, err := moved(4, c.from, c.to)
		require.NoError(t, err)
		require.Equal(t, c.want, order, "%v to %v", c.from, c.to)
	}
	for _, c := range [][2][]any{{ints(0), ints(4)}, {ints(0, 0), ints(1, 2)}, {ints(0, 1), ints(1)}} {
		_, err := moved(4, c[0], c[1])
		require.ErrorContains(t, err, "expected equally many different dimensions")
	}
}

// Ellipses are aligned at their end. Without a result they start it.
func TestEllipsesBecomeLetters(t *testing.T) {
	b := &builder{program: &program{}}
	b.program.GraphModule.Graph.TensorValues = map[string]*meta{"x": {Sizes: make([]integer, 4)},
		"w": {Sizes: make([]integer, 2)}}
	n := func(operands string) *node {
		var all node
		all.Inputs = make([]struct {
			Name string `json:"name"`
			Arg  union  `json:"arg"`
		}, 2)
		all.Inputs[1].Arg = union{kind: "as_tensors", body: json.RawMessage(operands)}
		return &all
	}
	both := n(`[{"name": "x"}, {"name": "w"}]`)
	for text, want := range map[string]string{
		"...c,cd->...d":       "ABCc,cd->ABCd",
		"A...c, c... -> A...": "ABCc,cC->ABC",
		"...c,cd":             "ABCc,cd->ABCd",
		"...a,b...":           "ABCa,bC->ABCab",
	} {
		got, err := b.lettered(text, both)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	_, err := b.lettered("...c,abc...->...", both)
	require.ErrorContains(t, err, "too few dimensions")
	_, err = b.lettered("...c->...", both)
	require.ErrorContains(t, err, "1 term for 2 operands")
}
