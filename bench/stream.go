package main

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"graft/dataset"
	"graft/internal/files"
	"graft/torch"
)

// Images of the comparison of streams.
const (
	streamImages = 2000 // unless option images sets another number
	streamSize   = 224  // resized width and height in pixels
	streamBatch  = 64
	streamKinds  = 40 // different images, each written many times
)

// photographs writes JPEG files of 500 x 375 pixels in two classes.
func photographs(folder string, count int) error {
	random := rand.New(rand.NewPCG(1, 1))
	var kinds [][]byte
	for k := range streamKinds {
		img := image.NewRGBA(image.Rect(0, 0, 500, 375))
		for x := range 500 {
			for y := range 375 {
				img.Set(x, y, color.RGBA{uint8((x+8*k)/2 + random.IntN(20)), uint8(y/2 + random.IntN(20)),
					uint8((x+y)/4 + random.IntN(40)), 255})
			}
		}
		var out bytes.Buffer
		if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: 90}); err != nil {
			return err
		}
		kinds = append(kinds, out.Bytes())
	}
	var faults []error
	for k := range count {
		dir := filepath.Join(folder, fmt.Sprint("class", k%2))
		faults = append(faults, os.MkdirAll(dir, 0o755),
			os.WriteFile(filepath.Join(dir, fmt.Sprintf("%07d.jpg", k)), kinds[k%streamKinds], 0o644))
	}
	return errors.Join(faults...)
}

// streams compares epochs of images read from files, on graft's side and by a DataLoader with two processes.
func (b *bench) streams() error {
	train := b.images
	if train == 0 {
		train = streamImages
	}
	folder := filepath.Join(b.folder, "photographs")
	if err := photographs(folder, train); err != nil {
		return err
	}
	fmt.Printf("\n%d JPEG files of 500 x 375 pixels read as %d x %d, without training, "+
		"the twin by a DataLoader of two processes with Pillow\n", train, streamSize, streamSize)
	fmt.Fprintln(b.table, "graft's decoder\ttwin\tratio\t\tgraft images/s\ttwin images/s\tgraft MB at "+
		"most\ttwin MB at most")
	defer b.table.Flush()
	decoders := []string{"Go"}
	if err := torch.OpenJPEG(); err != nil {
		fmt.Println("skipped:", err)
	} else {
		decoders = append(decoders, turboDecoder)
	}
	v := variant{name: "PyTorch", once: true}
	for _, decoder := range decoders {
		var m measured
		err := b.repeated(ours[0], v, 2, func(us, twin *side, rounds int) error {
			return m.pairs(alike(us, twin, command{Cmd: "stream", Network: folder, Iterations: 1, How: decoder}),
				rounds)
		})
		if err != nil {
			return err
		}
		images := float64(train)
		fmt.Fprintf(b.table, "%s\t%s\t%s\t%.0f\t%.0f\t%.0f\t%.0f\n", decoder, v.name, m.ratio(), images/median(m.ours),
			images/median(m.twin), m.peaks[0], m.peaks[1])
	}
	return nil
}

// turboDecoder is the name of the decoder other than Go's.
const turboDecoder = "libjpeg-turbo"

// stream reads all training images of a folder once, in a new order, with a decoder.
func (k *worker) stream(folder, decoder string) (answer, error) {
	if k.photographs == nil {
		set, err := dataset.Load(k.scope, torch.CPU, files.OS{}, dataset.Options{Kind: dataset.KindFolder, Path: folder,
			Size: streamSize, Stream: true, TurboJPEG: decoder == turboDecoder, ValidationShare: 0.01})
		if err != nil {
			return answer{}, err
		}
		k.photographs = set
	}
	split := &k.photographs.Train
	order := make([]int64, split.Count)
	for n, place := range rand.Perm(split.Count) {
		order[n] = int64(place)
	}
	began := time.Now()
	for from := 0; from < len(order); from += streamBatch {
		to := min(from+streamBatch, len(order))
		err := torch.With(func(s *torch.Scope) error {
			_, _, err := split.Pick(s, dataset.Rows{Places: order[from:to]},
				dataset.Rows{Places: order[to:min(to+streamBatch, len(order))]})
			return err
		})
		if err != nil {
			return answer{}, err
		}
	}
	return answer{Seconds: time.Since(began).Seconds(), PeakMB: peak()}, nil
}
