package dataset

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"graft/files"
)

// The kinds of dataset.
const (
	KindSynthetic = "synthetic"     // made up, see SyntheticOptions
	KindCIFAR10   = "cifar10"       // Krizhevsky 2009: 60,000 colour images of 32 x 32
	KindCIFAR100  = "cifar100"      // the same with 100 classes
	KindMNIST     = "mnist"         // LeCun 1998: 70,000 grey digits of 28 x 28
	KindFashion   = "fashion-mnist" // Xiao 2017: MNIST's files with clothes
	KindFolder    = "folder"        // one's own images, a folder a class
)

// kinds is where each kind is read.
var kinds = map[string]func(files.FS, Options) (*source, error){
	KindSynthetic: synthetic,
	KindCIFAR10:   cifar10.read,
	KindCIFAR100:  cifar100.read,
	KindMNIST:     mnist.read,
	KindFashion:   fashion.read,
	KindFolder:    readFolder,
}

// Kinds lists the names of all kinds in order.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// defaultShare of the training images decides where nothing else is said.
const defaultShare = 0.1

// defaultSize is that of CIFAR, in pixels.
const defaultSize = 32

// maxBytes bounds the images of one set. It is four times what the largest
// published set here takes when its images are floats.
const maxBytes = 4 << 30

// Options say which dataset is loaded and how it is divided. The zero value is
// the synthetic one.
type Options struct {
	Kind string // which dataset; empty means synthetic
	// Path is where the files are: a folder, or the published archive of CIFAR.
	// The synthetic kind has none, all others need one.
	Path string
	// ValidationShare is the part of the training images that decides, between 0 and
	// 1, the same of each class and drawn by the seed. A folder without a test folder
	// gives as many to the test. Zero means 0.1.
	ValidationShare float64
	// TestAsValidation lets the test images decide, as the original does, and
	// trains on all others. The accuracy that is reported at the end is then too
	// good. False keeps them apart.
	TestAsValidation bool
	Seed             int64            // number that the division and synthetic images follow from; zero is a seed as any
	Synthetic        SyntheticOptions // how synthetic images look; what is zero has its default
	Size             int              // pixels that images of a folder are resized to, in height and width; zero means 32
	Limit            int              // most training images, of all classes; zero means all
	// Mean is taken off each channel before it is divided by Deviation, pixels being
	// from 0 to 1: a value for each channel, or one for all. Empty means the mean of
	// the training images.
	Mean []float64
	// Deviation is what each channel is divided by, as Mean; none is zero. Empty means
	// the deviation of the training images.
	Deviation []float64
}

// unusable says whether images cannot be moved by a number.
func unusable(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// EnsureDefaults fills in what zero stands for.
func (o *Options) EnsureDefaults() {
	if o.Kind == "" {
		o.Kind = KindSynthetic
	}
	if o.ValidationShare == 0 {
		o.ValidationShare = defaultShare
	}
	if o.Size == 0 {
		o.Size = defaultSize
	}
	o.Synthetic.EnsureDefaults()
}

// Validate lists every setting that makes no sense, zeros among them that
// EnsureDefaults has not replaced.
func (o Options) Validate() error {
	var faults []error
	bad := func(wrong bool, format string, values ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf(format, values...))
		}
	}
	_, known := kinds[o.Kind]
	bad(!known, "an unknown kind %q; it is one of %s", o.Kind, strings.Join(Kinds(), ", "))
	bad(known && o.Kind != KindSynthetic && o.Path == "", "no path; say where the files of %s are", o.Kind)
	bad(!(o.ValidationShare > 0 && o.ValidationShare < 1), "a validation share of %v; it lies between 0 and 1", o.ValidationShare)
	bad(o.Size < 1 || o.Size > maxSide, "a size of %d pixels; it lies between 1 and %d", o.Size, maxSide)
	bad(o.Limit < 0, "a limit of %d images; zero is all", o.Limit)
	bad(slices.ContainsFunc(o.Mean, unusable), "a mean of %v; each is a number", o.Mean)
	bad(slices.ContainsFunc(o.Deviation, func(d float64) bool { return unusable(d) || d <= 0 }), "a deviation of %v; each is above zero", o.Deviation)
	if o.Kind == KindSynthetic {
		if err := o.Synthetic.Validate(); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}
