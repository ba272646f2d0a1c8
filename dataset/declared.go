package dataset

import (
	"path/filepath"
	"slices"

	"graft/dataset/bpe"
	"graft/files"
)

// Declared returns the shape of the images and the number of classes, as far as these are known
// without reading images: the shape is empty and the number zero where they are not.
func Declared(fsys files.FS, o Options) (shape []int, classes int) {
	o.EnsureDefaults()
	switch o.Kind {
	case KindSynthetic:
		return []int{o.Synthetic.Channels, o.Synthetic.Size, o.Synthetic.Size}, o.Synthetic.Classes
	case KindCIFAR10:
		return []int{3, cifarSide, cifarSide}, len(cifar10Classes)
	case KindCIFAR100:
		return []int{3, cifarSide, cifarSide}, len(cifar100Classes)
	case KindMNIST, KindFashion:
		return []int{1, idxSide, idxSide}, len(digits)
	case KindDigits:
		return []int{1, digitsSide, digitsSide}, len(digits)
	case KindText:
		classes = 256
		if o.tokens() != Bytes {
			classes = o.declaredTokens(fsys)
		}
		return []int{o.context()}, classes
	case KindFolder:
		return []int{3, o.Size, o.Size}, foldersOf(fsys, o.Path)
	}
	return nil, 0
}

// foldersOf counts the folders of classes; zero where they cannot be read.
func foldersOf(fsys files.FS, path string) int {
	if fsys == nil {
		return 0
	}
	top, err := subfolders(fsys, path)
	if slices.Contains(top, "train") && slices.Contains(top, "test") {
		top, err = subfolders(fsys, filepath.Join(path, "train"))
	}
	if err != nil {
		return 0
	}
	return len(top)
}

// publishedCounts holds the training and the test images of the kinds with a fixed number.
var publishedCounts = map[string][2]int{KindCIFAR10: {50_000, 10_000}, KindCIFAR100: {50_000, 10_000}, KindMNIST: {60_000, 10_000}, KindFashion: {60_000, 10_000}}

// digitsCount is the number of digits, for training and the test together.
const digitsCount = 1797

// DeclaredCounts returns the number of training and validation images, as far as it is known
// without reading images; zero where it is not.
func DeclaredCounts(o Options) (training, validation int) {
	o.EnsureDefaults()
	all := publishedCounts[o.Kind]
	switch o.Kind {
	case KindSynthetic:
		all = [2]int{o.Synthetic.Train, o.Synthetic.Test}
	case KindDigits:
		test := shareOf(digitsCount, o.ValidationShare) // held out as the kind has none
		all = [2]int{digitsCount - test, test}
	}
	if all[0] < 2 || all[1] < 1 {
		return 0, 0
	}
	training, validation = all[0], all[1]
	if !o.TestAsValidation {
		validation = shareOf(training, o.ValidationShare)
		training -= validation
	}
	if o.Limit > 0 {
		training = min(training, o.Limit)
	}
	return training, validation
}

// declaredTokens is the number of byte pairs of a vocabulary, or of the characters of a text; zero where these cannot be read.
func (o Options) declaredTokens(fsys files.FS) int {
	if fsys == nil {
		return 0
	}
	if o.tokens() == Characters {
		text, err := readText(fsys, o.Path)
		if err != nil {
			return 0 // loading reports it
		}
		seen := map[rune]bool{}
		for _, r := range string(text) {
			seen[r] = true
		}
		return len(seen)
	}
	e, err := bpe.Read(fsys, o.Vocabulary)
	if err != nil {
		return 0 // loading reports it
	}
	return e.Size()
}
