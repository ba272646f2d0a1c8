package weights_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/torch/pickle"
	"graft/torch/weights"
)

// legacyFile returns a legacy file of an object and raw storages.
func legacyFile(t *testing.T, value any, keys []any, raw string) []byte {
	magic, err := pickle.Read(bytes.NewReader([]byte("\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.")), pickle.Options{})
	require.NoError(t, err)
	var out bytes.Buffer
	for _, v := range []any{magic, 1001, dict(t, "little_endian", true), value, &pickle.List{Items: keys}} {
		require.NoError(t, pickle.Write(&out, v))
	}
	out.WriteString(raw)
	return out.Bytes()
}

// part returns a tensor over a part of storage "r" of four float32.
func part(offset, items any) pickle.Reduce {
	one := pickle.Tuple{1}
	return tensorOf(pickle.Tuple{"storage", global("torch.cuda", "FloatStorage"), "r", "cuda:0", 4,
		pickle.Tuple{"p", offset, items}}, 1, one, one)
}

const fourItems = "\x04\x00\x00\x00\x00\x00\x00\x00aaaabbbbccccdddd"

func TestLegacyParts(t *testing.T) {
	set, err := readBytes(legacyFile(t, part(1, 2), []any{"r"}, fourItems), weights.Options{})
	require.NoError(t, err)
	assert.Equal(t, "cccc", string(set.Tensors[0].Data))
}

func TestHostileLegacy(t *testing.T) {
	keys := []any{"r"}
	for want, data := range map[string][]byte{
		"extends beyond the storage":     legacyFile(t, part(3, 2), keys, fourItems),
		"reaches item 1":                 legacyFile(t, part(0, 1), keys, fourItems),
		"is not in the file":             legacyFile(t, part(0, 2), nil, ""),
		"follow the last":                legacyFile(t, part(0, 2), keys, fourItems+"!"),
		"not use this storage":           legacyFile(t, part(0, 2), []any{"s"}, fourItems),
		"or the storage is a duplicate":  legacyFile(t, part(0, 2), []any{"r", "r"}, fourItems+fourItems),
		"the number in the saved object": legacyFile(t, part(0, 2), keys, "\xff\xff\xff\xff\xff\xff\xff\xff"),
		"but only 3 bytes are left":      legacyFile(t, part(0, 2), keys, fourItems[:11]),
		"without the magic number":       []byte("\x80\x02K\x01."),
	} {
		_, err := readBytes(data, weights.Options{})
		assert.ErrorContains(t, err, want)
	}
}
