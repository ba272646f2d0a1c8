package dataset

import (
	"archive/tar"
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/torch"
)

// shard writes a tar file; entries alternate between names and contents.
func shard(t testing.TB, path string, entries ...string) {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for k := 0; k < len(entries); k += 2 {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: entries[k], Size: int64(len(entries[k+1])), Mode: 0o644,
			Typeflag: tar.TypeReg}))
		_, err := io.WriteString(w, entries[k+1])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	write(t, path, out.Bytes())
}

// sharded packs the images of a folder of classes into shards of seven samples.
func sharded(t testing.TB, from, to string) {
	t.Helper()
	var entries []string
	flush := func(n int) {
		shard(t, filepath.Join(to, fmt.Sprintf("%03d.tar", n)), entries...)
		entries = nil
	}
	n := 0
	for label, class := range []string{"a", "b", "c"} {
		all, err := filepath.Glob(filepath.Join(from, class, "*.png"))
		require.NoError(t, err)
		for _, path := range all {
			image, err := os.ReadFile(path)
			require.NoError(t, err)
			name := class + "/" + strings.TrimSuffix(filepath.Base(path), ".png")
			entries = append(entries, name+".png", string(image), name+".cls", fmt.Sprint(label)+"\n")
			if n++; n%7 == 0 {
				flush(n)
			}
		}
	}
	flush(n)
}

// pixels returns the images and labels at places of a split, in their order.
func pixels(t *testing.T, split *Split, places []int64) (images []byte, labels []int64) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		x, y, err := split.Pick(s, Rows{Places: places}, Rows{})
		if err != nil {
			return err
		}
		if images, err = torch.Values[uint8](x); err == nil {
			labels, err = torch.Values[int64](y)
		}
		return err
	}))
	return images, labels
}

// A stream of a folder or of shards returns the same images as the set in memory, in any order, with and without
// prefetching.
func TestStreamsAreTheSet(t *testing.T) {
	dir, tars := pictureFolder(t, t.TempDir(), 10), filepath.Join(t.TempDir(), "tars")
	sharded(t, dir, tars)
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		want, err := Load(s, torch.CPU, files.OS{}, Options{Kind: KindFolder, Path: dir, Size: 4})
		require.NoError(t, err)
		digests := map[string]bool{want.Digest: true}
		for _, o := range []Options{{Kind: KindFolder, Path: dir, Stream: true},
			{Kind: KindShards, Path: tars, Stream: true}, {Kind: KindShards, Path: tars}} {
			o.Size = 4
			got, err := Load(s, torch.CPU, files.OS{}, o)
			require.NoError(t, err)
			require.InDeltaSlice(t, want.Mean, got.Mean, 1e-12)
			require.InDeltaSlice(t, want.Deviation, got.Deviation, 1e-12)
			if o.Stream {
				require.False(t, digests[got.Digest], "a stream is another set")
				digests[got.Digest] = true
				again, err := Load(s, torch.CPU, files.OS{}, o)
				require.NoError(t, err)
				require.Equal(t, got.Digest, again.Digest)
			} else {
				require.Equal(t, want.Digest, got.Digest, "the same images in memory")
			}
			for k, split := range []*Split{&got.Train, &got.Validation, &got.Test} {
				of := []*Split{&want.Train, &want.Validation, &want.Test}[k]
				require.Equal(t, of.Count, split.Count)
				order := []int64{int64(of.Count - 1), 0, 3, 3, 1}
				images, labels := pixels(t, of, order)
				if split.Stream != nil {
					split.Stream.Ahead(Rows{Places: []int64{1, 2}}) // prefetched, never read
					split.Stream.Ahead(Rows{Places: order})
				}
				for range 2 {
					gotImages, gotLabels := pixels(t, split, order)
					require.Equal(t, images, gotImages)
					require.Equal(t, labels, gotLabels)
				}
				if split.Stream != nil { // images that are not needed are black
					part, err := split.Stream.Read(Rows{order, []bool{true, false, true, false, true}})
					require.NoError(t, err)
					size := len(images) / len(order)
					some := slices.Clone(images)
					clear(some[size : 2*size])
					clear(some[3*size : 4*size])
					require.Equal(t, some, part)
				}
				var all []byte
				require.NoError(t, split.Each(4, nil, func(_ *torch.Scope, images, _ *torch.Tensor) error {
					part, err := torch.Values[uint8](images)
					all = append(all, part...)
					return err
				}))
				whole, _ := pixels(t, of, spread(of.Count, of.Count))
				require.Equal(t, whole, all)
			}
		}
		return nil
	}))
}

// A damaged image stops the stream with an error that names the file.
func TestStreamsNameDamagedImages(t *testing.T) {
	dir := pictureFolder(t, t.TempDir(), 10)
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		set, err := Load(s, torch.CPU, files.OS{}, Options{Kind: KindFolder, Path: dir, Size: 4, Stream: true})
		require.NoError(t, err)
		write(t, filepath.Join(dir, "a", "003.png"), []byte("no image"))
		err = errorOf(set.Train.Stream, set.Train.Count)
		if err == nil {
			err = errorOf(set.Validation.Stream, set.Validation.Count)
		}
		if err == nil {
			err = errorOf(set.Test.Stream, set.Test.Count)
		}
		require.ErrorContains(t, err, "003.png")
		_, err = set.Train.Stream.Read(Rows{Places: []int64{int64(set.Train.Count)}})
		require.ErrorContains(t, err, "unknown image")
		return nil
	}))
}

func errorOf(s *Stream, count int) error {
	_, err := s.Read(Rows{Places: spread(count, count)})
	return err
}

func TestFaultsOfShards(t *testing.T) {
	image := string(encodePNG(t, plainImage(color.Black, 4, 4)))
	good := []string{"1.png", image, "1.cls", "0", "2.png", image, "2.cls", "1"}
	for want, entries := range map[string][]string{
		"no image or no class":  {"1.png", image},
		"invalid class \"cat\"": {"1.png", image, "1.cls", "cat"},
		"two images":            {"1.png", image, "1.jpg", image, "1.cls", "0"},
		"a sample has class 2000000000; the maximum is 999999": {"1.png", image, "1.cls", "2000000000"},
	} {
		dir := t.TempDir()
		shard(t, filepath.Join(dir, "0.tar"), good...)
		shard(t, filepath.Join(dir, "1.tar"), entries...)
		_, err := readShards(files.OS{}, Options{Path: dir, Size: 4, ValidationShare: 0.5})
		require.ErrorContains(t, err, want)
	}
	dir := t.TempDir()
	_, err := readShards(files.OS{}, Options{Path: dir, Size: 4, ValidationShare: 0.5})
	require.ErrorIs(t, err, ErrMissing)
	shard(t, filepath.Join(dir, "0.tar"), "1.png", image, "1.cls", "900000", "2.png", image, "2.cls", "1")
	_, err = readShards(files.OS{}, Options{Path: dir, Size: 4, ValidationShare: 0.5})
	require.ErrorContains(t, err, "the largest class number is 900000, but there are only 2 images")
	shard(t, filepath.Join(dir, "0.tar"))
	_, err = readShards(files.OS{}, Options{Path: dir, Size: 4, ValidationShare: 0.5})
	require.ErrorContains(t, err, "no images")
	write(t, filepath.Join(dir, "0.tar"), []byte(strings.Repeat("no tar", 200)))
	_, err = readShards(files.OS{}, Options{Path: dir, Size: 4, ValidationShare: 0.5})
	require.ErrorContains(t, err, "0.tar")
	shard(t, filepath.Join(dir, "0.tar"), append(good, "3.png", image, "3.cls", "1", "4.png", image, "4.cls", "0")...)
	write(t, filepath.Join(dir, "classes.txt"), []byte("cat\r\ndog\n\n \n"))
	src, err := readShards(files.OS{}, Options{Path: dir, Size: 4, ValidationShare: 0.5})
	require.NoError(t, err)
	require.Equal(t, []string{"cat", "dog"}, src.classes)
	write(t, filepath.Join(dir, "classes.txt"), []byte("cat\n"))
	_, err = readShards(files.OS{}, Options{Path: dir, Size: 4, ValidationShare: 0.5})
	require.ErrorContains(t, err, "1 classes")
	write(t, filepath.Join(dir, "classes.txt"), []byte("cat\n\ndog\n"))
	_, err = readShards(files.OS{}, Options{Path: dir, Size: 4, ValidationShare: 0.5})
	require.ErrorContains(t, err, "line 2 is empty; write the name of class 1")
	write(t, filepath.Join(dir, "classes.txt"), []byte("crane\ndog\ncrane\n")) // as the list of ImageNet
	src, err = readShards(files.OS{}, Options{Path: dir, Size: 4, ValidationShare: 0.5})
	require.NoError(t, err)
	require.Equal(t, []string{"crane", "dog", "crane"}, src.classes)
	shard(t, filepath.Join(dir, "0.tar"), append(good, "2.CLS", "1")...)
	_, err = readShards(files.OS{}, Options{Path: dir, Size: 4, ValidationShare: 0.5})
	require.ErrorContains(t, err, "the sample has two classes; expected one")
	require.ErrorContains(t, func() error {
		o := Options{Stream: true}
		o.EnsureDefaults()
		return o.Validate()
	}(), "only folder and shards support it")
}

// Any shard is indexed completely or gives an error.
func FuzzShards(f *testing.F) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for name, text := range map[string]string{"a/1.png": "image", "a/1.cls": "3"} {
		require.NoError(f, w.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Typeflag: tar.TypeReg}))
		_, err := io.WriteString(w, text)
		require.NoError(f, err)
	}
	require.NoError(f, w.Close())
	f.Add(out.Bytes())
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := indexed("fuzz", io.NewSectionReader(bytes.NewReader(text), 0, int64(len(text))))
		if err != nil {
			return
		}
		for _, s := range all {
			if s.offset < 0 || s.size < 0 || s.size > maxPictureFile || s.label < 0 {
				t.Fatalf("%+v", s)
			}
		}
	})
}

// photograph returns a JPEG file of colour gradients with noise.
func photograph(t testing.TB, width, height, quality int) []byte {
	random := rand.New(rand.NewPCG(1, 1))
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for x := range width {
		for y := range height {
			img.Set(x, y, color.RGBA{uint8(x/2 + random.IntN(20)), uint8(y/2 + random.IntN(20)),
				uint8((x+y)/4 + random.IntN(40)), 255})
		}
	}
	var out bytes.Buffer
	require.NoError(t, jpeg.Encode(&out, img, &jpeg.Options{Quality: quality}))
	return out.Bytes()
}

// BenchmarkPhotographs decodes a photograph of usual size and resizes it to 224 x 224.
func BenchmarkPhotographs(b *testing.B) {
	data, into := photograph(b, 500, 375, 90), make([]byte, 3*224*224)
	for _, turbo := range []bool{false, true} {
		b.Run(map[bool]string{false: "go", true: "libjpeg-turbo"}[turbo], func(b *testing.B) {
			if err := torch.OpenJPEG(); turbo && err != nil {
				b.Skipf("left out: %v", err)
			}
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				require.NoError(b, form{224, turbo}.decode(data, into))
			}
		})
	}
}
