package dataset

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"

	"graft/internal/files"
	"graft/internal/registry"
	"graft/internal/validate"
)

// The kinds of dataset.
const (
	KindSynthetic = "synthetic"     // generated, see SyntheticOptions
	KindCIFAR10   = "cifar10"       // Krizhevsky 2009: 60,000 colour images of 32 x 32
	KindCIFAR100  = "cifar100"      // the same with 100 classes
	KindMNIST     = "mnist"         // LeCun 1998: 70,000 grey digits of 28 x 28
	KindFashion   = "fashion-mnist" // Xiao 2017: MNIST's files with clothes
	KindDigits    = "digits"        // Alpaydin and Kaynak 1998: 1,797 grey digits of 8 x 8
	KindFolder    = "folder"        // the user's images, a folder for each class
	KindShards    = "shards"        // the user's images in tar files, as WebDataset writes them
)

// kind is a kind of dataset: its name, one line of help, and the function that finds its files. Kinds of texts have
// none: loadText and loadCSV read them.
type kind struct {
	name, about string
	find        func(files.FS, Options) (reader, error)
}

// Listing returns the name and the line of help.
func (k kind) Listing() (name, about string) { return k.name, k.about }

// kinds are all kinds, by name. A new kind is a new file and a line here.
var kinds = registry.List[kind]{
	{KindCIFAR10, "CIFAR-10: 60,000 colour images of 32 x 32 in ten classes", cifar10.find},
	{KindCIFAR100, "CIFAR-100: 60,000 colour images of 32 x 32 in a hundred classes", cifar100.find},
	{KindCSV, "your table of texts, with a label for each text or each word", nil},
	{KindDigits, "handwritten digits of the UCI repository: 1,797 grey images of 8 x 8", findDigits},
	{KindFashion, "Fashion-MNIST: 70,000 grey images of clothes of 28 x 28", fashion.find},
	{KindFolder, "your images, with a folder for each class", unchecked(readFolder)},
	{KindMNIST, "MNIST: 70,000 grey digits of 28 x 28", mnist.find},
	{KindShards, "your images in tar files, as WebDataset writes them", unchecked(readShards)},
	{KindSynthetic, "images that graft generates from a seed", unchecked(synthetic)},
	{KindText, "your texts, for networks that predict the next token", nil},
}

// Kinds lists the names of all kinds in order.
func Kinds() []string { return kinds.Names() }

// About describes a kind in one line.
func About(name string) string {
	k, _ := kinds.Find(name)
	return k.about
}

// defaultSize is the default Size, the size of CIFAR's images, in pixels.
const defaultSize = 32

// maxBytes limits the bytes of the images of one set: four times the largest published set here, as floats.
const maxBytes = 4 << 30

// Options select a dataset and its splits. The zero value selects the synthetic dataset.
type Options struct {
	Kind string // kind of the dataset; empty means synthetic
	// Path is the path of the files: a folder, or the published archive of CIFAR. Required, except for the synthetic
	// kind, which has none.
	Path string
	// ValidationShare is the share of the training images that is held out for validation, between 0 and 1, equal in
	// each class and drawn by the seed. Digits, and a folder without a test folder, hold out the same number for the
	// test. Zero means 0.1.
	ValidationShare float64
	// TestAsValidation uses the test images for validation, as the original does, and trains on all others. The final
	// test accuracy is then too optimistic. False keeps the splits separate.
	TestAsValidation bool
	Seed             int64            // seed of the splits and of synthetic images; zero is a valid seed
	Synthetic        SyntheticOptions // options of synthetic images
	// height and width in pixels to which images of a folder or of shards are resized; zero means 32
	Size int
	// Stream reads images of a folder or of shards on demand, for sets that exceed the memory. Mean and standard
	// deviation then come from 1,000 images. False keeps all images in memory.
	Stream bool `json:",omitempty"`
	// TurboJPEG decodes JPEG files of a folder or of shards with libjpeg-turbo, which is several times as fast as Go's
	// decoder and must be installed (libturbojpeg0 in Debian). Pixels differ from Go's by a few levels, so results
	// differ too. CMYK files are decoded by Go. False decodes all files in Go.
	TurboJPEG bool `config:"turbo_jpeg" json:",omitempty"`
	// maximum number of training images, over all classes; zero means all
	Limit int `config:"max_images,was=limit"`
	// Tokens selects the tokens of texts: "bytes", 256 in number; "bpe", byte pairs of a vocabulary; or "characters",
	// the characters of the text, in the order of their code points. Empty means bytes.
	Tokens string `json:",omitempty"`
	// Vocabulary is the file of byte pairs for the tokens "bpe": a tokenizer.json of Hugging Face, or GPT-2's
	// vocab.json with merges.txt in the same folder. Empty means none.
	Vocabulary string `json:",omitempty"`
	// Context is the number of tokens per example. The windows of a text follow each other without a gap. The texts of
	// a table are padded or cut to this length. Zero means 64.
	Context int `json:",omitempty"`
	// TextColumn is the name of a table's column of texts. Empty means text.
	TextColumn string `json:",omitempty"`
	// LabelColumn is the name of a table's column of labels. Empty means label.
	LabelColumn string `json:",omitempty"`
	// LabelEach selects what has a label in a table: "text", each text; or "word", each word of the text, with spaces
	// between words and between labels. The label -100 does not count. Empty means text.
	LabelEach string `json:",omitempty"`
	// Mean lists the values subtracted from each channel before the division by Deviation, with pixels from 0 to 1: one
	// value per channel, or one for all. Empty means the mean of the training images.
	Mean []float64
	// Deviation is the divisor of each channel, above zero, given like Mean. Empty means the standard deviation of the
	// training images.
	Deviation []float64
}

// unusable reports whether a number is infinite or NaN.
func unusable(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// EnsureDefaults fills unset options.
func (o *Options) EnsureDefaults() {
	o.Kind, o.Size = cmp.Or(o.Kind, KindSynthetic), cmp.Or(o.Size, defaultSize)
	o.ValidationShare = cmp.Or(o.ValidationShare, 0.1)
	o.Synthetic.EnsureDefaults()
}

// Validate returns every fault, including zeros that EnsureDefaults has not replaced.
func (o Options) Validate() error {
	var faults validate.Faults
	_, known := kinds.Find(o.Kind)
	faults.Unless(known, "unknown kind %q; expected one of %s", o.Kind, strings.Join(Kinds(), ", "))
	faults.When(known && o.Kind != KindSynthetic && o.Path == "", "path is missing; set the path of the files of %s",
		o.Kind)
	faults.Unless(o.ValidationShare > 0 && o.ValidationShare < 1, "validation_share is %v; must be between 0 and 1",
		o.ValidationShare)
	faults.When(o.Size < 1 || o.Size > maxSide, "size is %d pixels; must be from 1 to %d", o.Size, maxSide)
	faults.When(o.Stream && o.Kind != KindFolder && o.Kind != KindShards,
		"stream is set for kind %s; only %s and %s support it", o.Kind, KindFolder, KindShards)
	faults.When(o.TurboJPEG && o.Kind != KindFolder && o.Kind != KindShards,
		"turbo_jpeg is set for kind %s; only %s and %s support it", o.Kind, KindFolder, KindShards)
	faults.When(o.Limit < 0, "limit is %d images; must be at least 0; 0 means no limit", o.Limit)
	faults.When(slices.ContainsFunc(o.Mean, unusable), "mean is %v; expected finite numbers", o.Mean)
	faults.When(slices.ContainsFunc(o.Deviation, func(d float64) bool { return unusable(d) || d <= 0 }),
		"deviation is %v; expected numbers above 0", o.Deviation)
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

func (o Options) form() form { return form{o.Size, o.TurboJPEG} }
