package dataset

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/torch"
)

// Any input is read completely or gives an error: no panic, and no label without a class.

func FuzzIDX(f *testing.F) {
	for _, data := range idxFiles() {
		f.Add(data[:min(len(data), 4000)])
		f.Add(zipped(f, data))
	}
	f.Add(idxFile(idxImages, make([]byte, 2*28*28), 2, 28, 28))
	f.Add(idxFile(idxImages, nil, 1<<20, 28, 28))
	f.Fuzz(func(t *testing.T, data []byte) {
		if images, err := parseIDX(bytes.NewReader(data), idxImages, 28, 28); err == nil {
			require.NotEmpty(t, images)
			require.Zero(t, len(images)%(28*28))
		}
		if labels, err := parseIDX(bytes.NewReader(data), idxLabels); err == nil {
			require.NotEmpty(t, labels)
		}
	})
}

func checkLabels(t *testing.T, c *cifar, b block) {
	for _, label := range b.labels {
		require.Less(t, label, int64(len(c.classes)))
		require.GreaterOrEqual(t, label, int64(0))
	}
}

func FuzzCIFARBinary(f *testing.F) {
	f.Add(binaryBatch(cifar10, cifarBatch(cifar10, 1).part(0, 2)))
	f.Add(binaryBatch(cifar100, cifarBatch(cifar100, 1).part(0, 2)))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, c := range []*cifar{cifar10, cifar100} {
			into := newBlock(2)
			if parseBinary(c, bytes.NewReader(data), int64(len(data)), into) == nil {
				checkLabels(t, c, into)
			}
		}
	})
}

func FuzzCIFARPickle(f *testing.F) {
	for _, c := range []*cifar{cifar10, cifar100} {
		for _, fortran := range []bool{false, true} {
			f.Add(pythonBatch(c, cifarBatch(c, 1).part(0, 2), fortran))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, c := range []*cifar{cifar10, cifar100} {
			into := newBlock(2)
			if parsePickle(c, bytes.NewReader(data), int64(len(data)), into) == nil {
				checkLabels(t, c, into)
			}
		}
	})
}

func FuzzTar(f *testing.F) {
	f.Add(packed(f, "cifar", map[string][]byte{"one": []byte("1"), "two": make([]byte, 2000)}))
	f.Add(packed(f, "../..", map[string][]byte{"one": []byte("1"), "three": nil}))
	f.Fuzz(func(t *testing.T, data []byte) {
		seen := map[string]int64{}
		take := func(name string) func(io.Reader, int64) error {
			return func(r io.Reader, size int64) error {
				n, err := io.Copy(io.Discard, r)
				require.True(t, err != nil || n == size)
				seen[name] = size
				return err
			}
		}
		all := readers{"one": take("one"), "two": take("two")}
		if absent, err := all.readTar(bytes.NewReader(data)); err == nil {
			require.Len(t, seen, 2-len(absent))
		}
	})
}

func FuzzPicture(f *testing.F) {
	available := torch.OpenJPEG() == nil
	for _, data := range samplePictures(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 1<<12 { // images of a few bytes may unpack to megabytes
			for _, turbo := range []bool{false, available} {
				_ = form{8, turbo}.decode(data, make([]byte, 3*8*8))
			}
		}
	})
}
