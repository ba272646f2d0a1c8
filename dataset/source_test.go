package dataset

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/torch"
)

// proportional keeps the quotas.
func proportional([]quota) {}

// Each class contributes its share, to within one image.
func TestEveryClassGivesItsShare(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		classes, count := 1+random.IntN(20), 2+random.IntN(300)
		labels := make([]int64, count)
		for k := range labels {
			labels[k] = int64(random.IntN(classes) * random.IntN(2))
		}
		rows := everyRow(count)
		if random.IntN(2) == 0 { // some rows are already taken
			rows, _ = apart(labels, rows, random.IntN(count-1), 5, 1, proportional)
		}
		want := random.IntN(len(rows) + 1)
		others, drawn := apart(labels, rows, want, int64(random.IntN(1000)), 2, proportional)
		require.Len(t, drawn, want)
		require.True(t, slices.IsSorted(others) && slices.IsSorted(drawn))
		require.Equal(t, rows, slices.Sorted(slices.Values(slices.Concat(others, drawn))))
		all, got := counts(labels, rows), counts(labels, drawn)
		for class, n := range all {
			require.Less(t, math.Abs(float64(got[class])-float64(n*want)/float64(len(rows))), 1.0)
		}
	}
}

// A class keeps a row for training, and a limit leaves a row of each class.
func TestNoClassLosesAllTrainingRows(t *testing.T) {
	labels := []int64{0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4}
	for seed := range int64(20) {
		others, drawn := withheld(labels, everyRow(len(labels)), 5, seed, streamValidation)
		require.Len(t, drawn, 5)
		require.Len(t, counts(labels, others), 5, "seed %d", seed)
		_, drawn = apart(labels, everyRow(len(labels)), 6, seed, streamLimit, everyClassDrawn)
		require.Len(t, drawn, 6)
		require.Len(t, counts(labels, drawn), 5, "seed %d", seed)
	}
	others, drawn := withheld([]int64{0, 1, 2}, everyRow(3), 1, 1, streamValidation)
	require.Equal(t, []int{2, 1}, []int{len(others), len(drawn)}, "no class has a second row")
}

func counts(labels []int64, rows []int) map[int64]int {
	all := make(map[int64]int)
	for _, row := range rows {
		all[labels[row]]++
	}
	return all
}

func TestTheSeedDecidesTheDivision(t *testing.T) {
	labels := make([]int64, 100)
	_, one := apart(labels, everyRow(100), 10, 1, streamValidation, proportional)
	_, same := apart(labels, everyRow(100), 10, 1, streamValidation, proportional)
	_, other := apart(labels, everyRow(100), 10, 2, streamValidation, proportional)
	require.Equal(t, one, same)
	require.NotEqual(t, one, other)
	require.Equal(t, []int{3, 14, 25, 46, 48, 49, 61, 75, 86, 89}, one,
		"a division is kept for ever: results depend on it")
}

func TestTestAsValidationTrainsOnAllOthers(t *testing.T) {
	within(t, func(s *torch.Scope) {
		o := Options{Synthetic: SyntheticOptions{Train: 100, Test: 30}}
		apart, err := Load(s, torch.CPU, files.OS{}, o)
		require.NoError(t, err)
		require.Equal(t, []int{90, 10, 30}, []int{apart.Train.Count, apart.Validation.Count, apart.Test.Count})
		o.TestAsValidation = true
		together, err := Load(s, torch.CPU, files.OS{}, o)
		require.NoError(t, err)
		require.Equal(t, []int{100, 30, 30}, []int{together.Train.Count, together.Validation.Count,
			together.Test.Count})
		require.Same(t, together.Test.Images, together.Validation.Images)
		require.Same(t, together.Test.Labels, together.Validation.Labels)
		require.NotEqual(t, apart.Digest, together.Digest)
	})
}

// Each image is in exactly one split.
func TestNoImageIsInTwoSplits(t *testing.T) {
	src, err := tiny(cifar10, tinyRows).readFor(writeAll(t, t.TempDir(),
		batchFiles(cifar10, cifar10.formats[0], false)))
	require.NoError(t, err)
	set := src.loadFor(t, Options{ValidationShare: 0.3, Seed: 5})
	seen := map[string]int{}
	for k := range set.images {
		for image := range slices.Chunk(set.images[k], cifarImage) {
			seen[string(image)]++
		}
	}
	require.Len(t, seen, 24)
	require.Equal(t, []int{14, 6, 4}, []int{set.Train.Count, set.Validation.Count, set.Test.Count})
}

func TestLimitKeepsTheClassesAndTheValidation(t *testing.T) {
	o := Options{Synthetic: SyntheticOptions{Train: 200, Test: 10, Size: 16}}
	all := loadFor(t, o)
	o.Limit = 50
	few := loadFor(t, o)
	require.Equal(t, 50, few.Train.Count)
	require.Equal(t, all.images[1], few.images[1], "the validation is the same")
	count := map[byte]int{}
	for _, label := range few.labels[0] {
		count[label]++
	}
	for label := range 10 {
		require.Equal(t, 5, count[byte(label)])
	}
	o.Limit = 1000
	require.Equal(t, all.Digest, loadFor(t, o).Digest)
}

func TestMomentsAreThoseOfTheTrainingImages(t *testing.T) {
	set := loadFor(t, Options{Synthetic: SyntheticOptions{Train: 50, Test: 5, Size: 16}})
	for channel := range 3 {
		var sum, squares, n float64
		for image := range slices.Chunk(set.images[0], 3*256) {
			for _, v := range image[channel*256 : (channel+1)*256] {
				x := float64(v) / 255
				sum, squares, n = sum+x, squares+x*x, n+1
			}
		}
		require.InDelta(t, sum/n, set.Mean[channel], 1e-9)
		require.InDelta(t, math.Sqrt(squares/n-sum/n*sum/n), set.Deviation[channel], 1e-9)
	}
	mean, deviation := moments([]byte{51, 51, 0, 255}, [3]int{2, 1, 2})
	require.Equal(t, []float64{0.2, 0.5}, mean)
	require.Equal(t, []float64{1, 0.5}, deviation, "what never changes has the deviation 1")
}

func TestMomentsMayBeGiven(t *testing.T) {
	o := Options{Synthetic: SyntheticOptions{Train: 50, Test: 5, Size: 16}}
	own := loadFor(t, o)
	o.Mean, o.Deviation = []float64{0.5}, []float64{0.1, 0.2, 0.3}
	set := loadFor(t, o)
	require.Equal(t, []float64{0.5, 0.5, 0.5}, set.Mean, "one for all channels")
	require.Equal(t, []float64{0.1, 0.2, 0.3}, set.Deviation)
	require.NotEqual(t, own.Digest, set.Digest, "what is computed from it is another")
	o.Deviation = nil
	require.Equal(t, own.Deviation, loadFor(t, o).Deviation)
	o.Mean, o.Deviation = own.Mean, []float64{1, 2}
	require.ErrorContains(t, loadError(o), "deviation has 2 values, but the images have 3 channels")
	o.Mean, o.Deviation = []float64{math.NaN()}, []float64{0}
	require.ErrorContains(t, loadError(o), "mean is [NaN]")
	require.ErrorContains(t, loadError(o), "deviation is [0]; expected numbers above 0")
}

func TestOptionsListEveryFault(t *testing.T) {
	var o Options
	o.EnsureDefaults()
	require.NoError(t, o.Validate())
	require.Equal(t, Options{Kind: KindSynthetic, ValidationShare: 0.1, Size: 32,
		Synthetic: SyntheticOptions{Classes: 10, Channels: 3, Size: 32, Train: 10_000, Test: 2_000, Noise: 40}}, o)
	wrong := Options{Kind: KindSynthetic, ValidationShare: 1, Size: -1, Limit: -1,
		Synthetic: SyntheticOptions{Classes: 1, Channels: 2, Size: 8, Train: 1, Test: -1, Noise: 256}}
	for _, text := range []string{"validation_share is 1", "size is -1", "limit is -1", "classes is 1",
		"channels is 2", "size is 8 pixels", "train is 1 images", "test is -1 images", "noise is 256"} {
		require.ErrorContains(t, wrong.Validate(), text)
	}
	err := Options{Kind: "cifar", ValidationShare: math.NaN(), Size: 1}.Validate()
	require.ErrorContains(t, err, `expected one of: cifar10, cifar100, csv, digits, fashion-mnist, folder, `+
		`mnist, shards, synthetic, text`)
	require.ErrorContains(t, err, "validation_share is NaN")
	err = loadError(Options{Kind: KindMNIST, ValidationShare: 2})
	require.ErrorContains(t, err, "path is missing")
	require.ErrorContains(t, err, "validation_share is 2")
	huge := SyntheticOptions{Size: 4096, Train: 1_000_000}
	huge.EnsureDefaults()
	require.ErrorContains(t, huge.Validate(), "more than 4 GiB")
}

func TestLoadNeedsAnOpenScope(t *testing.T) {
	s := torch.NewScope()
	require.NoError(t, s.Close())
	_, err := Load(s, torch.CPU, files.OS{}, Options{Synthetic: SyntheticOptions{Train: 20, Test: 5}})
	require.ErrorIs(t, err, torch.ErrClosed)
}
