package dataset

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/torch"
)

func needTurbo(t testing.TB) {
	t.Helper()
	if err := torch.OpenJPEG(); err != nil {
		t.Skipf("left out: %v", err)
	}
}

// mostApart is the largest allowed difference, in colour levels, between the decoders of libjpeg-turbo and Go. They
// round the cosine transform and the colour conversion differently.
const mostApart = 4

// The two decoders agree within a few levels, before and after resizing, for all qualities and odd sizes.
func TestDecodersAgree(t *testing.T) {
	needTurbo(t)
	worst, differ, all := 0, 0, 0
	agree := func(data []byte, size int) {
		pixels := [2][]byte{make([]byte, 3*size*size), make([]byte, 3*size*size)}
		for k, turbo := range []bool{false, true} {
			require.NoError(t, form{size, turbo}.decode(data, pixels[k]))
		}
		for k, one := range pixels[0] {
			apart := max(one, pixels[1][k]) - min(one, pixels[1][k])
			worst, all = max(worst, int(apart)), all+1
			if apart > 0 {
				differ++
			}
		}
	}
	for _, quality := range []int{30, 75, 90, 100} {
		for _, side := range [][2]int{{500, 375}, {131, 97}, {8, 8}, {17, 33}, {1, 1}} {
			data := photograph(t, side[0], side[1], quality)
			agree(data, min(side[0], side[1]))
			agree(data, 32)
		}
	}
	grey := image.NewGray(image.Rect(0, 0, 60, 50))
	for k := range grey.Pix {
		grey.Pix[k] = byte(7 * k)
	}
	var out bytes.Buffer
	require.NoError(t, jpeg.Encode(&out, grey, nil))
	agree(out.Bytes(), 50)
	t.Logf("measured: colours of the two decoders are at most %d levels apart, and %.0f%% differ", worst,
		100*float64(differ)/float64(all))
	require.LessOrEqual(t, worst, mostApart)
}

// libjpeg-turbo returns an error for a truncated file or a wrong size. Other image formats do not use it.
func TestTurboJPEGFaults(t *testing.T) {
	needTurbo(t)
	data, into := photograph(t, 64, 64, 90), make([]byte, 3*16*16)
	f := form{16, true}
	require.NoError(t, f.decode(encodePNG(t, plainImage(color.White, 8, 8)), into))
	require.Error(t, f.decode(data[:len(data)/2], into))
	_, err := torch.DecodeJPEG(data, 63, 64)
	require.ErrorContains(t, err, "it has 64 x 64 pixels, not 63 x 64")
	_, err = torch.DecodeJPEG(nil, 1, 1)
	require.Error(t, err)
}

// The digest of a set depends on the JPEG decoder.
func TestTurboJPEGIsAnotherSet(t *testing.T) {
	needTurbo(t)
	dir := t.TempDir()
	for _, class := range []string{"a", "b"} {
		for k := range 6 {
			write(t, filepath.Join(dir, class, string(rune('0'+k))+".jpg"), photograph(t, 40+k, 40, 90))
		}
	}
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		digests := map[string]bool{}
		for _, o := range []Options{{}, {TurboJPEG: true}, {Stream: true}, {Stream: true, TurboJPEG: true}} {
			o.Kind, o.Path, o.Size = KindFolder, dir, 40
			set, err := Load(s, torch.CPU, files.OS{}, o)
			require.NoError(t, err)
			digests[set.Digest] = true
		}
		require.Len(t, digests, 4)
		return nil
	}))
	require.ErrorContains(t, Options{Kind: KindSynthetic, TurboJPEG: true}.Validate(),
		"turbo_jpeg is set for kind synthetic")
}
