package weights_test

import (
	"archive/zip"
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/internal/files/faults"
	"graft/torch/weights"
)

// randomSet returns a set with a tensor of random bits for each type, in several shapes.
func randomSet(seed uint64) *weights.Set {
	random := rand.New(rand.NewPCG(seed, 0))
	set := &weights.Set{}
	for d := weights.Float32; d <= weights.Bool; d++ {
		for name, shape := range map[string][]int64{".matrix": {3, 5}, ".single": {}, ".empty": {2, 0},
			".large": {33, 32, 3}} {
			set.Tensors = append(set.Tensors, randomTensor(random, d.String()+name, d, shape))
		}
	}
	return set
}

func randomTensor(random *rand.Rand, name string, d weights.DType, shape []int64) weights.Tensor {
	n := d.Size()
	for _, size := range shape {
		n *= size
	}
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(random.Uint32())
		if d == weights.Bool {
			data[i] &= 1
		}
	}
	return weights.Tensor{Name: name, DType: d, Shape: shape, Data: data}
}

func TestRoundTripKeepsBytes(t *testing.T) {
	dir := t.TempDir()
	want := randomSet(1)
	set := want
	for _, name := range []string{"a.pth", "b.safetensors", "c.pt", "d.safetensors", "e.pth"} {
		path := filepath.Join(dir, name)
		require.NoError(t, weights.Write(files.OS{}, path, set))
		got, err := weights.Read(files.OS{}, path, weights.Options{})
		require.NoError(t, err)
		format, err := weights.FormatOf(path)
		require.NoError(t, err)
		assert.Equal(t, format, got.Format)
		require.Equal(t, want.Tensors, got.Tensors)
		set = got
	}
	for _, pair := range [][2]string{{"a.pth", "e.pth"}, {"b.safetensors", "d.safetensors"}, {"a.pth", "c.pt"}} {
		assert.Equal(t, contents(t, dir, pair[0]), contents(t, dir, pair[1]), "the same set gives the same file")
	}
}

func contents(t *testing.T, dir, name string) []byte {
	data, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return data
}

func TestStoragesAreAligned(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, weights.WritePTH(&out, randomSet(2)))
	z, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	require.NoError(t, err)
	for _, record := range z.File {
		offset, err := record.DataOffset()
		require.NoError(t, err)
		assert.Zero(t, offset%64, record.Name)
		assert.Equal(t, zip.Store, record.Method)
	}
}

func TestReadAtEveryFault(t *testing.T) {
	for name := range fixtures {
		for at := 1; ; at++ {
			fsys := faults.New(files.OS{}, at, faults.Fail)
			_, err := weights.Read(fsys, filepath.Join("testdata", name), weights.Options{})
			if !fsys.Fired() {
				require.NoError(t, err)
				break
			}
			assert.Error(t, err, "%s at %d: package zip hides the cause of some", name, at)
		}
	}
}

func TestInvalidSetsAreNotWritten(t *testing.T) {
	dir := t.TempDir()
	bad := &weights.Set{Tensors: []weights.Tensor{{Name: "w", DType: weights.Int8, Shape: []int64{2}, Data: []byte{1}}}}
	for _, name := range []string{"w.pth", "w.safetensors"} {
		assert.ErrorContains(t, weights.Write(files.OS{}, filepath.Join(dir, name), bad), `tensor "w"`)
	}
	assert.ErrorContains(t, weights.Write(files.OS{}, filepath.Join(dir, "w.npz"), bad), ".safetensors")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func TestReadWhatIsNoFileOfWeights(t *testing.T) {
	dir := t.TempDir()
	_, err := weights.Read(files.OS{}, dir, weights.Options{})
	assert.ErrorContains(t, err, "folder")
	_, err = weights.Read(files.OS{}, filepath.Join(dir, "absent.pth"), weights.Options{})
	assert.ErrorIs(t, err, os.ErrNotExist)
	for _, data := range []string{"", "P", "PK\x03\x04", "\x80\x02", "some text that is longer",
		"\x80\x04\x95\x02\x00\x00\x00\x00\x00\x00\x00}."} {
		_, err := readBytes([]byte(data), weights.Options{})
		assert.Error(t, err, "%q", data)
	}
}

// Detect recognises a safetensors header whose length looks like a pickle.
func TestDetect(t *testing.T) {
	for want, head := range map[weights.Format]string{
		weights.Safetensors: "\x80\x02\x00\x00\x00\x00\x00\x00{}",
		weights.PTHLegacy:   "\x80\x02\x8a\x0al\xfc\x9cF\xf9",
		weights.PTH:         "PK\x03\x04\x00\x00\x00\x00\x00",
	} {
		got, err := weights.Detect(bytes.NewReader([]byte(head)), int64(len(head)))
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}
