package dataset

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

// Declared facts and split sizes equal the facts and sizes of the loaded dataset.
func TestDeclared(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"a", "b", "c", ".hidden"} {
		require.NoError(t, os.MkdirAll(filepath.Join(folder, name), 0o700))
	}
	for name, c := range map[string]struct {
		o       Options
		shape   []int
		classes int
	}{
		"synthetic": {Options{}, []int{3, 32, 32}, 10},
		"other synthetic": {Options{Synthetic: SyntheticOptions{Classes: 4, Channels: 1, Size: 16}},
			[]int{1, 16, 16}, 4},
		"cifar100":         {Options{Kind: KindCIFAR100, Path: "none"}, []int{3, 32, 32}, 100},
		"mnist":            {Options{Kind: KindMNIST, Path: "none"}, []int{1, 28, 28}, 10},
		"digits":           {Options{Kind: KindDigits, Path: "none"}, []int{1, 8, 8}, 10},
		"a folder":         {Options{Kind: KindFolder, Path: folder, Size: 64}, []int{3, 64, 64}, 3},
		"a missing folder": {Options{Kind: KindFolder, Path: "none"}, []int{3, 32, 32}, 0},
		"an unknown kind":  {Options{Kind: "none"}, nil, 0},
	} {
		got := Declared(files.OS{}, c.o)
		require.Equal(t, c.shape, got.Shape, name)
		require.Equal(t, c.classes, got.Classes, name)
		require.Len(t, got.Labels, c.classes, name)
	}
	for _, o := range []Options{{}, {ValidationShare: 0.5, Limit: 31}, {TestAsValidation: true, Limit: 7}} {
		o.Synthetic = SyntheticOptions{Size: 16, Train: 101, Test: 33}
		o.EnsureDefaults()
		src, err := synthetic(files.OS{}, o)
		require.NoError(t, err)
		parts, err := src.divide(o)
		require.NoError(t, err)
		want := [2]int{len(parts.train.rows), len(parts.validation.rows)}
		if o.TestAsValidation {
			want[1] = len(parts.test.rows)
		}
		training, validation := DeclaredCounts(o)
		require.Equal(t, want, [2]int{training, validation}, o)
	}
	o := Options{Synthetic: SyntheticOptions{Classes: 4, Channels: 1, Size: 16}}
	o.EnsureDefaults()
	src, err := synthetic(files.OS{}, o)
	require.NoError(t, err)
	require.Equal(t, Facts{Shape: src.shape[:], Classes: len(src.classes), Labels: src.classes}, Declared(nil, o))
	require.Empty(t, Declared(nil, Options{Synthetic: SyntheticOptions{Classes: -1}}).Labels)
}
