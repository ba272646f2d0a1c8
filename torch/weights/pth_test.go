package weights_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/torch/pickle"
	"graft/torch/weights"
)

// fixtures holds files with the same tensors, one in each format that PyTorch writes.
var fixtures = map[string]weights.Format{
	"current.pth": weights.PTH, "big.pth": weights.PTH, "legacy.pth": weights.PTHLegacy,
}

func fixture(t testing.TB, name string) []byte {
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return data
}

func readBytes(data []byte, opt weights.Options) (*weights.Set, error) {
	return weights.ReadFrom(bytes.NewReader(data), int64(len(data)), opt)
}

// expected is a line of testdata/expected.json, or of Python's output.
type expected struct {
	Name   string
	DType  weights.DType
	Shape  []int64
	Bytes  string
	SHA256 string
}

func TestReadWhatPyTorchWrites(t *testing.T) {
	var want []expected
	require.NoError(t, json.Unmarshal(fixture(t, "expected.json"), &want))
	for name, format := range fixtures {
		t.Run(name, func(t *testing.T) {
			set, err := weights.Read(files.OS{}, filepath.Join("testdata", name), weights.Options{})
			require.NoError(t, err)
			assert.Equal(t, format, set.Format)
			assertTensors(t, want, set)
			assert.Equal(t, map[string]string{"epoch": "12", "lr": "0.1", "note": "fünf", "flag": "true",
				"size.0": "2", "size.1": "3", "nested.list.1": "0.01"}, set.Metadata)
		})
	}
}

// assertTensors compares values, and hashes of bytes if want has them.
func assertTensors(t *testing.T, want []expected, set *weights.Set) {
	require.Len(t, set.Tensors, len(want))
	require.NoError(t, set.Validate())
	for i, w := range want {
		got, err := weights.Describe(set.Tensors[i])
		require.NoError(t, err)
		assert.Equal(t, w.Name, got.Name)
		assert.Equal(t, w.DType, got.DType, w.Name)
		assert.Equal(t, w.Shape, got.Shape, w.Name)
		assert.Equal(t, w.SHA256, got.SHA256, w.Name)
		if w.Bytes != "" {
			sum := sha256.Sum256(set.Tensors[i].Data)
			assert.Equal(t, w.Bytes, hex.EncodeToString(sum[:]), w.Name)
		}
	}
}

// object returns a .pth file of an object over storages of bytes, without any check.
func object(t testing.TB, value any, records map[string]string) []byte {
	var data bytes.Buffer
	require.NoError(t, pickle.Write(&data, value))
	return archiveOf(t, data.Bytes(), records)
}

// archiveOf returns a .pth file around the bytes of a pickle.
func archiveOf(t testing.TB, data []byte, records map[string]string) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	put := func(name string, content []byte, method uint16) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: "x/" + name, Method: method})
		require.NoError(t, err)
		_, err = w.Write(content)
		require.NoError(t, err)
	}
	put("data.pkl", data, zip.Store)
	for name, content := range records {
		put(name, []byte(content), zip.Deflate)
	}
	require.NoError(t, z.Close())
	return out.Bytes()
}

func global(module, name string) pickle.Global { return pickle.Global{Module: module, Name: name} }

// tensorOver returns a tensor over storage "0" of float32.
func tensorOver(items any, offset any, shape, stride pickle.Tuple) pickle.Reduce {
	return tensorOf(pickle.Tuple{"storage", global("torch", "FloatStorage"), "0", "cuda:3", items}, offset,
		shape, stride)
}

func tensorOf(id pickle.Tuple, offset any, shape, stride pickle.Tuple) pickle.Reduce {
	return pickle.Reduce{Callable: global("torch._utils", "_rebuild_tensor_v2"),
		Args: pickle.Tuple{pickle.Persistent{ID: id}, offset, shape, stride, false, &pickle.Dict{Ordered: true}}}
}

func dict(t testing.TB, pairs ...any) *pickle.Dict {
	d := &pickle.Dict{}
	for i := 0; i < len(pairs); i += 2 {
		require.NoError(t, d.Set(pairs[i], pairs[i+1]))
	}
	return d
}

var sixteen = map[string]string{"data/0": "aaaabbbbccccdddd"}

func TestReadCompressedStorage(t *testing.T) {
	data := object(t, tensorOver(4, 1, pickle.Tuple{3}, pickle.Tuple{1}), sixteen)
	set, err := readBytes(data, weights.Options{})
	require.NoError(t, err)
	assert.Equal(t, "tensor", set.Tensors[0].Name)
	assert.Equal(t, "bbbbccccdddd", string(set.Tensors[0].Data))
}
