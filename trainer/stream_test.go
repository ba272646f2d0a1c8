package trainer_test

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/dataset"
	"graft/files"
	"graft/torch"
	"graft/trainer"
)

// pictures writes images of four classes, each with its own colour and noise.
func pictures(t testing.TB, each int) string {
	folder, random := t.TempDir(), rand.New(rand.NewPCG(1, 1))
	for class := range 4 {
		dir := filepath.Join(folder, fmt.Sprint("class", class))
		require.NoError(t, os.Mkdir(dir, 0o755))
		for k := range each {
			img := image.NewRGBA(image.Rect(0, 0, side, side))
			for x := range side {
				for y := range side {
					img.Set(x, y, color.RGBA{uint8(random.IntN(128) + 40*class), uint8(random.IntN(256)), uint8(40*class*(x%2) + random.IntN(100)), 255})
				}
			}
			file, err := os.Create(filepath.Join(dir, fmt.Sprintf("%04d.png", k)))
			require.NoError(t, err)
			require.NoError(t, png.Encode(file, img))
			require.NoError(t, file.Close())
		}
	}
	return folder
}

// A job whose images are read when they are needed has the bits of one that has them in memory, also from each
// of its checkpoints.
func TestStreamedJobs(t *testing.T) {
	folder := pictures(t, 200)
	var digests []string
	for _, stream := range []bool{false, true} {
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			data, err := dataset.Load(s, torch.CPU, files.OS{}, dataset.Options{Kind: dataset.KindFolder, Path: folder, Size: side, Seed: 1, Stream: stream})
			require.NoError(t, err)
			require.Equal(t, stream, data.Train.Stream != nil)
			o := brief()
			o.Augment.Flip = true
			book := &memory{}
			outcome, err := runJob(t, o, trainer.Parts{Data: data, Recorder: book}, "deepen:conv1", "widen:conv2:12")
			require.NoError(t, err)
			require.Contains(t, book.events(), "shrink", "it learns from the larger network")
			digests = append(digests, outcome.Digest)
			return nil
		}))
	}
	require.Equal(t, digests[0], digests[1])
}
