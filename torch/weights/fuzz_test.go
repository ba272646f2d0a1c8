package weights_test

import (
	"archive/zip"
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/torch/pickle"
	"graft/torch/weights"
)

func FuzzReadPTH(f *testing.F) {
	for name := range fixtures {
		f.Add(fixture(f, name))
	}
	small := object(f, tensorOver(4, 1, pickle.Tuple{1, 3}, pickle.Tuple{0, 1}), sixteen)
	f.Add(small)
	f.Add(objectOf(f, small))
	for name := range fixtures {
		f.Add(objectOf(f, fixture(f, name)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		// Checksums protect a real archive from most mutations, so the data are also read as the object of a sound
		// archive.
		if set, err := readBytes(archiveOf(t, data, sixteen), weights.Options{MaxBytes: 1 << 20}); err == nil {
			checkRewrites(t, set)
		}
		opt := weights.Options{MaxBytes: 1 << 20, MaxTensors: 1 << 10}
		r, size := bytes.NewReader(data), int64(len(data))
		for _, read := range []func(io.ReaderAt, int64, weights.Options) (*weights.Set, error){
			weights.ReadPTH, weights.ReadPTHLegacy, weights.ReadFrom,
		} {
			if set, err := read(r, size, opt); err == nil {
				checkRewrites(t, set)
			}
		}
	})
}

// objectOf returns the record data.pkl, or all data if there is no such record.
func objectOf(f *testing.F, data []byte) []byte {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return data
	}
	for _, record := range z.File {
		if filepath.Base(record.Name) == "data.pkl" {
			in, err := record.Open()
			require.NoError(f, err)
			defer func() { require.NoError(f, in.Close()) }()
			data, err = io.ReadAll(in)
			require.NoError(f, err)
		}
	}
	return data
}

// checkRewrites checks that a set is valid, and that each format that can hold it keeps it.
func checkRewrites(t *testing.T, set *weights.Set) {
	require.NoError(t, set.Validate())
	for _, tensor := range set.Tensors {
		_, err := weights.Describe(tensor)
		require.NoError(t, err)
	}
	for name, write := range map[string]func(io.Writer, *weights.Set) error{
		"pth": weights.WritePTH, "safetensors": weights.WriteSafetensors,
	} {
		var out bytes.Buffer
		if write(&out, set) != nil { // a name that the format does not allow
			continue
		}
		again, err := readBytes(out.Bytes(), weights.Options{})
		require.NoError(t, err, name)
		require.True(t, slices.EqualFunc(set.Tensors, again.Tensors, sameTensor), name)
	}
}

func sameTensor(a, b weights.Tensor) bool {
	return a.Name == b.Name && a.DType == b.DType && slices.Equal(a.Shape, b.Shape) && bytes.Equal(a.Data, b.Data)
}
