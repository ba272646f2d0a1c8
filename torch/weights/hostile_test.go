package weights_test

import (
	"archive/zip"
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/torch/pickle"
	"graft/torch/weights"
)

func TestReadHostilePTH(t *testing.T) {
	ints := func(n ...any) pickle.Tuple { return n }
	storage := func(class pickle.Global, key, items any) pickle.Reduce {
		return tensorOf(pickle.Tuple{"storage", class, key, "cpu", items}, 0, ints(1), ints(1))
	}
	laughs := &pickle.List{Items: []any{"ha"}}
	for range 13 {
		laughs = &pickle.List{Items: []any{laughs, laughs}}
	}
	deep := &pickle.List{}
	for range 100 {
		deep = &pickle.List{Items: []any{deep}}
	}
	cases := map[string]struct {
		value any
		want  string
	}{
		"the offset leads out":   {tensorOver(4, 4, ints(1), ints(1)), "reaches item 4"},
		"the offset is negative": {tensorOver(4, -1, ints(1), ints(1)), "do not match"},
		"a stride leads out":     {tensorOver(4, 0, ints(2, 2), ints(3, 1)), "reaches item 4"},
		"a stride is negative":   {tensorOver(4, 3, ints(2), ints(-1)), "too large for any storage"},
		"strides overflow":       {tensorOver(4, 0, ints(3, 3), ints(1<<62, 1<<62)), "too large for any storage"},
		"the shape overflows": {tensorOver(4, 0, ints(1<<40, 1<<40), ints(0, 0)),
			"too many items"},
		"the bytes overflow":       {tensorOver(4, 0, ints(1<<62), ints(0)), "too many items"},
		"a huge view of one item":  {tensorOver(4, 0, ints(1<<40), ints(0)), "raise Options.MaxBytes"},
		"a negative size":          {tensorOver(4, 0, ints(-1), ints(1)), "negative size"},
		"fewer strides than sizes": {tensorOver(4, 0, ints(1, 1), ints(1)), "do not match"},
		"too many dimensions":      {tensorOver(4, 0, make(pickle.Tuple, 65), ints()), "65 dimensions"},
		"a size that is no number": {tensorOver(4, 0, ints("a"), ints(1)), "string, expected a int64"},
		"a storage larger than its record": {tensorOver(5, 0, ints(1), ints(1)),
			"16 bytes, but 5 items of float32 take 20"},
		"a storage of negative size":      {tensorOver(-1, 0, ints(1), ints(1)), "-1 items"},
		"the bytes of a storage overflow": {tensorOver(1<<62, 0, ints(1), ints(1)), "4611686018427387904 items"},
		"a storage that is not there":     {storage(global("torch", "FloatStorage"), "7", 4), `"data/7" is missing`},
		"a storage of complex numbers": {storage(global("torch", "ComplexFloatStorage"), "0", 4),
			"convert the tensor"},
		"a storage of another module": {storage(global("os", "FloatStorage"), "0", 4), "convert the tensor"},
		"a key that is no text":       {storage(global("torch", "FloatStorage"), 0, 4), "a storage description"},
		"one storage in two ways": {ints(tensorOver(4, 0, ints(), ints()), tensorOver(3, 0, ints(), ints())),
			"two different descriptions"},
		"a whole module":             {pickle.Persistent{ID: ints("module", "a", "b", "c", "d")}, "state_dict()"},
		"a persistent id of nothing": {pickle.Persistent{ID: "0"}, "does not describe a storage"},
		"no tensor at all":           {"text", "expected tensors"},
		"a call into the system": {pickle.Reduce{Callable: global("os", "system"), Args: ints("true")},
			`"os.system" is not allowed`},
		"a parameter has no tensor": {pickle.Reduce{Callable: global("torch._utils", "_rebuild_parameter"),
			Args: ints("x")}, "begins with a string, expected a tensor"},
		"two tensors of one flattened name": {dict(t, "a", dict(t, "b", tensorOver(4, 0, ints(), ints())), "a.b",
			tensorOver(4, 0, ints(), ints())), "duplicate tensor name"},
		"two values of one flattened name": {dict(t, "a", dict(t, "b", 1), "a.b", 2), "duplicate entry name"},
		"a key that makes no name":         {dict(t, ints(1), 2), "cannot be part of a tensor name"},
		"entries beyond the limit":         {laughs, "Options.MaxTensors"},
		"deep nesting":                     {deep, "nested more than"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := readBytes(object(t, c.value, sixteen), weights.Options{MaxTensors: 1 << 12})
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func TestEmptyViewsMayPointAnywhere(t *testing.T) {
	data := object(t, tensorOver(4, 99, pickle.Tuple{0, 3}, pickle.Tuple{1 << 62, 1 << 62}), sixteen)
	set, err := readBytes(data, weights.Options{})
	require.NoError(t, err)
	assert.Empty(t, set.Tensors[0].Data)
}

func TestZipBombs(t *testing.T) {
	one := pickle.Tuple{1}
	zeros := map[string]string{"data/0": string(make([]byte, 80<<20))}
	bomb := object(t, tensorOver(20<<20, 0, one, one), zeros)
	require.Less(t, len(bomb), 1<<20)
	_, err := readBytes(bomb, weights.Options{})
	assert.ErrorContains(t, err, "83886080 bytes exceed the limit")

	_, err = readBytes(object(t, tensorOver(4, 0, one, one), sixteen), weights.Options{MaxBytes: 10})
	assert.Error(t, err)
}

func TestDamagedArchives(t *testing.T) {
	good := object(t, tensorOver(4, 0, pickle.Tuple{1}, pickle.Tuple{1}),
		map[string]string{"data/0": "aaaabbbbccccdddd", "byteorder": "little"})
	_, err := readBytes(good, weights.Options{})
	require.NoError(t, err)
	_, err = readBytes(object(t, "x", map[string]string{"byteorder": "middle"}), weights.Options{})
	assert.ErrorContains(t, err, `"middle"`)
	_, err = readBytes(object(t, "x", map[string]string{"data.pkl": "."}), weights.Options{})
	assert.ErrorContains(t, err, "duplicate")

	var out bytes.Buffer
	z := zip.NewWriter(&out)
	_, err = z.Create("readme")
	require.NoError(t, err)
	require.NoError(t, z.Close())
	_, err = readBytes(out.Bytes(), weights.Options{})
	assert.ErrorContains(t, err, "not written by torch.save")

	current := fixture(t, "current.pth")
	at := bytes.Index(current, []byte("data/0"))
	current[at+80] ^= 1
	_, err = readBytes(current, weights.Options{})
	assert.ErrorIs(t, err, zip.ErrChecksum)
}

// Every truncated file gives an error. A zip file has its directory at the end; the other formats need every byte.
func TestCutShort(t *testing.T) {
	var safetensors bytes.Buffer
	set, err := readBytes(fixture(t, "current.pth"), weights.Options{})
	require.NoError(t, err)
	require.NoError(t, weights.WriteSafetensors(&safetensors, set))
	all := map[string][]byte{"safetensors": safetensors.Bytes()}
	for name := range fixtures {
		all[name] = fixture(t, name)
	}
	for name, data := range all {
		for n := 0; n < len(data); n += 7 {
			_, err := readBytes(data[:n], weights.Options{})
			assert.Error(t, err, "%s at %d", name, n)
		}
		_, err := readBytes(data[:len(data)-1], weights.Options{})
		assert.Error(t, err, name)
	}
}
