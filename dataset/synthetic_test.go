package dataset

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// A synthetic set is the same on every machine and in every version, because caches and results are stored under its
// digest. A change needs a new name.
func TestSyntheticSetsAreKeptForEver(t *testing.T) {
	cases := map[string]struct {
		options Options
		want    string
	}{
		"the default": {Options{}, "8a64ea9d23e849356e75fbee4594dec7e870ae1a2f0e77e8b666f9da7be08ca4"},
		"another seed": {Options{Seed: 1, Synthetic: SyntheticOptions{Train: 300, Test: 100}},
			"1a33a6d1e057bb8eac12dd35ef27a19ff2661413370618b1072a7809b7aa0ae4"},
		"a small one": {Options{Synthetic: SyntheticOptions{Classes: 2, Channels: 1, Size: 16, Train: 40, Test: 10,
			Noise: 5}}, "b67b5268c4d7e7123b142b14f3d21547d245534bc064a9207168d800503c5bb4"},
		"many classes": {Options{Synthetic: SyntheticOptions{Classes: 100, Size: 47, Train: 300, Test: 100,
			Noise: 100}}, "cc6df6585da9d29ab8042f2fbe9cdc3182481a5dac144832ff652dc0c657be81"},
		"test as decision": {Options{TestAsValidation: true, Synthetic: SyntheticOptions{Train: 300, Test: 100}},
			"788b71d83ddc0341b472ae26d3141da1cdb7e38162170b38c59633320aaa4c4e"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, loadFor(t, c.options).Digest)
		})
	}
}

func TestWorkersDoNotChangeImages(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	o := Options{Synthetic: SyntheticOptions{Train: 101, Test: 7}}
	runtime.GOMAXPROCS(1)
	one := loadFor(t, o).Digest
	runtime.GOMAXPROCS(7)
	require.Equal(t, one, loadFor(t, o).Digest)
}

func TestEveryClassHasAName(t *testing.T) {
	set := loadFor(t, Options{Synthetic: SyntheticOptions{Classes: 100, Train: 200, Test: 100, Size: 16}})
	names := map[string]bool{}
	for _, name := range set.Classes {
		names[name] = true
	}
	require.Len(t, names, 100)
	require.Equal(t, "disc of rows", set.Classes[0])
	require.Equal(t, "cross of broad diamonds", set.Classes[99])
}
