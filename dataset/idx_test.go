package dataset

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMNISTIsReadPackedAndPlain(t *testing.T) {
	dir := t.TempDir()
	plain := writeAll(t, filepath.Join(dir, "plain"), idxFiles())
	for name, data := range idxFiles() {
		write(t, filepath.Join(dir, "packed", name+".gz"), zipped(t, data))
		write(t, filepath.Join(dir, "torchvision", "MNIST", "raw", name), data)
	}
	want := loadFor(t, Options{Kind: KindMNIST, Path: plain, TestAsValidation: true})
	require.Equal(t, []int{1, 28, 28}, want.Shape)
	require.Equal(t, []int{30, 12, 12}, []int{want.Train.Count, want.Validation.Count, want.Test.Count})
	require.Equal(t, digits, want.Classes)
	require.Equal(t, idxFiles()[idxTrain.images][16:], want.images[0])
	require.Equal(t, idxFiles()[idxTest.labels][8:], want.labels[2])
	for _, folder := range []string{"packed", "torchvision"} {
		require.Equal(t, want.Digest, loadFor(t, Options{Kind: KindMNIST, Path: filepath.Join(dir, folder),
			TestAsValidation: true}).Digest, folder)
	}
	other := loadFor(t, Options{Kind: KindFashion, Path: plain})
	require.Equal(t, "Trouser", other.Classes[1])
	require.Len(t, other.Classes, 10)
}

func TestIDXSaysWhatIsWrong(t *testing.T) {
	images, labels := idxTrain.images, idxTrain.labels
	cases := map[string]struct {
		spoil func(all map[string][]byte)
		want  []string
	}{
		"a file is missing": {func(all map[string][]byte) { delete(all, labels) }, []string{"missing files " + labels}},
		"empty": {func(all map[string][]byte) { all[labels] = nil },
			[]string{labels, "truncated in its header of 8 bytes"}},
		"labels in place of images": {func(all map[string][]byte) {
			all[images] = idxFile(idxLabels, make([]byte, 60), 60)
		}, []string{images, "begins with magic number 00000801", "00000803"}},
		"cut short": {func(all map[string][]byte) { all[images] = all[images][:1000] },
			[]string{images, "truncated after 984 of 23520 bytes", "again"}},
		"goes on": {func(all map[string][]byte) { all[labels] = append(all[labels], 0) }, []string{labels,
			"after the last image"}},
		"other size": {func(all map[string][]byte) {
			all[images] = idxFile(idxImages, make([]byte, 30*32*32), 30, 32, 32)
		}, []string{"a side length of 32 pixels; expected 28"}},
		"no images": {func(all map[string][]byte) { all[images] = idxFile(idxImages, nil, 0, 28, 28) },
			[]string{"the header gives a count of 0 items"}},
		"more than can be": {func(all map[string][]byte) { all[images] = idxFile(idxImages, nil, 1<<31, 28, 28) },
			[]string{"the header gives a count of 2147483648 items"}},
		"other number of labels": {func(all map[string][]byte) {
			all[labels] = idxFile(idxLabels, make([]byte, 29), 29)
		}, []string{"29 labels for the 30 images", "download both files again"}},
		"a label is large": {func(all map[string][]byte) { all[labels][8+4] = 10 },
			[]string{"label 5 is 10", "labels 0 to 9"}},
		"packed and cut short": {func(all map[string][]byte) { all[images] = zipped(t, all[images])[:80] },
			[]string{images, "truncated"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			all := idxFiles()
			c.spoil(all)
			err := loadError(Options{Kind: KindMNIST, Path: writeAll(t, t.TempDir(), all)})
			for _, text := range c.want {
				require.ErrorContains(t, err, text)
			}
			require.Equal(t, name != "a file is missing", errors.As(err, new(Damage)))
		})
	}
}
