package dataset

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

func (c *cifar) readFor(path string) (*source, error) {
	read, err := c.find(files.OS{}, Options{Kind: c.name, Path: path})
	if err != nil {
		return nil, err
	}
	return read()
}

func TestBothFormatsOfCIFARAreTheSameSet(t *testing.T) {
	for _, c := range []*cifar{tiny(cifar10, tinyRows), tiny(cifar100, tinyRows)} {
		digests := map[string][]string{}
		for _, format := range c.formats {
			for _, fortran := range []bool{false, true} {
				all, dir := batchFiles(c, format, fortran), t.TempDir()
				archive := packed(t, format.folder, all)
				write(t, filepath.Join(dir, "there", format.archive), archive)
				write(t, filepath.Join(dir, "another name"), archive)
				places := map[string]string{
					"a folder": writeAll(t, filepath.Join(dir, "flat"), all),
					"an unpacked archive": filepath.Dir(writeAll(t,
						filepath.Join(dir, "unpacked", format.folder), all)),
					"a folder of an archive":  filepath.Join(dir, "there"),
					"an archive":              filepath.Join(dir, "there", format.archive),
					"an archive of some name": filepath.Join(dir, "another name"),
				}
				for name, place := range places {
					src, err := c.readFor(place)
					require.NoError(t, err, name)
					set := src.loadFor(t, Options{})
					digests[set.Digest] = append(digests[set.Digest], name)
				}
			}
		}
		require.Len(t, digests, 1, "%s: %v", c.name, digests)
	}
}

func TestCIFARKeepsEveryPixelAndLabel(t *testing.T) {
	for _, c := range []*cifar{tiny(cifar10, tinyRows), tiny(cifar100, tinyRows)} {
		src, err := c.readFor(writeAll(t, t.TempDir(), batchFiles(c, c.formats[1], false)))
		require.NoError(t, err)
		set := src.loadFor(t, Options{TestAsValidation: true})
		var images, labels []byte
		for k, file := range c.formats[1].files {
			if b := cifarBatch(c, k); !file.test {
				images = append(images, b.images...)
				for _, label := range b.labels {
					labels = append(labels, byte(label))
				}
			}
		}
		require.Equal(t, images, set.images[0])
		require.Equal(t, labels, set.labels[0])
		require.Equal(t, []int{len(labels), tinyRows, tinyRows},
			[]int{set.Train.Count, set.Validation.Count, set.Test.Count})
		require.Equal(t, []int{3, 32, 32}, set.Shape)
		require.Equal(t, c.classes, set.Classes)
		require.Equal(t, c.name, set.Name)
	}
	require.Len(t, cifar10.classes, 10)
	require.Len(t, cifar100.classes, 100)
}

// Every format declares the published numbers of training and test images.
func TestCIFARHasItsPublishedSizes(t *testing.T) {
	for c, want := range map[*cifar][2]int{cifar10: {50_000, 10_000}, cifar100: {50_000, 10_000}} {
		for _, format := range c.formats {
			counts := map[bool]int{}
			for _, file := range format.files {
				counts[file.test] += file.rows
			}
			require.Equal(t, map[bool]int{false: want[0], true: want[1]}, counts, format.archive)
		}
	}
}

func TestCIFARSaysWhatIsWrong(t *testing.T) {
	c := tiny(cifar10, tinyRows)
	binary, python := c.formats[0], c.formats[1]
	cases := map[string]struct {
		format cifarFormat
		spoil  func(all map[string][]byte)
		want   []string
	}{
		"a file is missing": {binary, func(all map[string][]byte) { delete(all, "data_batch_3.bin") },
			[]string{"missing files data_batch_3.bin", "download the dataset again"}},
		"a batch is missing": {python, func(all map[string][]byte) { delete(all, "test_batch") },
			[]string{"missing files test_batch"}},
		"a file is short": {binary, func(all map[string][]byte) {
			all["test_batch.bin"] = all["test_batch.bin"][:5000]
		}, []string{"test_batch.bin", "5000 bytes", "12292", "download or copy"}},
		"a file is long": {binary, func(all map[string][]byte) {
			all["test_batch.bin"] = append(all["test_batch.bin"], 1)
		}, []string{"12293 bytes"}},
		"a label is large": {binary, func(all map[string][]byte) { all["data_batch_2.bin"][3073] = 10 },
			[]string{"data_batch_2.bin", "image 2 has label 10", "labels 0 to 9"}},
		"a pickle is short": {python, func(all map[string][]byte) { all["data_batch_1"] = all["data_batch_1"][:900] },
			[]string{"data_batch_1", "not a Python batch"}},
		"a pickle is a list": {python, func(all map[string][]byte) { all["data_batch_1"] = []byte("\x80\x02].") },
			[]string{"data_batch_1", "not a Python batch"}},
		"a pickle calls something": {python, func(all map[string][]byte) {
			all["data_batch_1"] = []byte("cos\nsystem\n(S'true'\ntR.")
		},
			[]string{"data_batch_1", "not allowed"}},
		"a pickle has the labels of CIFAR-100": {python, func(all map[string][]byte) {
			all["data_batch_1"] = []byte(strings.Replace(string(all["data_batch_1"]), "U\x06labels",
				"U\x0bfine_labels", 1))
		}, []string{"data_batch_1", "labels"}},
		"a pickle has too few labels": {python, func(all map[string][]byte) {
			short := cifarBatch(c, 0)
			all["data_batch_1"] = pythonBatch(c, short.part(0, 3), false)
		}, []string{"3 labels for 4 images"}},
		"a pickle has a negative label": {python, func(all map[string][]byte) {
			b := cifarBatch(c, 0)
			b.labels[2] = -1
			all["data_batch_1"] = pythonBatch(c, b, false)
		}, []string{"image 3 has label -1"}},
		"a pickle has too few images": {python, func(all map[string][]byte) {
			b := cifarBatch(c, 0)
			b.images = b.images[:3*cifarImage]
			all["data_batch_1"] = []byte(strings.Replace(string(pythonBatch(c, b.part(0, 3), false)), "](",
				"](K\x00", 1))
		}, []string{"shape [3 3072]", "[4 3072]"}},
	}
	for name, c2 := range cases {
		t.Run(name, func(t *testing.T) {
			all, dir := batchFiles(c, c2.format, false), t.TempDir()
			c2.spoil(all)
			write(t, filepath.Join(dir, "a.tar.gz"), packed(t, c2.format.folder, all))
			for _, place := range []string{writeAll(t, filepath.Join(dir, "folder"), all),
				filepath.Join(dir, "a.tar.gz")} {
				_, err := c.readFor(place)
				for _, text := range c2.want {
					require.ErrorContains(t, err, text)
				}
			}
		})
	}
}

func TestDamagedArchivesAreErrors(t *testing.T) {
	c := tiny(cifar10, tinyRows)
	good := packed(t, "x", batchFiles(c, c.formats[0], false))
	cases := map[string]struct {
		data []byte
		want string
	}{
		"cut short":       {good[:len(good)/2], "download or copy the file again"},
		"its end is gone": {good[:len(good)-6], "corrupt"},
		"not packed":      {[]byte("plain text, and more of it"), "not a .tar.gz"},
		"empty":           {nil, "not a .tar.gz"},
		"other files": {packed(t, "x", map[string][]byte{"readme": []byte("hello")}),
			"does not contain the files of cifar10"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "cifar-10-binary.tar.gz")
			write(t, path, test.data)
			_, err := c.readFor(path)
			require.ErrorContains(t, err, test.want)
			require.ErrorContains(t, err, path)
		})
	}
}

func TestAMissingDatasetSaysWhatToDo(t *testing.T) {
	cases := map[string]struct{ kind, want string }{
		"CIFAR-10": {KindCIFAR10, "put cifar-10-binary.tar.gz or the files data_batch_1.bin, data_batch_2.bin, " +
			"data_batch_3.bin, data_batch_4.bin, data_batch_5.bin, test_batch.bin"},
		"CIFAR-100": {KindCIFAR100, "put cifar-100-binary.tar.gz or the files test.bin, train.bin"},
		"MNIST": {KindMNIST, "put train-images-idx3-ubyte and train-labels-idx1-ubyte and t10k-images-idx3-ubyte and " +
			"t10k-labels-idx1-ubyte"},
		"Fashion-MNIST": {KindFashion, "train-images-idx3-ubyte"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, place := range []string{dir, filepath.Join(dir, "nothing")} {
				err := loadError(Options{Kind: c.kind, Path: place})
				require.ErrorIs(t, err, ErrMissing)
				require.ErrorContains(t, err, c.want)
				require.ErrorContains(t, err, place)
				require.ErrorContains(t, err, "graft data fetch "+c.kind)
			}
		})
	}
	err := loadError(Options{Kind: KindFolder, Path: filepath.Join(t.TempDir(), "nothing")})
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "PATH/train/CLASS")
}
