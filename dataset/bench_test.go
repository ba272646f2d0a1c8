package dataset

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/files"
	"graft/torch"
)

func BenchmarkSynthetic10000Images(b *testing.B) {
	var o Options
	o.EnsureDefaults()
	src, err := synthetic(nil, o)
	require.NoError(b, err)
	rows := everyRow(10_000)
	for b.Loop() {
		_, err := src.train.images(rows)
		require.NoError(b, err)
	}
}

// A set of the real size, from disk.
func BenchmarkLoadCIFAR10(b *testing.B) {
	for _, format := range cifar10.formats {
		all := map[string][]byte{}
		for k, file := range format.files {
			block := newBlock(file.rows)
			for i := range block.labels {
				block.labels[i] = int64((i + k) % 10)
			}
			if format.archive == cifar10.formats[0].archive {
				all[file.name] = binaryBatch(cifar10, block)
			} else {
				all[file.name] = pythonBatch(cifar10, block, false)
			}
		}
		dir := writeAll(b, b.TempDir(), all)
		b.Run(format.folder, func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, torch.With(func(s *torch.Scope) error {
					_, err := Load(s, torch.CPU, files.OS{}, Options{Kind: KindCIFAR10, Path: dir})
					return err
				}))
			}
		})
	}
}
