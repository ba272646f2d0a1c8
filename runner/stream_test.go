package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/runner/train"
)

// streamedJob reads JPEG files of various sizes as 224 x 224 during training, and grows and shrinks.
const streamedJob = `[network]
file = "net.toml"
[time]
budget = "600ms"
events = [{at = "200ms", change = "up"}, {at = "400ms", change = "down"}]
[adapt]
decider = "script"
actions = ["widen:conv1:6"]
[data]
kind = %q
path = "images"
size = 224
stream = true
[train]
batch = 8
[checkpoint]
every = "20ms"
`

const streamedNetwork = `name = "Large"
input = [3, 224, 224]
layers = [
  {name = "conv1", block = ["Conv2d(3, 4, 7, stride=4, padding=3)", "BatchNorm2d(4)", "ReLU()"]},
  "AdaptiveAvgPool2d(1)",
  "Flatten()",
  "Linear(4, 2)",
]
`

// largeImages generates JPEG files of two classes, in various sizes.
func largeImages(t *testing.T, each int, write func(class, k int, file []byte)) {
	random := rand.New(rand.NewPCG(1, 1))
	for k := range 2 * each {
		img := image.NewRGBA(image.Rect(0, 0, 180+random.IntN(250), 180+random.IntN(250)))
		for x := range img.Rect.Dx() {
			for y := range img.Rect.Dy() {
				img.Set(x, y, color.RGBA{uint8(100*(k%2) + x/4), uint8(y / 2), uint8(random.IntN(64)), 255})
			}
		}
		var file bytes.Buffer
		require.NoError(t, jpeg.Encode(&file, img, nil))
		write(k%2, k, file.Bytes())
	}
}

// imageFolder writes images into one folder per class.
func imageFolder(t *testing.T, folder string, each int) {
	largeImages(t, each, func(class, k int, file []byte) {
		dir := filepath.Join(folder, fmt.Sprint("class", class))
		require.NoError(t, os.MkdirAll(dir, 0o755))
		write(t, filepath.Join(dir, fmt.Sprintf("%03d.jpg", k)), string(file))
	})
}

// imageShards writes the same images as three shards of samples.
func imageShards(t *testing.T, folder string, each int) {
	require.NoError(t, os.MkdirAll(folder, 0o755))
	var shards [3]bytes.Buffer
	var tars [3]*tar.Writer
	for k := range tars {
		tars[k] = tar.NewWriter(&shards[k])
	}
	largeImages(t, each, func(class, k int, file []byte) {
		w := tars[k%len(tars)]
		for name, content := range map[string][]byte{"jpg": file, "cls": fmt.Append(nil, class)} {
			require.NoError(t, w.WriteHeader(&tar.Header{Name: fmt.Sprintf("%03d.%s", k, name), Mode: 0o600,
				Size: int64(len(content))}))
			_, err := w.Write(content)
			require.NoError(t, err)
		}
	})
	for k, w := range tars {
		require.NoError(t, w.Close())
		write(t, filepath.Join(folder, fmt.Sprintf("%d.tar", k)), shards[k].String())
	}
}

// A job on streamed images of 224 pixels, from folders or shards, is killed repeatedly and ends like an uninterrupted
// one.
func TestStreamedJobSurvivesKills(t *testing.T) {
	longOnly(t, "streamed jobs that are killed")
	t.Parallel() // it waits for processes
	for kind, images := range map[string]func(t *testing.T, folder string, each int){"folder": imageFolder,
		"shards": imageShards} {
		t.Run(kind, func(t *testing.T) {
			surviveKills(t, func(folder string) {
				write(t, filepath.Join(folder, "job.toml"), fmt.Sprintf(streamedJob, kind))
				write(t, filepath.Join(folder, "net.toml"), streamedNetwork)
				images(t, filepath.Join(folder, "images"), 60)
			})
		})
	}
}

// surviveKills runs a folder's job.toml to its end, and again with repeated kills, and compares the results.
func surviveKills(t *testing.T, prepare func(folder string)) {
	folder := t.TempDir()
	prepare(folder)
	self, err := os.Executable()
	require.NoError(t, err)
	run := func(name string, life time.Duration) (r train.Result, ended bool) {
		c := exec.Command(self, "train", "job.toml", "--json", "--quiet", "--folder", name)
		if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
			c.Args = append(c.Args, "--resume")
		}
		c.Dir, c.Env = folder, append(os.Environ(), programVariable+"=1")
		out, err := os.CreateTemp(t.TempDir(), "out")
		require.NoError(t, err)
		defer out.Close()
		var log strings.Builder
		c.Stdout, c.Stderr = out, &log
		require.NoError(t, c.Start())
		timer := time.AfterFunc(life, func() { _ = c.Process.Kill() })
		defer timer.Stop()
		if err := c.Wait(); err != nil {
			require.ErrorContains(t, err, "killed", log.String())
			return r, false
		}
		return decoded[train.Result](t, contents(t, out.Name())), true
	}
	began := time.Now()
	want, _ := run("whole", time.Hour)
	took := time.Since(began)
	kills, random := 0, rand.New(rand.NewPCG(2, 2))
	for name, most := 0, map[bool]int{false: 2, true: 30}[longTests]; kills < most; name++ {
		for ended := false; !ended; {
			life := took/10 + time.Duration(random.Int64N(int64(took/3)))
			if kills >= most {
				life = time.Hour
			}
			var got train.Result
			if got, ended = run(fmt.Sprint("killed", name), life); !ended {
				kills++
				continue
			}
			require.Equal(t, want.Outcome.Digest, got.Outcome.Digest)
			require.Equal(t, want.Outcome.Steps, got.Outcome.Steps)
		}
	}
	t.Logf("measured: %s, %d steps, killed %d times, has the digest of one that ran through", t.Name(),
		want.Outcome.Steps, kills)
}
