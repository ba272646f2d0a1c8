package dataset

import (
	"cmp"
	"errors"
	"math/rand/v2"

	"graft/internal/files"
	"graft/internal/parallel"
	"graft/internal/validate"
)

// SyntheticOptions describes generated images: textured shapes on a cluttered background. The class determines shape
// and texture; place, size, tilt, colours, contrast, phase, clutter and noise are random. A mirrored image has the same
// class.
type SyntheticOptions struct {
	Classes  int // Number of classes, from 2 to 100. Zero means 10.
	Channels int // Number of channels per image: 1 for grey, 3 for colour. Zero means 3.
	Size     int // Height and width of images in pixels, at least 16. Zero means 32.
	Train    int // Number of training images, including validation images. Zero means 10,000.
	Test     int // Number of test images. Zero means 2,000.
	// Maximum random change of a pixel, in units of 1/255. Larger values make classes harder to distinguish. Zero means
	// 40.
	Noise int
	// Makes neighbouring classes differ in texture, which small networks learn sooner than shape. False makes
	// neighbouring classes differ in shape.
	Textures bool `json:",omitempty"`
}

// EnsureDefaults fills unset options.
func (o *SyntheticOptions) EnsureDefaults() {
	o.Classes, o.Channels, o.Size = cmp.Or(o.Classes, 10), cmp.Or(o.Channels, 3), cmp.Or(o.Size, defaultSize)
	o.Train, o.Test, o.Noise = cmp.Or(o.Train, 10_000), cmp.Or(o.Test, 2_000), cmp.Or(o.Noise, 40)
}

// Validate returns an error that lists every invalid option.
func (o SyntheticOptions) Validate() error {
	var faults validate.Faults
	faults.When(o.Classes < 2 || o.Classes > maxClasses, "classes is %d; must be from 2 to %d", o.Classes, maxClasses)
	faults.When(o.Channels != 1 && o.Channels != 3, "channels is %d; must be 1 or 3", o.Channels)
	faults.When(o.Size < minSynthetic || o.Size > maxSide, "size is %d pixels; must be from %d to %d", o.Size,
		minSynthetic, maxSide)
	faults.When(o.Train < 2, "train is %d images; must be at least 2", o.Train)
	faults.When(o.Test < 1, "test is %d images; must be at least 1", o.Test)
	faults.When(o.Noise < 0 || o.Noise > 255, "noise is %d; must be from 0 to 255", o.Noise)
	if len(faults) == 0 {
		faults.When(max(o.Train, o.Test) > maxBytes/(o.Channels*o.Size*o.Size),
			"%d images with sides of %d pixels take more than %d GiB; use fewer or smaller "+
				"images", max(o.Train, o.Test), o.Size,
			maxBytes>>30)
	}
	return errors.Join(faults.Prefixed("synthetic: ")...)
}

// minSynthetic is the smallest size at which textures can be told apart.
const minSynthetic = 16

// synthetic is a source whose images are painted on demand.
func synthetic(_ files.FS, o Options) (*source, error) {
	c := o.Synthetic
	return &source{name: KindSynthetic, classes: c.labels(), shape: [3]int{c.Channels, c.Size, c.Size},
		train: painted(c, c.Train, o.Seed, streamTrainImages), test: painted(c, c.Test, o.Seed, streamTestImages)}, nil
}

// labels returns the names of the classes.
func (o SyntheticOptions) labels() []string {
	labels := make([]string, min(max(o.Classes, 0), maxClasses)) // invalid numbers are reported elsewhere
	for k := range labels {
		labels[k] = looks(k, o.Textures).name()
	}
	return labels
}

// painted is a pool of count images, classes taking turns.
func painted(c SyntheticOptions, count int, seed int64, stream uint64) pool {
	labels := make([]int64, count)
	for k := range labels {
		labels[k] = int64(k % c.Classes)
	}
	return pool{labels: labels, images: func(rows []int) ([]byte, error) {
		size := c.Channels * c.Size * c.Size
		out := make([]byte, len(rows)*size)
		parallel.Do(len(rows), 0, func(k int) {
			// A stream per image, so order and workers do not matter.
			random := rand.NewPCG(uint64(seed)^stream<<56, uint64(rows[k])*0x9E3779B97F4A7C15)
			canvas{out[k*size : (k+1)*size], c.Channels, c.Size}.paint(looks(int(labels[rows[k]]), c.Textures),
				c.Noise, random)
		})
		return out, nil
	}}
}
