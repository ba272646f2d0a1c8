package pickle_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/torch/pickle"
	"graft/torch/pickle/pickletest"
)

func TestWriteReadsBack(t *testing.T) {
	inner, err := pickletest.Dict(pickle.Pair{Key: "k", Value: pickle.Tuple{}})
	require.NoError(t, err)
	inner.Ordered = true
	for _, value := range []any{
		nil, true, false, int64(0), int64(255), int64(256), int64(65536), int64(-1),
		int64(math.MinInt64), int64(math.MaxInt64), power(1, 63), power(-1, 63).Sub(power(-1, 63), power(1, 0)),
		power(1, 64), power(-1, 1000), 2.5, "", "é☃", []byte("\x00\xff"), pickle.Global{Module: "m", Name: "N"},
		pickle.Tuple{int64(1), list(int64(2), inner)},
	} {
		var out bytes.Buffer
		require.NoError(t, pickle.Write(&out, value))
		got, err := pickle.Read(&out, pickle.Options{})
		require.NoError(t, err)
		assert.Equal(t, value, got)
	}
}

func TestWriteRefuses(t *testing.T) {
	loop := list()
	loop.Items = append(loop.Items, loop)
	for name, value := range map[string]any{
		"a list that holds itself":      loop,
		"a set":                         &pickle.Set{},
		"a type of Go":                  struct{}{},
		"a text that is not UTF-8":      "\xff",
		"a class without a name":        pickle.Global{},
		"a class with a line in it":     pickle.Global{Module: "os", Name: "a\nb"},
		"an int of more than 255 bytes": power(1, 8*255),
	} {
		assert.Error(t, pickle.Write(&bytes.Buffer{}, value), name)
	}
}

func TestWriteReferencesAndCalls(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, pickle.Write(&out, pickle.Reduce{
		Callable: pickle.Global{Module: "m", Name: "Thing"},
		Args:     pickle.Tuple{pickle.Persistent{ID: pickle.Tuple{"storage", 3}}},
	}))
	got, err := pickle.Read(&out, pickle.Options{
		Constructors: map[string]pickle.Constructor{
			"m.Thing": func(args pickle.Tuple) (any, error) { return args[0], nil },
		},
		Persistent: func(id any) (any, error) { return id, nil },
	})
	require.NoError(t, err)
	assert.Equal(t, pickle.Tuple{"storage", int64(3)}, got)
}
