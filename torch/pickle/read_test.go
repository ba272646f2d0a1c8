package pickle_test

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/torch/pickle"
	"graft/torch/pickle/pickletest"
)

func read(t *testing.T, data string) any {
	value, err := pickle.Read(strings.NewReader(data), pickle.Options{})
	require.NoError(t, err)
	return value
}

func open(t *testing.T, name string, opt pickle.Options) *pickle.Dict {
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	value, err := pickle.Read(bytes.NewReader(data), opt)
	require.NoError(t, err)
	dict, err := pickle.As[*pickle.Dict](value)
	require.NoError(t, err)
	return dict
}

func list(items ...any) *pickle.List { return &pickle.List{Items: items} }

func power(sign int64, exponent uint) *big.Int {
	return new(big.Int).Mul(big.NewInt(sign), new(big.Int).Lsh(big.NewInt(1), exponent))
}

// wantValues returns the values of VALUES in testdata/make.py.
func wantValues() map[string]any {
	return map[string]any{
		"none": nil, "true": true, "false": false,
		"ints": list(int64(0), int64(255), int64(256), int64(65535), int64(65536), int64(-1),
			int64(math.MaxInt32), int64(math.MinInt32), int64(math.MaxInt64), int64(math.MinInt64)),
		"large": list(power(1, 63), new(big.Int).Sub(power(-1, 63), big.NewInt(1)),
			power(1, 200), power(-1, 200)),
		"floats": list(0.0, -1.5, 1e300, math.Inf(1)),
		"texts":  list("", "ascii", "é ü", "日本 \U0001f600", "line\nbreak \\ 'quotes\""),
		"bytes":  list([]byte{}, []byte("\x00\xff\n"), []byte("ab\x80")),
	}
}

func TestReadEveryProtocol(t *testing.T) {
	for protocol := range 6 {
		t.Run(fmt.Sprint("protocol ", protocol), func(t *testing.T) {
			values := open(t, fmt.Sprintf("values.p%d.pkl", protocol), pickle.Options{})
			for key, want := range wantValues() {
				got, ok := values.Get(key)
				require.True(t, ok, key)
				assert.Equal(t, fmt.Sprintf("%#v", plain(want)), fmt.Sprintf("%#v", plain(got)), key)
			}
			checkTuples(t, values)
			checkDicts(t, values)
			checkSets(t, values)
			checkIdentity(t, values)
		})
	}
}

// plain makes empty and nil values equal, and returns large ints as digits.
func plain(value any) any {
	switch v := value.(type) {
	case *pickle.List:
		return plainItems(v.Items)
	case pickle.Tuple:
		return plainItems(v)
	case *big.Int:
		return v.String()
	case []byte:
		return append([]byte{}, v...)
	}
	return value
}

func plainItems(items []any) any {
	out := make([]any, len(items))
	for i := range out {
		out[i] = plain(items[i])
	}
	return out
}

func checkTuples(t *testing.T, values *pickle.Dict) {
	got, err := pickle.Field[*pickle.List](values, "tuples")
	require.NoError(t, err)
	assert.Equal(t, "[[] [1] [1 2] [1 2 3] [1 2 3 [4 []]]]", fmt.Sprint(plain(got)))
	for _, item := range got.Items {
		assert.IsType(t, pickle.Tuple{}, item)
	}
}

func checkDicts(t *testing.T, values *pickle.Dict) {
	dict, err := pickle.Field[*pickle.Dict](values, "dict")
	require.NoError(t, err)
	var keys []any
	for key := range dict.All() {
		keys = append(keys, key)
	}
	assert.Equal(t, []any{"b", "a", pickle.Tuple{int64(1), "x"}, int64(3)}, keys, "the order is kept")
	inner, ok := dict.Get(pickle.Tuple{1, "x"})
	require.True(t, ok)
	y, err := pickle.Field[*pickle.List](inner.(*pickle.Dict), "y")
	require.NoError(t, err)
	assert.Equal(t, []any{true}, y.Items)
	assert.False(t, dict.Ordered)

	ordered, err := pickle.Field[*pickle.Dict](values, "ordered")
	require.NoError(t, err)
	assert.True(t, ordered.Ordered)
	assert.Equal(t, 2, ordered.Len())
}

func checkSets(t *testing.T, values *pickle.Dict) {
	sets, err := pickle.Field[*pickle.List](values, "sets")
	require.NoError(t, err)
	first, second := sets.Items[0].(*pickle.Set), sets.Items[1].(*pickle.Set)
	assert.True(t, first.Has(7) && !first.Frozen)
	assert.True(t, second.Has("f") && second.Frozen)
	assert.Equal(t, []any{"f"}, second.Items())
	assert.Zero(t, sets.Items[2].(*pickle.Set).Len())
}

// checkIdentity checks a list that is held twice, and a list that holds itself.
func checkIdentity(t *testing.T, values *pickle.Dict) {
	shared, err := pickle.Field[*pickle.List](values, "shared")
	require.NoError(t, err)
	assert.Same(t, shared.Items[0], shared.Items[1])
	loop, err := pickle.Field[*pickle.List](values, "loop")
	require.NoError(t, err)
	assert.Same(t, loop, loop.Items[1])
}

func TestReadPython2Text(t *testing.T) {
	assert.Equal(t, "a\xff", read(t, "U\x02a\xff."), "raw bytes are kept")
	assert.Equal(t, "a\xff", read(t, "T\x02\x00\x00\x00a\xff."))
	assert.Equal(t, "it's \\ \n\xe9", read(t, `S"it's \\ \n\xe9"`+"\n."))
	assert.Equal(t, "é☃\\d", read(t, "V\xe9\\u2603\\d\n."))
}

func TestReadSeveralInARow(t *testing.T) {
	r := bytes.NewReader([]byte("K\x01.K\x02.rest"))
	for want := range 2 {
		got, err := pickle.Read(r, pickle.Options{})
		require.NoError(t, err)
		assert.Equal(t, int64(want+1), got)
	}
	assert.Equal(t, 4, r.Len(), "nothing is read ahead")
}

func TestConstructorsAndStates(t *testing.T) {
	opt := pickle.Options{
		Constructors: map[string]pickle.Constructor{
			"m.Thing": func(args pickle.Tuple) (any, error) { return &thing{args: args}, nil },
		},
		Persistent: func(id any) (any, error) { return fmt.Sprint("loaded ", id), nil },
	}
	for name, data := range map[string]string{
		"REDUCE":    "cm\nThing\n(K\x01tRK\x02b.",
		"NEWOBJ":    "cm\nThing\n(K\x01t\x81K\x02b.",
		"NEWOBJ_EX": "\x8c\x01m\x8c\x05Thing\x93(K\x01t}\x92K\x02b.",
		"INST":      "(K\x01im\nThing\nK\x02b.",
		"OBJ":       "(cm\nThing\nK\x01oK\x02b.",
	} {
		got, err := pickle.Read(strings.NewReader(data), opt)
		require.NoError(t, err, name)
		assert.Equal(t, &thing{pickle.Tuple{int64(1)}, int64(2)}, got, name)
	}
	for _, data := range []string{"Pseven\n.", "X\x05\x00\x00\x00sevenQ."} {
		got, err := pickle.Read(strings.NewReader(data), opt)
		require.NoError(t, err)
		assert.Equal(t, "loaded seven", got)
	}
}

type thing struct {
	args  pickle.Tuple
	state any
}

func (o *thing) Build(state any) error { o.state = state; return nil }

func TestReadNumPy(t *testing.T) {
	names, err := filepath.Glob("testdata/numpy*.pkl")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			checkArrays(t, open(t, filepath.Base(name), pickle.Options{Constructors: pickle.NumPy()}))
		})
	}
}

func checkArrays(t *testing.T, arrays *pickle.Dict) {
	for key, want := range map[string]*pickle.Array{
		"u1":  {DType: "|u1", Shape: []int64{2, 3}, Data: []byte{0, 1, 2, 3, 4, 5}},
		"big": {DType: ">i2", Shape: []int64{2}, Data: []byte{0, 1, 1, 0}},
		"fortran": {DType: "<f4", Shape: []int64{2, 3}, FortranOrder: true,
			Data: []byte(
				"\x00\x00\x00\x00\x00\x00\x40\x40\x00\x00\x80\x3f\x00\x00\x80\x40\x00\x00\x00\x40\x00\x00\xa0\x40")},
		"empty":  {DType: "<f8", Shape: []int64{0, 4}},
		"single": {DType: "<f8", Shape: []int64{}, Data: []byte{0, 0, 0, 0, 0, 0, 4, 0x40}},
		"bool":   {DType: "|b1", Shape: []int64{2}, Data: []byte{1, 0}},
	} {
		got, err := pickle.Field[*pickle.Array](arrays, key)
		require.NoError(t, err)
		got.Data = append([]byte(nil), got.Data...)
		assert.Equal(t, want, got, key)
	}
	scalars, err := pickle.Field[*pickle.List](arrays, "scalars")
	require.NoError(t, err)
	top := new(big.Int).SetUint64(math.MaxUint64)
	assert.Equal(t, []any{0.5, -2.0, int64(-3), top, true}, scalars.Items)
}

// A batch of CIFAR-10 that Python 2 wrote is read: its data are a str, and its dtype has three arguments.
func TestReadPython2Array(t *testing.T) {
	data := "\x80\x02}U\x04datacnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n" +
		"K\x00\x85U\x01b\x87R(K\x01K\x01K\x03\x86cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R" +
		"(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89U\x03\x00\x7f\xfftbs."
	value, err := pickle.Read(strings.NewReader(data), pickle.Options{Constructors: pickle.NumPy()})
	require.NoError(t, err)
	got, err := pickle.Field[*pickle.Array](value.(*pickle.Dict), "data")
	require.NoError(t, err)
	assert.Equal(t, &pickle.Array{DType: "|u1", Shape: []int64{1, 3}, Data: []byte{0, 0x7f, 0xff}}, got)
}

func TestDictKeysAreEqualAsInPython(t *testing.T) {
	frozen := func(items ...any) *pickle.Set {
		s := &pickle.Set{Frozen: true}
		for _, item := range items {
			require.NoError(t, s.Add(item))
		}
		return s
	}
	same := [][2]any{{1, 1.0}, {true, int64(1)}, {power(1, 70), math.Ldexp(1, 70)},
		{pickle.Tuple{1, "a"}, pickle.Tuple{1.0, "a"}}, {frozen(1, 2), frozen(2, 1)}}
	for _, pair := range same {
		dict, err := pickletest.Dict(pickle.Pair{Key: pair[0], Value: "first"},
			pickle.Pair{Key: pair[1], Value: "second"})
		require.NoError(t, err)
		assert.Equal(t, 1, dict.Len(), "%v", pair)
	}
	differ := [][2]any{{1, "1"}, {nil, false}, {"a", []byte("a")}, {0.5, 0.25}, {1e300, math.Inf(1)},
		{pickle.Tuple{"ab", "c"}, pickle.Tuple{"a", "bc"}}, {pickle.Tuple{1}, frozen(1)}}
	for _, pair := range differ {
		dict, err := pickletest.Dict(pickle.Pair{Key: pair[0]}, pickle.Pair{Key: pair[1]})
		require.NoError(t, err)
		assert.Equal(t, 2, dict.Len(), "%v", pair)
	}
	_, err := pickletest.Dict(pickle.Pair{Key: list()})
	assert.ErrorIs(t, err, pickle.ErrFormat)
	_, err = pickle.Field[string](&pickle.Dict{}, "absent")
	assert.ErrorContains(t, err, `"absent"`)
	_, err = pickle.As[string](1)
	assert.ErrorContains(t, err, "int, expected a string")
}
