package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

func plainImage(c color.Color, width, height int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			img.Set(x, y, c)
		}
	}
	return img
}

func encodePNG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, png.Encode(&out, img))
	return out.Bytes()
}

// samplePictures returns the same picture in every format, by file extension.
func samplePictures(t testing.TB) map[string][]byte {
	t.Helper()
	img := plainImage(color.RGBA{R: 200, G: 100, B: 51, A: 255}, 12, 8)
	var jpg, gf bytes.Buffer
	require.NoError(t, jpeg.Encode(&jpg, img, &jpeg.Options{Quality: 100}))
	require.NoError(t, gif.Encode(&gf, img, nil))
	return map[string][]byte{"png": encodePNG(t, img), "jpg": jpg.Bytes(), "GIF": gf.Bytes()}
}

// pictureFolder writes 2*times, 3*times and 4*times images of classes a, b and c.
func pictureFolder(t testing.TB, folder string, times int) string {
	t.Helper()
	for k, class := range []string{"a", "b", "c"} {
		for n := range (k + 2) * times {
			img := plainImage(color.RGBA{R: byte(80 * k), G: byte(n), B: 255, A: 255}, 9, 5+k)
			write(t, filepath.Join(folder, class, fmt.Sprintf("%03d.png", n)), encodePNG(t, img))
		}
		write(t, filepath.Join(folder, class, "notes.txt"), []byte("no image"))
	}
	write(t, filepath.Join(folder, "readme"), []byte("no class"))
	return folder
}

func TestAFolderOfTrainAndTest(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mine")
	pictureFolder(t, filepath.Join(dir, "train"), 5)
	pictureFolder(t, filepath.Join(dir, "test"), 1)
	set := loadFor(t, Options{Kind: KindFolder, Path: dir, Size: 4, TestAsValidation: true})
	require.Equal(t, "mine", set.Name)
	require.Equal(t, []string{"a", "b", "c"}, set.Classes)
	require.Equal(t, []int{3, 4, 4}, set.Shape)
	require.Equal(t, []int{45, 9}, []int{set.Train.Count, set.Test.Count})
	for k, label := range set.labels[0] {
		image := set.images[0][k*48 : (k+1)*48]
		require.Equal(t, bytes.Repeat([]byte{80 * label}, 16), image[:16])
		require.Equal(t, bytes.Repeat([]byte{255}, 16), image[32:])
	}
}

func TestAFolderWithoutATestIsDivided(t *testing.T) {
	dir := pictureFolder(t, t.TempDir(), 10)
	set := loadFor(t, Options{Kind: KindFolder, Path: dir, Size: 4, ValidationShare: 0.2})
	require.Equal(t, []int{58, 14, 18}, []int{set.Train.Count, set.Validation.Count, set.Test.Count})
	require.Equal(t, 4, bytes.Count(set.labels[2], []byte{0}))
	require.Equal(t, 6, bytes.Count(set.labels[2], []byte{1}))
	require.Equal(t, 8, bytes.Count(set.labels[2], []byte{2}))
}

// A folder whose images would be used in part is refused.
func TestFoldersThatWouldBeReadInPart(t *testing.T) {
	for name, c := range map[string]struct{ file, fault string }{
		"another format": {"train/a/more.webp", "cannot read the format of more.webp; convert"},
		"a subfolder":    {"train/a/more/1.png", "has the subfolder more, whose files would not be read; move"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			pictureFolder(t, filepath.Join(dir, "train"), 2)
			pictureFolder(t, filepath.Join(dir, "test"), 1)
			write(t, filepath.Join(dir, c.file), encodePNG(t, plainImage(color.White, 4, 4)))
			_, err := foundFolder(files.OS{}, Options{Kind: KindFolder, Path: dir, Size: 4})
			require.ErrorContains(t, err, c.fault)
		})
	}
	dir := t.TempDir()
	pictureFolder(t, filepath.Join(dir, "train"), 2)
	pictureFolder(t, filepath.Join(dir, "val"), 1)
	_, err := foundFolder(files.OS{}, Options{Kind: KindFolder, Path: dir, Size: 4})
	require.ErrorContains(t, err, "rename val to test")
}

// The images of a folder for validation are the validation set if the options name the folder. Otherwise they are not
// used, and a share of train is held out.
func TestFoldersForValidation(t *testing.T) {
	dir := t.TempDir()
	pictureFolder(t, filepath.Join(dir, "train"), 10)
	pictureFolder(t, filepath.Join(dir, "test"), 1)
	pictureFolder(t, filepath.Join(dir, "val"), 3)
	o := Options{Kind: KindFolder, Path: dir, Size: 4, ValidationShare: 0.2}
	counts := func(set *Set) []int { return []int{set.Train.Count, set.Validation.Count, set.Test.Count} }
	all := loadFor(t, o)
	require.Equal(t, 90, all.Train.Count+all.Validation.Count)
	require.Equal(t, "val", IgnoredFolder(files.OS{}, o))
	named := o
	named.ValidationFolder = "val"
	require.Empty(t, IgnoredFolder(files.OS{}, named))
	set := loadFor(t, named)
	require.Equal(t, []int{90, 27, 9}, counts(set.Set))
	require.NotEqual(t, all.Digest, set.Digest)
	named.Stream = true
	streamed, err := foundFolder(files.OS{}, named)
	require.NoError(t, err)
	divided, err := streamed.divide(named)
	require.NoError(t, err)
	require.Equal(t, []int{90, 27, 9}, []int{len(divided.train.rows), len(divided.validation.rows),
		len(divided.test.rows)})

	require.NoError(t, os.MkdirAll(filepath.Join(dir, "empty"), 0o700))
	for folder, want := range map[string]string{"empty": "has no classes",
		"dev": `data.validation_folder is "dev", but the folders are empty, test, train, val`} {
		named.ValidationFolder = folder
		_, err := foundFolder(files.OS{}, named)
		require.ErrorContains(t, err, want)
	}
	named.ValidationFolder = "dev"
	require.ErrorContains(t, CheckFiles(files.OS{}, named), `data.validation_folder is "dev"`)
	for _, folder := range []string{"train", "../val", "/val", "."} {
		named.ValidationFolder = folder
		require.ErrorContains(t, named.Validate(), "expected the name of a folder next to train and test")
	}
	require.ErrorContains(t, Options{Kind: KindShards, Path: dir, Size: 4, ValidationShare: 0.1,
		ValidationFolder: "val"}.Validate(), "validation_folder is set for kind shards")
}

func TestPicturesOfEveryFormat(t *testing.T) {
	for ending, data := range samplePictures(t) {
		into := make([]byte, 3*5*5)
		require.NoError(t, form{size: 5}.decode(data, into), ending)
		for channel, want := range []float64{200, 100, 51} {
			for _, got := range into[channel*25 : (channel+1)*25] {
				require.InDelta(t, want, float64(got), 20, "%s, channel %d", ending, channel) // GIF has a palette
			}
		}
	}
}

// The first frame of a GIF keeps its place in the image.
func TestAGIFWithASmallFrame(t *testing.T) {
	frame := image.NewPaletted(image.Rect(2, 0, 4, 4), color.Palette{color.White})
	var out bytes.Buffer
	require.NoError(t, gif.EncodeAll(&out, &gif.GIF{Image: []*image.Paletted{frame}, Delay: []int{0},
		Config: image.Config{Width: 4, Height: 4, ColorModel: frame.Palette}}))
	into := make([]byte, 3*2*2)
	require.NoError(t, form{size: 2}.decode(out.Bytes(), into))
	require.Equal(t, bytes.Repeat([]byte{0, 255}, 6), into)
}

// Resizing crops to the middle square and averages pixels by area.
func TestResizing(t *testing.T) {
	cases := map[string]struct {
		width, height int
		pixels        []byte
		size          int
		want          []byte
	}{
		"nothing to do":       {2, 2, []byte{1, 2, 3, 4}, 2, []byte{1, 2, 3, 4}},
		"to one":              {2, 2, []byte{10, 20, 30, 41}, 1, []byte{25}},
		"to twice the size":   {2, 2, []byte{1, 2, 3, 4}, 4, []byte{1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4}},
		"three to two":        {3, 3, []byte{0, 90, 180, 0, 90, 180, 0, 90, 180}, 2, []byte{30, 150, 30, 150}},
		"the middle of wide":  {4, 2, []byte{9, 1, 2, 9, 9, 3, 4, 9}, 2, []byte{1, 2, 3, 4}},
		"the middle of tall":  {1, 3, []byte{9, 5, 9}, 2, []byte{5, 5, 5, 5}},
		"an odd one in front": {3, 2, []byte{1, 2, 9, 3, 4, 9}, 2, []byte{1, 2, 3, 4}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			img := image.NewGray(image.Rect(0, 0, c.width, c.height))
			copy(img.Pix, c.pixels)
			into := make([]byte, 3*c.size*c.size)
			require.NoError(t, form{size: c.size}.decode(encodePNG(t, img), into))
			for channel := range 3 {
				require.Equal(t, c.want, into[channel*c.size*c.size:(channel+1)*c.size*c.size])
			}
		})
	}
}

func TestFoldersSayWhatIsWrong(t *testing.T) {
	cases := map[string]struct {
		spoil func(dir string)
		want  []string
	}{
		"no class": {func(dir string) {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, "train")))
			write(t, filepath.Join(dir, "train", "x.png"), nil)
		}, []string{"0 subfolders"}},
		"a class without image": {func(dir string) { write(t, filepath.Join(dir, "train", "d", "x.bmp"), nil) },
			[]string{filepath.Join("train", "d"), ".png, .jpg"}},
		"an unknown class": {func(dir string) { write(t, filepath.Join(dir, "test", "d", "x.png"), nil) },
			[]string{`class "d"`, "a, b, c"}},
		"a broken image": {func(dir string) { write(t, filepath.Join(dir, "train", "b", "zz.png"), []byte("no")) },
			[]string{"zz.png", "replace or remove"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			pictureFolder(t, filepath.Join(dir, "train"), 2)
			pictureFolder(t, filepath.Join(dir, "test"), 1)
			c.spoil(dir)
			err := loadError(Options{Kind: KindFolder, Path: dir, Size: 4})
			for _, text := range c.want {
				require.ErrorContains(t, err, text)
			}
			require.Equal(t, name == "a broken image", errors.As(err, new(Damage)))
		})
	}
	require.ErrorContains(t, form{size: 1}.decode(hugePNG(t), make([]byte, 3)), "pixels")
}

// hugePNG returns a PNG file that claims more pixels than fit into memory.
func hugePNG(t testing.TB) []byte {
	data := encodePNG(t, plainImage(color.White, 1, 1))
	var out bytes.Buffer
	out.Write(data[:8])
	chunk(&out, "IHDR", []byte{0, 1, 0, 0, 0, 1, 0, 0, 8, 2, 0, 0, 0})
	return out.Bytes()
}

// chunk appends a chunk to a PNG file.
func chunk(out *bytes.Buffer, name string, data []byte) {
	body := append([]byte(name), data...)
	out.Write(binary.BigEndian.AppendUint32(nil, uint32(len(data))))
	out.Write(body)
	out.Write(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(body)))
}

// foundFolder finds and lists a folder.
func foundFolder(fsys files.FS, o Options) (*source, error) {
	read, err := findFolder(fsys, o)
	if err != nil {
		return nil, err
	}
	return read()
}
