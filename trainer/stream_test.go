package trainer_test

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/dataset"
	"graft/internal/files"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/team"
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
					img.Set(x, y, color.RGBA{uint8(random.IntN(128) + 40*class), uint8(random.IntN(256)),
						uint8(40*class*(x%2) + random.IntN(100)), 255})
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

// A job that reads its images when they are needed gives the same bits as a job with the images in memory.
func TestStreamedJobs(t *testing.T) {
	folder := pictures(t, 200)
	var digests []string
	for _, stream := range []bool{false, true} {
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			data, err := dataset.Load(s, torch.CPU, files.OS{},
				dataset.Options{Kind: dataset.KindFolder, Path: folder, Size: side, Seed: 1, Stream: stream})
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

// Processes that train together on streamed images read each image once in total, and have the losses of one process.
func TestStreamedProcessesReadTheirShare(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	require.NoError(t, torch.SetThreads(1))
	images := dataset.Options{Kind: dataset.KindFolder, Path: pictures(t, 60), Size: side, Seed: 1, Stream: true}
	o := several()
	o.Timeline.Events[0].Devices = 2
	o.MicroBatch = 5 // of 16, so that a part of one row is left
	count := func(starter team.Starter, book *memory) (opened, loaded, steps int64) {
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			var reads counted
			data, err := dataset.Load(s, torch.CPU, &reads, images)
			require.NoError(t, err)
			loaded = reads.opened.Load()
			p := o
			p.Parallel.On = starter != nil
			outcome, err := runJob(t, p, trainer.Parts{Network: smooth(), Data: data, Recorder: book, Starter: starter,
				Files: files.OS{}})
			require.NoError(t, err)
			opened, steps = reads.opened.Load()-loaded, outcome.Steps
			return nil
		}))
		return opened, loaded, steps
	}
	alone, together := &memory{}, &memory{}
	whole, loaded, steps := count(nil, alone)
	n := newTestStarter(t, images)
	path := filepath.Join(t.TempDir(), "reads")
	n.Env = append(n.Env, readsVariable+"="+path)
	leader, _, _ := count(n, together)
	require.Equal(t, []int{2}, together.processes())
	require.Less(t, apart(t, together, alone), lossTolerance)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	follower, err := strconv.ParseInt(string(text), 10, 64)
	require.NoError(t, err)
	follower -= loaded
	t.Logf("measured: in %d steps one process opens %d streamed images; of two the leader opens %d and the follower %d",
		steps, whole, leader, follower)
	require.Less(t, leader+follower, whole*3/2, "twice as many if both read all; "+
		"rows that fill a part that is too short, and those read ahead in vain, depend on the load")
}
