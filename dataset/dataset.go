// Package dataset loads labelled images to the device and keeps them there as bytes. Batches are gathered, augmented
// and normalised on the device, so nothing is copied while a network trains. Sets that exceed the memory are read from
// their files on demand.
package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"graft/dataset/bpe"
	"graft/internal/files"
	"graft/torch"
)

// Split is a part of a dataset, such as the training images. A split's tensors belong to the scope into which the
// dataset was loaded. The zero Split is empty and has no tensors.
type Split struct {
	// images as uint8 [N, C, H, W] on the device, or tokens as uint8 or int32 [N, T]; nil in the zero Split, and if the
	// images are read on demand (see Stream)
	Images *torch.Tensor
	// labels, counted from 0: int64 [N] on the device if each example has one label, or integers of any type [N, T] if
	// each token has one; nil in the zero Split
	Labels *torch.Tensor
	Count  int     // number of examples N; zero only in the zero Split
	Stream *Stream // reader of images on demand; nil if the images are in memory
	Marked []int32 // number of labels that count, per example; nil if all labels count
}

// Task is the kind of labels in a dataset.
type Task int

// Kinds of labels.
const (
	ImageLabel Task = iota // a class for each image
	NextToken              // the next token for each token in a window of text
	TextLabel              // a class for each text
	TokenLabel             // a class, or Ignored, for each token of a text
)

// Set is a dataset on the device. Create it with Load; the zero Set is empty.
type Set struct {
	Name    string   // kind of the dataset, or a folder's own name; never empty
	Classes []string // name of each label by index; never empty
	// channels, height and width of an image, or the number of tokens in an example; all above zero
	Shape []int
	Task  Task // kind of the labels
	// Vocabulary is the number of different tokens in examples, including padding; zero for images.
	Vocabulary int
	Cut        int // number of texts that were longer than an example and were cut

	Train      Split // training images
	Validation Split // images for decisions during training; the tensors of Test with Options.TestAsValidation
	Test       Split // images for the final evaluation

	// Digest is a hexadecimal SHA-256 hash. It covers the images and labels of the three splits and, if the options set
	// them, the mean and the deviation. Datasets with the same digest are equal even if their files differ, so a digest
	// can be a cache key. The digest of a stream covers the names and sizes of the images, and the contents of a sample
	// of images. Never empty.
	Digest string
	// Mean and Deviation hold the mean and the standard deviation of each channel for pixels from 0 to 1, from the
	// options or, by default, computed from Train. A constant channel has the deviation 1, so all deviations are above
	// zero.
	Mean, Deviation []float64
}

// Tokens reports whether examples are tokens of text, not images.
func (set *Set) Tokens() bool { return set.Task != ImageLabel }

// Each reports whether every token of an example has its own label.
func (set *Set) Each() bool { return set.Task == NextToken || set.Task == TokenLabel }

// Labels returns the number of labels in the examples first to last-1 of a split. Ignored labels do not count.
func (set *Set) Labels(of Split, first, last int) int {
	switch {
	case of.Marked != nil:
		count := 0
		for _, marked := range of.Marked[first:last] {
			count += int(marked)
		}
		return count
	case set.Each():
		return (last - first) * set.Shape[0]
	}
	return last - first
}

// Load reads or generates a dataset and moves it to a device; the scope owns it. It fills in defaults of the options
// and validates them. If the files of a published dataset are missing, the error wraps [ErrMissing].
func Load(s *torch.Scope, d torch.Device, fsys files.FS, o Options) (*Set, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("load dataset: %w", err)
	}
	if o.TurboJPEG {
		if err := torch.OpenJPEG(); err != nil {
			return nil, fmt.Errorf("load dataset %s: turbo_jpeg: %w", o.Kind, err)
		}
	}
	if load := map[string]func(*torch.Scope, torch.Device, files.FS, Options) (*Set, error){KindText: loadText,
		KindCSV: loadCSV}[o.Kind]; load != nil {
		set, err := load(s, d, fsys, o)
		if err != nil {
			return nil, fmt.Errorf("load dataset %s: %w", o.Kind, err)
		}
		return set, nil
	}
	one, _ := kinds.Find(o.Kind) // the kind is validated
	read, err := one.find(fsys, o)
	if err != nil {
		return nil, fmt.Errorf("load dataset %s: %w", o.Kind, err)
	}
	found, err := read()
	if err != nil {
		return nil, fmt.Errorf("load dataset %s: %w", o.Kind, err)
	}
	load := found.load
	if o.Stream {
		load = found.stream
	}
	set, err := load(s, d, o)
	if err != nil {
		return nil, fmt.Errorf("load dataset %s: %w", o.Kind, err)
	}
	return set, nil
}

// CheckFiles returns an error if the files of a dataset are not at its path. It does not read the files. The options
// must be valid.
func CheckFiles(fsys files.FS, o Options) error {
	o.EnsureDefaults()
	if o.Path == "" {
		return nil
	}
	if _, err := fsys.Stat(o.Path); errors.Is(err, fs.ErrNotExist) {
		return missing(o, "its files")
	} else if err != nil {
		return err
	}
	if one, known := kinds.Find(o.Kind); known && one.find != nil {
		_, err := one.find(fsys, o)
		return err
	}
	return nil
}

// Stamp returns a digest of the names, sizes and times of the files that a dataset may read, and the latest time at
// which one of them was modified. If the files change, so does the stamp. Generated images have an empty stamp.
func Stamp(fsys files.FS, o Options) (digest string, latest time.Time, err error) {
	if o.Path == "" {
		return "", time.Time{}, nil
	}
	paths := []string{o.Path}
	if o.Vocabulary != "" {
		paths = append(paths, o.Vocabulary, bpe.Merges(o.Vocabulary))
	}
	return files.Stamp(fsys, paths...)
}

// load splits a source and moves its parts to the device one after the other, so the host holds at most one of them in
// addition to the source.
func (src *source) load(s *torch.Scope, d torch.Device, o Options) (*Set, error) {
	parts, err := src.divide(o)
	if err != nil {
		return nil, err
	}
	set, digest := src.begin()
	if set.Train, err = src.move(s, d, parts.train, func(images []byte, labels []int64) {
		digest.add(images, labels)
		set.Mean, set.Deviation = moments(images, src.shape)
	}); err != nil {
		return nil, err
	}
	if set.Test, err = src.move(s, d, parts.test, digest.add); err != nil {
		return nil, err
	}
	set.Validation = set.Test
	if !o.TestAsValidation {
		if set.Validation, err = src.move(s, d, parts.validation, digest.add); err != nil {
			return nil, err
		}
	}
	return set, set.finish(s, o, digest)
}

// begin makes a set without images, and its digest.
func (src *source) begin() (*Set, digest) {
	d := digest{sha256.New()}
	d.number(src.shape[0], src.shape[1], src.shape[2], len(src.classes))
	return &Set{Name: src.name, Classes: src.classes, Shape: src.shape[:]}, d
}

// finish sets normalization and digest.
func (set *Set) finish(s *torch.Scope, o Options, d digest) error {
	if err := set.normalise(o, d); err != nil {
		return err
	}
	set.Digest = hex.EncodeToString(d.Sum(nil))
	return s.Err()
}

// normalise sets the mean and deviation from the options or the images.
func (set *Set) normalise(o Options, d digest) error {
	for _, m := range []struct {
		name        string
		given, into []float64
	}{{"mean", o.Mean, set.Mean}, {"deviation", o.Deviation, set.Deviation}} {
		if len(m.given) == 0 {
			continue
		}
		if len(m.given) != 1 && len(m.given) != len(m.into) {
			return fmt.Errorf("%s has %d values, but the images have %d channels; expected one value for each "+
				"channel, or one for all", m.name, len(m.given), len(m.into))
		}
		for k := range m.into {
			m.into[k] = m.given[k%len(m.given)]
		}
		d.moments(m.name, m.into)
	}
	return nil
}

// move copies one part to the device and adds it to the digest.
func (src *source) move(s *torch.Scope, d torch.Device, p part, look func([]byte, []int64)) (Split, error) {
	images, err := p.of.images(p.rows)
	if err != nil {
		return Split{}, err
	}
	labels := p.labels()
	look(images, labels)
	count := len(p.rows)
	split := Split{Count: count,
		Images: torch.FromOn(s, d, images, count, src.shape[0], src.shape[1], src.shape[2]),
		Labels: torch.FromOn(s, d, labels, count)}
	return split, s.Err()
}
