package dataset

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/torch"
)

// tiny returns a CIFAR with few images in each file.
func tiny(c *cifar, rows int) *cifar {
	small := *c
	small.formats = nil
	for _, format := range c.formats {
		var all []cifarFile
		for _, file := range format.files {
			all = append(all, cifarFile{file.name, rows, file.test})
		}
		format.files = all
		small.formats = append(small.formats, format)
	}
	return &small
}

const tinyRows = 4

// cifarBatch generates the images and labels of a file, different for every number.
func cifarBatch(c *cifar, number int) block {
	b := newBlock(tinyRows)
	for k := range b.images {
		b.images[k] = byte(k*7 + k/cifarImage*13 + number*31)
	}
	for k := range b.labels {
		b.labels[k] = int64((k + number) % len(c.classes))
	}
	return b
}

func binaryBatch(c *cifar, b block) []byte {
	var out []byte
	for k, label := range b.labels {
		for range c.labels - 1 {
			out = append(out, 19) // the coarse label, which is ignored
		}
		out = append(out, byte(label))
		out = append(out, b.images[k*cifarImage:(k+1)*cifarImage]...)
	}
	return out
}

// pythonBatch returns a batch as Python 2 and NumPy 1 pickle it, opcode by opcode.
func pythonBatch(c *cifar, b block, fortran bool) []byte {
	var p bytes.Buffer
	text := func(s string) { fmt.Fprintf(&p, "U%c%s", len(s), s) }
	number := func(n int) { p.Write(binary.LittleEndian.AppendUint32([]byte{'J'}, uint32(n))) }
	p.WriteString("\x80\x02}(")
	text("batch_label")
	text("batch 1 of 5")
	text(c.key)
	p.WriteString("](")
	for _, label := range b.labels {
		number(int(label))
	}
	p.WriteString("e")
	text("data")
	p.WriteString("cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01")
	number(len(b.labels))
	number(cifarImage)
	p.WriteString("\x86cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb")
	data, order := b.images, "\x89"
	if fortran {
		data, order = byColumns(b), "\x88"
	}
	p.WriteString(order)
	p.Write(binary.LittleEndian.AppendUint32([]byte{'T'}, uint32(len(data))))
	p.Write(data)
	p.WriteString("tbu.")
	return p.Bytes()
}

func byColumns(b block) []byte {
	rows := len(b.labels)
	out := make([]byte, len(b.images))
	for k, value := range b.images {
		out[k%cifarImage*rows+k/cifarImage] = value
	}
	return out
}

func batchFiles(c *cifar, f cifarFormat, fortran bool) map[string][]byte {
	all := make(map[string][]byte)
	for k, file := range f.files {
		b := cifarBatch(c, k)
		if f.archive == c.formats[0].archive {
			all[file.name] = binaryBatch(c, b)
		} else {
			all[file.name] = pythonBatch(c, b, fortran)
		}
	}
	return all
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, data, 0o644))
}

func writeAll(t testing.TB, folder string, all map[string][]byte) string {
	t.Helper()
	for name, data := range all {
		write(t, filepath.Join(folder, name), data)
	}
	return folder
}

// packed returns a .tar.gz archive of files in a folder.
func packed(t testing.TB, folder string, all map[string][]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	archive := tar.NewWriter(zip)
	require.NoError(t, archive.WriteHeader(&tar.Header{Name: folder + "/", Typeflag: tar.TypeDir, Mode: 0o755}))
	for name, data := range all {
		require.NoError(t, archive.WriteHeader(&tar.Header{Name: folder + "/" + name, Size: int64(len(data)),
			Mode: 0o644}))
		_, err := archive.Write(data)
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	require.NoError(t, zip.Close())
	return out.Bytes()
}

func zipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	_, err := zip.Write(data)
	require.NoError(t, err)
	require.NoError(t, zip.Close())
	return out.Bytes()
}

func idxFile(magic uint32, data []byte, sizes ...uint32) []byte {
	out := binary.BigEndian.AppendUint32(nil, magic)
	for _, size := range sizes {
		out = binary.BigEndian.AppendUint32(out, size)
	}
	return append(out, data...)
}

// idxFiles returns the four files of a tiny MNIST with 30 training and 12 test images.
func idxFiles() map[string][]byte {
	all := make(map[string][]byte)
	for pair, count := range map[idxPair]int{idxTrain: 30, idxTest: 12} {
		images, labels := make([]byte, count*idxSide*idxSide), make([]byte, count)
		for k := range images {
			images[k] = byte(k * count)
		}
		for k := range labels {
			labels[k] = byte(k % 10)
		}
		all[pair.images] = idxFile(idxImages, images, uint32(count), idxSide, idxSide)
		all[pair.labels] = idxFile(idxLabels, labels, uint32(count))
	}
	return all
}

func within(t testing.TB, body func(s *torch.Scope)) {
	t.Helper()
	require.NoError(t, torch.With(func(s *torch.Scope) error { body(s); return s.Err() }))
}

// loaded holds the data of a set that is closed.
type loaded struct {
	*Set
	images, labels [3][]byte // training, validation, test
}

func (src *source) loadFor(t testing.TB, o Options) loaded {
	t.Helper()
	o.EnsureDefaults()
	var l loaded
	within(t, func(s *torch.Scope) {
		set, err := src.load(s, torch.CPU, o)
		require.NoError(t, err)
		l = readBack(t, set)
	})
	return l
}

func loadFor(t testing.TB, o Options) loaded {
	t.Helper()
	var l loaded
	within(t, func(s *torch.Scope) {
		set, err := Load(s, torch.CPU, files.OS{}, o)
		require.NoError(t, err)
		l = readBack(t, set)
	})
	return l
}

func loadError(o Options) error {
	return torch.With(func(s *torch.Scope) error {
		_, err := Load(s, torch.CPU, files.OS{}, o)
		return err
	})
}

func readBack(t testing.TB, set *Set) loaded {
	t.Helper()
	l := loaded{Set: set}
	for k, split := range []Split{set.Train, set.Validation, set.Test} {
		require.Equal(t, append([]int{split.Count}, set.Shape[:]...), split.Images.Shape())
		require.Equal(t, []int{split.Count}, split.Labels.Shape())
		var err error
		l.images[k], err = split.Images.Bytes()
		require.NoError(t, err)
		wide, err := torch.Values[int64](split.Labels)
		require.NoError(t, err)
		for _, label := range wide {
			l.labels[k] = append(l.labels[k], byte(label))
		}
	}
	return l
}
