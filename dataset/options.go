package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"graft/internal/files"
	"graft/internal/registry"
	"graft/internal/validate"
)

// Kinds of datasets.
const (
	KindSynthetic = "synthetic"     // generated images, see SyntheticOptions
	KindCIFAR10   = "cifar10"       // Krizhevsky 2009: 60,000 colour images of 32 x 32
	KindCIFAR100  = "cifar100"      // Krizhevsky 2009: 60,000 colour images of 32 x 32, with 100 classes
	KindMNIST     = "mnist"         // LeCun 1998: 70,000 grey digits of 28 x 28
	KindFashion   = "fashion-mnist" // Xiao 2017: 70,000 grey images of clothes, in MNIST's format
	KindDigits    = "digits"        // Alpaydin and Kaynak 1998: 1,797 grey digits of 8 x 8
	KindFolder    = "folder"        // images of the user, one folder per class
	KindShards    = "shards"        // images of the user in tar files, in WebDataset's format
)

// kind is a kind of dataset: its name, one line of help, and the function that finds its files. Kinds of texts have
// none: loadText and loadCSV read them.
type kind struct {
	name, about string
	find        func(files.FS, Options) (reader, error)
}

// Listing returns the name and a one-line description.
func (k kind) Listing() (name, about string) { return k.name, k.about }

// kinds are all kinds, by name. A new kind is a new file and a line here.
var kinds = registry.List[kind]{
	{KindCIFAR10, "CIFAR-10: 60,000 colour images of 32 x 32 pixels in 10 classes", cifar10.find},
	{KindCIFAR100, "CIFAR-100: 60,000 colour images of 32 x 32 pixels in 100 classes", cifar100.find},
	{KindCSV, "your table of texts, with a label for each text or each word", nil},
	{KindDigits, "handwritten digits from the UCI repository: 1,797 grey images of 8 x 8 pixels", findDigits},
	{KindFashion, "Fashion-MNIST: 70,000 grey images of clothes, 28 x 28 pixels", fashion.find},
	{KindFolder, "your images, with a folder for each class", findFolder},
	{KindMNIST, "MNIST: 70,000 grey images of digits, 28 x 28 pixels", mnist.find},
	{KindShards, "your images in tar files, in WebDataset's format", unchecked(readShards)},
	{KindSynthetic, "images that graft generates from a seed", unchecked(synthetic)},
	{KindText, "your texts, for networks that predict the next token", nil},
}

// Kinds lists the names of all dataset kinds, in order.
func Kinds() []string { return kinds.Names() }

// About describes a dataset kind in one line.
func About(name string) string {
	k, _ := kinds.Find(name)
	return k.about
}

// mostDeviation limits Deviation. Pixels between 0 and 1 have a deviation of at most 0.5; a few times larger values
// can be intended, but not the ones of pixels from 0 to 255.
const mostDeviation = 5

// defaultShare is the default ValidationShare.
const defaultShare = 0.1

// defaultSize is the default Size, the size of CIFAR's images, in pixels.
const defaultSize = 32

// maxBytes limits the bytes of the images of one set: four times the largest published set here, as floats.
const maxBytes = 4 << 30

// Options selects a dataset and its splits. The zero value selects the synthetic dataset.
type Options struct {
	Kind string // Kind of the dataset. Empty means "synthetic".
	// Path of the dataset: a folder, or the published archive of CIFAR. Required, except for kind = "synthetic".
	Path string
	// Fraction of the training images that is held out for validation, between 0 and 1. The fraction is the same in
	// each class; data.seed determines which images are held out. For the kind "digits", and for a folder without a
	// test folder, the same number of images is also held out for testing. Zero means 0.1.
	ValidationShare float64
	// Name of a folder next to the folders train and test, such as "val", whose images are the validation set. For the
	// kind "folder" only. Empty holds out validation_share of the images in train, and ignores other folders for
	// validation with a warning.
	ValidationFolder string `json:",omitempty"`
	// Uses the test images for validation and all other images for training, as the original system does. The final
	// test accuracy is then optimistic. False keeps training, validation and test images separate.
	TestAsValidation bool
	Seed             int64            // Seed of the data splits and of synthetic images. Zero is a valid seed.
	Synthetic        SyntheticOptions // Options for synthetic images.
	// Height and width in pixels to which images of the kinds "folder" and "shards" are resized, after they are cropped
	// to the largest square in their middle. Zero means 32.
	Size int
	// Reads images of the kinds "folder" and "shards" on demand, for datasets larger than memory. Mean and standard
	// deviation of the pixels are then computed from 1,000 images. False keeps all images in memory.
	Stream bool `json:",omitempty"`
	// Decodes JPEG files of the kinds "folder" and "shards" with libjpeg-turbo, which must be installed
	// (libturbojpeg0 in Debian) and is several times as fast as Go's decoder. Pixels differ from Go's by a few
	// levels, so results differ too. CMYK files are always decoded in Go. False decodes all files in Go.
	TurboJPEG bool `config:"turbo_jpeg" json:",omitempty"`
	// Maximum number of training images, over all classes. Zero means all.
	Limit int `config:"max_images,was=limit"`
	// Tokenization of text: "bytes" (256 tokens), "bpe" (byte-pair encoding with a vocabulary), or "characters" (one
	// token per distinct character, ordered by code point). Empty means "bytes".
	Tokens string `json:",omitempty"`
	// Path of the vocabulary for tokens = "bpe": a Hugging Face tokenizer.json, or GPT-2's vocab.json with merges.txt
	// in the same folder. Empty means no vocabulary.
	Vocabulary string `json:",omitempty"`
	// Number of tokens per example. A text file is cut into consecutive windows of this length; in a table, the text of
	// each row is padded or truncated to it. Zero means 64.
	Context int `json:",omitempty"`
	// Name of the table column that holds the text. Empty means "text".
	TextColumn string `json:",omitempty"`
	// Name of the table column that holds the labels. Empty means "label".
	LabelColumn string `json:",omitempty"`
	// Unit of text that a label in a table describes: "text" (the whole text) or "word" (one word). Words and their
	// labels are separated by spaces. Words with the label -100 are ignored. Empty means "text".
	LabelEach string `json:",omitempty"`
	// Means of the channels, which are subtracted from pixel values between 0 and 1: one mean per channel, or one for
	// all. Empty means the mean of the training images.
	Mean []float64
	// Standard deviations of the channels, above zero: one value per channel, or one for all. Pixels are divided by
	// these values after data.mean is subtracted. Empty means the standard deviation of the training images.
	Deviation []float64
}

// unusable reports whether a number is infinite or NaN.
func unusable(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// EnsureDefaults fills unset options.
func (o *Options) EnsureDefaults() {
	o.Kind, o.Size = cmp.Or(o.Kind, KindSynthetic), cmp.Or(o.Size, defaultSize)
	o.ValidationShare = cmp.Or(o.ValidationShare, defaultShare)
	o.Synthetic.EnsureDefaults()
}

// Validate returns an error that lists every invalid option. Call EnsureDefaults first, because zeros can be invalid.
func (o Options) Validate() error {
	var faults validate.Faults
	_, known := kinds.Find(o.Kind)
	faults.Unless(known, "unknown kind %q; expected one of: %s", o.Kind, strings.Join(Kinds(), ", "))
	faults.When(known && o.Kind != KindSynthetic && o.Path == "", "path is missing; set it to the files of dataset %s",
		o.Kind)
	faults.Unless(o.ValidationShare > 0 && o.ValidationShare < 1, "validation_share is %v; must be between 0 and 1",
		o.ValidationShare)
	faults.When(o.Size < 1 || o.Size > maxSide, "size is %d pixels; must be from 1 to %d", o.Size, maxSide)
	faults.When(o.Stream && o.Kind != KindFolder && o.Kind != KindShards,
		"stream is set for kind %s; only %s and %s support it", o.Kind, KindFolder, KindShards)
	faults.When(o.TurboJPEG && o.Kind != KindFolder && o.Kind != KindShards,
		"turbo_jpeg is set for kind %s; only %s and %s support it", o.Kind, KindFolder, KindShards)
	faults.When(o.ValidationFolder != "" && o.Kind != KindFolder,
		"validation_folder is set for kind %s; only %s supports it", o.Kind, KindFolder)
	faults.When(o.ValidationFolder != "" && o.TestAsValidation,
		"validation_folder is %q and test_as_validation is true; expected one of them", o.ValidationFolder)
	faults.When(o.ValidationFolder != "" && (!filepath.IsLocal(o.ValidationFolder) ||
		slices.Contains([]string{".", "train", "test"}, filepath.Clean(o.ValidationFolder))),
		"validation_folder is %q; expected the name of a folder next to train and test, such as \"val\"",
		o.ValidationFolder)
	faults.When(o.Limit < 0, "limit is %d images; must be at least 0 (0 means no limit)", o.Limit)
	faults.When(slices.ContainsFunc(o.Mean, unusable), "mean is %v; expected finite numbers", o.Mean)
	faults.When(slices.ContainsFunc(o.Deviation, func(d float64) bool { return unusable(d) || d <= 0 }),
		"deviation is %v; expected numbers above 0", o.Deviation)
	faults.When(slices.ContainsFunc(o.Mean, func(m float64) bool { return math.Abs(m) > 1 }) ||
		slices.ContainsFunc(o.Deviation, func(d float64) bool { return d > mostDeviation }),
		"mean is %v and deviation is %v, but pixels are between 0 and 1; divide values for pixels from 0 to 255 by 255",
		o.Mean, o.Deviation)
	text := o.Kind == KindText || o.Kind == KindCSV
	faults.When(!text && (o.Tokens != "" || o.Context != 0 || o.Vocabulary != ""),
		"tokens, vocabulary or context is set for kind %s; only %s and %s support them", o.Kind, KindText, KindCSV)
	faults.When(o.Kind != KindCSV && (o.TextColumn != "" || o.LabelColumn != "" || o.LabelEach != ""),
		"text_column, label_column or label_each is set for kind %s; only %s supports them", o.Kind, KindCSV)
	if text {
		faults = append(faults, o.textFaults()...)
	}
	if o.Kind == KindSynthetic {
		if err := o.Synthetic.Validate(); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// Unused lists the keys of the options that differ from their defaults, but that have no effect, with the reason.
func (o Options) Unused() (unused []validate.Unused) {
	o.EnsureDefaults()
	var synthetic SyntheticOptions
	synthetic.EnsureDefaults()
	kind := fmt.Sprintf("data.kind is %q", o.Kind)
	add := func(when bool, key, why, remedy string) {
		if when {
			unused = append(unused, validate.Unused{Key: "data." + key, Why: why, Remedy: remedy})
		}
	}
	add(o.Size != defaultSize && o.Kind != KindFolder && o.Kind != KindShards, "size", kind,
		"set it to \"folder\" or \"shards\"")
	add(o.Kind == KindSynthetic && o.Path != "", "path", kind, "set the kind of the files")
	add(o.Kind != KindSynthetic && o.Synthetic != synthetic, "synthetic", kind, "set it to \"synthetic\"")
	_, published := publishedCounts[o.Kind]
	add(o.TestAsValidation && o.ValidationShare != defaultShare && (published || o.Kind == KindSynthetic),
		"validation_share", "data.test_as_validation uses the test images", "set data.test_as_validation to false")
	add(o.ValidationFolder != "" && o.ValidationShare != defaultShare, "validation_share",
		"data.validation_folder has the validation images", "remove data.validation_folder")
	return unused
}

func (o Options) form() form { return form{o.Size, o.TurboJPEG} }
