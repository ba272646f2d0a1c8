package dataset

import (
	"iter"
	"path/filepath"
	"slices"

	"graft/internal/files"
)

// Facts holds the sizes that a network must match. A zero size means unknown.
type Facts struct {
	Shape      []int // shape of an example
	Classes    int   // number of different labels
	Vocabulary int   // number of different tokens in examples; zero for images
	Task       Task
	Labels     []string // name of each label; nil means unknown
}

// Facts returns the sizes that a network for the dataset must match.
func (set *Set) Facts() Facts {
	return Facts{set.Shape, len(set.Classes), set.Vocabulary, set.Task, set.Classes}
}

// Declared returns the sizes that are known without reading images.
func Declared(fsys files.FS, o Options) Facts {
	o.EnsureDefaults()
	switch o.Kind {
	case KindText:
		tokens := o.declaredTokens(fsys)
		return Facts{Shape: []int{o.context()}, Classes: tokens, Vocabulary: tokens, Task: NextToken}
	case KindCSV:
		return o.declaredTable(fsys)
	}
	shape, labels := declaredImages(fsys, o)
	return Facts{Shape: shape, Classes: len(labels), Labels: labels}
}

func declaredImages(fsys files.FS, o Options) (shape []int, labels []string) {
	switch o.Kind {
	case KindSynthetic:
		return []int{o.Synthetic.Channels, o.Synthetic.Size, o.Synthetic.Size}, o.Synthetic.labels()
	case KindCIFAR10:
		return []int{3, cifarSide, cifarSide}, cifar10Classes
	case KindCIFAR100:
		return []int{3, cifarSide, cifarSide}, cifar100Classes
	case KindMNIST:
		return []int{1, idxSide, idxSide}, digits
	case KindFashion:
		return []int{1, idxSide, idxSide}, fashionClasses
	case KindDigits:
		return []int{1, digitsSide, digitsSide}, digits
	case KindFolder:
		return []int{3, o.Size, o.Size}, foldersOf(fsys, o.Path)
	}
	return nil, nil
}

// foldersOf returns the names of the folders of classes; nil if they cannot be read.
func foldersOf(fsys files.FS, path string) []string {
	if fsys == nil {
		return nil
	}
	top, err := subfolders(fsys, path)
	if twoSplits(top) {
		top, err = subfolders(fsys, filepath.Join(path, "train"))
	}
	if err != nil {
		return nil
	}
	return top
}

// publishedCounts holds the numbers of training and test images of the kinds with a fixed number.
var publishedCounts = map[string][2]int{KindCIFAR10: {50_000, 10_000}, KindCIFAR100: {50_000, 10_000},
	KindMNIST: {60_000, 10_000}, KindFashion: {60_000, 10_000}}

// digitsCount is the number of digits, for training and the test together.
const digitsCount = 1797

// DeclaredCounts returns the numbers of training and validation images if they are known without reading images; zero
// means unknown.
func DeclaredCounts(o Options) (training, validation int) {
	o.EnsureDefaults()
	all := publishedCounts[o.Kind]
	switch o.Kind {
	case KindSynthetic:
		all = [2]int{o.Synthetic.Train, o.Synthetic.Test}
	case KindDigits:
		test := shareOf(digitsCount, o.ValidationShare) // held out, since the kind has no test images
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

// declaredTokens is the number of different tokens of a text; zero if it cannot be read.
func (o Options) declaredTokens(fsys files.FS) int {
	var text string
	if o.tokens() == Characters && fsys != nil {
		text, _ = readText(fsys, o.Path) // loading reports the error
	}
	return o.countTokens(fsys, func(yield func(string) bool) { yield(text) })
}

// countTokens is the number of different tokens of some texts; zero means unknown. Loading reports the reason.
func (o Options) countTokens(fsys files.FS, texts iter.Seq[string]) int {
	if fsys == nil && o.tokens() != Bytes {
		return 0
	}
	t, err := o.tokenizer(fsys, texts)
	if err != nil {
		return 0
	}
	return len(t.names)
}

// declaredTable reads the labels of a table, and its texts if their characters are the tokens.
func (o Options) declaredTable(fsys files.FS) Facts {
	f := Facts{Shape: []int{o.context()}, Task: TextLabel}
	if o.labelEach() == EachWord {
		f.Task = TokenLabel
	}
	if fsys == nil {
		return f
	}
	train, test, err := readTables(fsys, o)
	if err != nil {
		return f // loading reports the error
	}
	f.Labels, _ = o.classesOf(slices.Concat(train, test))
	f.Classes = len(f.Labels)
	if n := o.countTokens(fsys, textsOf(train, test)); n > 0 {
		f.Vocabulary = n + 1
	}
	return f
}
