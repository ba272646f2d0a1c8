package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"

	"graft/internal/files"
)

// idx is a dataset in the files of MNIST: images and labels, each in the format IDX described on its page.
type idx struct {
	name    string
	classes []string
	folder  string // subfolder that torchvision uses
}

var (
	mnist   = idx{KindMNIST, digits, "MNIST"}
	fashion = idx{KindFashion, fashionClasses, "FashionMNIST"}
)

const (
	idxSide = 28 // pixels
	// The first four bytes: unsigned bytes in three dimensions, and in one.
	idxImages = 0x00000803
	idxLabels = 0x00000801
	// maxIDX limits the images of a file. The largest published one has 60,000.
	maxIDX = 1 << 20
)

type idxPair struct{ images, labels string }

var idxTrain, idxTest = idxPair{"train-images-idx3-ubyte", "train-labels-idx1-ubyte"},
	idxPair{"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}

// find finds the files, compressed or not, in a folder or in torchvision's subfolder.
func (i idx) find(fsys files.FS, o Options) (reader, error) {
	for _, folder := range []string{o.Path, filepath.Join(o.Path, i.folder, "raw")} {
		paths, absent, err := findIDX(fsys, folder)
		if err != nil {
			return nil, err
		}
		if len(absent) == 0 {
			return func() (*source, error) { return i.readFrom(fsys, paths) }, nil
		}
		if len(absent) < len(idxNames()) {
			return nil, lacks(folder, absent)
		}
	}
	return nil, missing(o, idxNames()...)
}

func idxNames() []string {
	return []string{idxTrain.images, idxTrain.labels, idxTest.images, idxTest.labels}
}

// findIDX returns the paths of the files in a folder, and the names of missing ones.
func findIDX(fsys files.FS, folder string) (paths map[string]string, absent []string, err error) {
	paths = make(map[string]string)
	for _, name := range idxNames() {
		for _, path := range []string{filepath.Join(folder, name), filepath.Join(folder, name+".gz")} {
			there, err := isFile(fsys, path)
			if err != nil {
				return nil, nil, err
			}
			if there {
				paths[name] = path
				break
			}
		}
		if paths[name] == "" {
			absent = append(absent, name)
		}
	}
	return paths, absent, nil
}

func (i idx) readFrom(fsys files.FS, paths map[string]string) (*source, error) {
	train, err := i.readPair(fsys, paths, idxTrain)
	if err != nil {
		return nil, err
	}
	test, err := i.readPair(fsys, paths, idxTest)
	if err != nil {
		return nil, err
	}
	return &source{name: i.name, classes: i.classes, shape: [3]int{1, idxSide, idxSide}, train: train, test: test}, nil
}

func (i idx) readPair(fsys files.FS, paths map[string]string, pair idxPair) (pool, error) {
	images, err := readIDX(fsys, paths[pair.images], idxImages, idxSide, idxSide)
	if err != nil {
		return pool{}, err
	}
	labels, err := readIDX(fsys, paths[pair.labels], idxLabels)
	if err != nil {
		return pool{}, err
	}
	if count := len(images) / (idxSide * idxSide); count != len(labels) {
		return pool{}, damaged(fmt.Errorf("read %s: the file has %d labels for the %d images of %s; download both "+
			"files again",
			paths[pair.labels], len(labels), count, paths[pair.images]))
	}
	wide := make([]int64, len(labels))
	for k, label := range labels {
		if int(label) >= len(i.classes) {
			return pool{}, damaged(fmt.Errorf("read %s: label %d is %d, but %s has labels 0 to %d; %s",
				paths[pair.labels], k+1, label, i.name, len(i.classes)-1, again))
		}
		wide[k] = int64(label)
	}
	return held(images, wide), nil
}

// readIDX returns the items of a file. Sizes are the dimensions after the first.
func readIDX(fsys files.FS, path string, magic uint32, sizes ...int) (items []byte, err error) {
	err = readFile(fsys, path, func(r io.Reader, _ int64) error {
		items, err = parseIDX(r, magic, sizes...)
		return err
	})
	return items, err
}

func parseIDX(r io.Reader, magic uint32, sizes ...int) ([]byte, error) {
	r, err := unzipped(r)
	if err != nil {
		return nil, fmt.Errorf("the gzip data is corrupt: %w; %s", err, again)
	}
	head := make([]uint32, 2+len(sizes))
	if err := binary.Read(r, binary.BigEndian, head); err != nil {
		return nil, fmt.Errorf("the file is truncated in its header of %d bytes: %w; %s", 4*len(head), err, again)
	}
	if head[0] != magic {
		return nil, fmt.Errorf("the file begins with magic number %08x; expected %08x; use the published file",
			head[0], magic)
	}
	if head[1] == 0 || head[1] > maxIDX {
		return nil, fmt.Errorf("the header gives a count of %d items; expected 1 to %d; %s", head[1], maxIDX, again)
	}
	bytes := int64(head[1])
	for k, size := range sizes {
		if int(head[2+k]) != size {
			return nil, fmt.Errorf("the images have a side length of %d pixels; expected %d; use the published file",
				head[2+k], size)
		}
		bytes *= int64(size)
	}
	return readItems(r, bytes)
}

// readItems reads to the end of the file. Memory grows with the data, not with the claimed size.
func readItems(r io.Reader, count int64) ([]byte, error) {
	var items bytes.Buffer
	if _, err := io.CopyN(&items, r, count); err != nil {
		return nil, fmt.Errorf("the file is truncated after %d of %d bytes: %w; %s", items.Len(), count, err, again)
	}
	return items.Bytes(), ended(r)
}
