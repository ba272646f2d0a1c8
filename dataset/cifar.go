package dataset

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"graft/internal/files"
)

// cifar is CIFAR-10 or CIFAR-100 (Krizhevsky 2009, Learning Multiple Layers of Features
// from Tiny Images), in both formats of its page.
type cifar struct {
	name    string
	classes []string
	labels  int    // labels before each image in the binary format; the last one counts
	key     string // key of the labels in the Python format
	formats []cifarFormat
}

// cifarFormat describes a published format of the same images.
type cifarFormat struct {
	folder, archive string
	files           []cifarFile
	parse           func(c *cifar, r io.Reader, size int64, into block) error
}

type cifarFile struct {
	name string
	rows int
	test bool
}

// Sizes of a CIFAR image.
const (
	cifarSide  = 32 // pixels
	cifarImage = 3 * cifarSide * cifarSide
)

var cifar10 = &cifar{name: KindCIFAR10, classes: cifar10Classes, labels: 1, key: "labels", formats: []cifarFormat{
	{"cifar-10-batches-bin", "cifar-10-binary.tar.gz", batches(".bin", 10_000), parseBinary},
	{"cifar-10-batches-py", "cifar-10-python.tar.gz", batches("", 10_000), parsePickle},
}}

var cifar100 = &cifar{name: KindCIFAR100, classes: cifar100Classes, labels: 2, key: "fine_labels",
	formats: []cifarFormat{
		{"cifar-100-binary", "cifar-100-binary.tar.gz",
			[]cifarFile{{"train.bin", 50_000, false}, {"test.bin", 10_000, true}}, parseBinary},
		{"cifar-100-python", "cifar-100-python.tar.gz", []cifarFile{{"train", 50_000, false}, {"test", 10_000, true}},
			parsePickle},
	}}

// batches returns the files of CIFAR-10: five for training, one for the test.
func batches(ending string, rows int) []cifarFile {
	all := []cifarFile{{"test_batch" + ending, rows, true}}
	for k := range 5 {
		all = append(all, cifarFile{fmt.Sprintf("data_batch_%d%s", k+1, ending), rows, false})
	}
	return all
}

// block is the place of one file's images and labels in their split.
type block struct {
	images []byte
	labels []int64
}

func newBlock(rows int) block { return block{make([]byte, rows*cifarImage), make([]int64, rows)} }

func (b block) part(start, rows int) block {
	return block{b.images[start*cifarImage : (start+rows)*cifarImage], b.labels[start : start+rows]}
}

// find finds the files in a folder, in its subfolder or in an archive.
func (c *cifar) find(fsys files.FS, o Options) (reader, error) {
	archive, err := isFile(fsys, o.Path)
	if err != nil {
		return nil, err
	}
	if archive {
		return func() (*source, error) { return c.readArchive(fsys, o) }, nil
	}
	for _, format := range c.formats {
		for _, folder := range []string{o.Path, filepath.Join(o.Path, format.folder)} {
			found, err := format.present(fsys, folder)
			if err != nil {
				return nil, err
			}
			if found {
				return func() (*source, error) { return c.readFolder(fsys, folder, format) }, nil
			}
		}
	}
	for _, format := range c.formats {
		path := filepath.Join(o.Path, format.archive)
		there, err := isFile(fsys, path)
		if err != nil {
			return nil, err
		}
		if there {
			return func() (*source, error) { return c.readFormat(fsys, path, format) }, nil
		}
	}
	return nil, missing(o, c.formats[0].archive+" or the files "+
		strings.Join(c.formats[0].readers(c, nil, nil).names(), ", "))
}

// present reports whether the files are in a folder; an incomplete set is an error.
func (f cifarFormat) present(fsys files.FS, folder string) (bool, error) {
	var absent []string
	for _, file := range f.files {
		there, err := isFile(fsys, filepath.Join(folder, file.name))
		if err != nil {
			return false, err
		}
		if !there {
			absent = append(absent, file.name)
		}
	}
	if len(absent) == len(f.files) {
		return false, nil
	}
	return len(absent) == 0, lacks(folder, absent)
}

func lacks(path string, absent []string) error {
	if len(absent) == 0 {
		return nil
	}
	return fmt.Errorf("read %s: %w: missing files %s; add them, or download the dataset again", path, ErrMissing,
		strings.Join(absent, ", "))
}

func (f cifarFormat) readers(c *cifar, train, test *block) readers {
	all := make(readers)
	starts := map[bool]int{}
	for _, file := range f.files {
		split, start := train, starts[file.test]
		if file.test {
			split = test
		}
		starts[file.test] += file.rows
		all[file.name] = func(r io.Reader, size int64) error {
			return f.parse(c, r, size, split.part(start, file.rows))
		}
	}
	return all
}

func (f cifarFormat) blocks() (train, test block) {
	var rows, testRows int
	for _, file := range f.files {
		if file.test {
			testRows += file.rows
		} else {
			rows += file.rows
		}
	}
	return newBlock(rows), newBlock(testRows)
}

func (c *cifar) source(train, test block) *source {
	return &source{name: c.name, classes: c.classes, shape: [3]int{3, cifarSide, cifarSide},
		train: held(train.images, train.labels), test: held(test.images, test.labels)}
}

func (c *cifar) readFolder(fsys files.FS, folder string, f cifarFormat) (*source, error) {
	train, test := f.blocks()
	if err := f.readers(c, &train, &test).readFiles(fsys, folder); err != nil {
		return nil, err
	}
	return c.source(train, test), nil
}

func (c *cifar) readFormat(fsys files.FS, path string, f cifarFormat) (*source, error) {
	train, test := f.blocks()
	absent, err := f.readers(c, &train, &test).readArchive(fsys, path)
	if err != nil {
		return nil, err
	}
	if len(absent) == len(f.files) {
		return nil, fmt.Errorf("read %s: %w: the archive does not contain the "+
			"files of %s", path, errOtherFormat, f.archive)
	}
	if err := lacks(path, absent); err != nil {
		return nil, err
	}
	return c.source(train, test), nil
}

var errOtherFormat = errors.New("unexpected archive format")

// readArchive reads an archive with any name, in either format.
func (c *cifar) readArchive(fsys files.FS, o Options) (*source, error) {
	for _, format := range c.formats {
		if found, err := c.readFormat(fsys, o.Path, format); !errors.Is(err, errOtherFormat) {
			return found, err
		}
	}
	return nil, fmt.Errorf("read %s: the archive does not contain the files of %s; expected %s or %s", o.Path, c.name,
		c.formats[0].archive, c.formats[1].archive)
}
