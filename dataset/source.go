package dataset

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"math/rand/v2"
	"slices"

	"graft/internal/files"
)

// reader reads a source whose files were found.
type reader func() (*source, error)

// unchecked makes a find function for a kind whose files are found while they are read.
func unchecked(read func(files.FS, Options) (*source, error)) func(files.FS, Options) (reader, error) {
	return func(fsys files.FS, o Options) (reader, error) {
		return func() (*source, error) { return read(fsys, o) }, nil
	}
}

// source is a dataset before the split.
type source struct {
	name        string
	classes     []string
	shape       [3]int
	train, test pool
	validation  pool // empty if a share of train is held out
}

// pool is a set of images, read on demand.
type pool struct {
	labels []int64
	images func(rows []int) ([]byte, error) // concatenated, each [C, H, W]
	// name returns the name of an image's file, and its size in bytes; nil for a pool without files.
	name func(row int) (string, int64, error)
}

// held returns a pool of images in memory.
func held(images []byte, labels []int64) pool {
	return pool{labels: labels, images: func(rows []int) ([]byte, error) {
		if len(rows) == len(labels) && slices.IsSorted(rows) {
			return images, nil // all of them
		}
		size := len(images) / len(labels)
		out := make([]byte, 0, len(rows)*size)
		for _, row := range rows {
			out = append(out, images[row*size:(row+1)*size]...)
		}
		return out, nil
	}}
}

// part is a part of a pool's rows, in their order.
type part struct {
	of   pool
	rows []int
}

func (p part) labels() []int64 {
	labels := make([]int64, len(p.rows))
	for k, row := range p.rows {
		labels[k] = p.of.labels[row]
	}
	return labels
}

type parts struct{ train, validation, test part }

// Random streams of a seed, one per purpose.
const (
	streamValidation = iota + 1
	streamLimit
	streamTest
	streamTrainImages
	streamTestImages
)

func (src *source) divide(o Options) (parts, error) {
	if len(src.test.labels) == 0 || len(src.train.labels) < 2 {
		return parts{}, fmt.Errorf("the dataset has %d training images and %d test images; expected at least 2 "+
			"training images and 1 test image",
			len(src.train.labels), len(src.test.labels))
	}
	train := everyRow(len(src.train.labels))
	var validation []int
	held := src.train // pool of the validation images
	switch {
	case len(src.validation.labels) > 0:
		held, validation = src.validation, everyRow(len(src.validation.labels))
	case !o.TestAsValidation:
		train, validation = withheld(src.train.labels, train, shareOf(len(train), o.ValidationShare), o.Seed,
			streamValidation)
	}
	if o.Limit > 0 && o.Limit < len(train) {
		_, train = apart(src.train.labels, train, o.Limit, o.Seed, streamLimit, everyClassDrawn)
	}
	return parts{part{src.train, train}, part{held, validation}, part{src.test, everyRow(len(src.test.labels))}},
		nil
}

func everyRow(count int) []int {
	rows := make([]int, count)
	for k := range rows {
		rows[k] = k
	}
	return rows
}

// shareOf is a share of count that leaves at least one on either side if there are two or more.
func shareOf(count int, share float64) int {
	return min(count, max(1, min(count-1, int(math.Round(share*float64(count))))))
}

// withheld draws want of the rows as apart does, and leaves a row of each class if possible: a class without training
// rows cannot be learned.
func withheld(labels []int64, rows []int, want int, seed int64, stream uint64) (others, drawn []int) {
	return apart(labels, rows, want, seed, stream, everyClassLeft)
}

// apart draws want of the rows, in proportion from each class, after adjust changed the quotas of the classes. It
// returns the other rows and the drawn ones, both in their original order.
func apart(labels []int64, rows []int, want int, seed int64, stream uint64,
	adjust func([]quota)) (others, drawn []int) {
	byClass := make(map[int64][]int)
	for _, row := range rows {
		byClass[labels[row]] = append(byClass[labels[row]], row)
	}
	random := rand.New(rand.NewPCG(uint64(seed), stream))
	taken := make(map[int]bool, want)
	wanted := quotas(byClass, len(rows), want)
	adjust(wanted)
	for _, quota := range wanted {
		class := byClass[quota.class]
		random.Shuffle(len(class), func(i, j int) { class[i], class[j] = class[j], class[i] })
		for _, row := range class[:quota.count] {
			taken[row] = true
		}
	}
	for _, row := range rows {
		if taken[row] {
			drawn = append(drawn, row)
		} else {
			others = append(others, row)
		}
	}
	return others, drawn
}

// quota is the number of rows to draw from a class.
type quota struct {
	class     int64
	count     int
	remainder int
	size      int // number of rows of the class
}

// everyClassLeft moves draws from classes that would lose all rows to the classes with the most rows left.
func everyClassLeft(all []quota) {
	left := func(q quota) int { return q.size - q.count }
	for k := range all {
		if left(all[k]) > 0 {
			continue // usual, and largest reads all classes
		}
		if most := largest(all, left); left(all[most]) > 1 {
			all[k].count--
			all[most].count++
		}
	}
}

// everyClassDrawn moves draws from the classes with the most drawn rows to classes without any.
func everyClassDrawn(all []quota) {
	drawn := func(q quota) int { return q.count }
	for k := range all {
		if drawn(all[k]) > 0 {
			continue
		}
		if most := largest(all, drawn); drawn(all[most]) > 1 {
			all[most].count--
			all[k].count++
		}
	}
}

// largest returns the index of the quota with the largest size; the smallest class wins a tie.
func largest(all []quota, size func(quota) int) int {
	most := 0
	for k := range all {
		if s := cmp.Compare(size(all[k]), size(all[most])); s > 0 || s == 0 && all[k].class < all[most].class {
			most = k
		}
	}
	return most
}

// quotas gives each class its share of want, rounded so that they add up: the largest remainders are rounded up
// (Hamilton's method).
func quotas(byClass map[int64][]int, total, want int) []quota {
	var all []quota
	left := want
	for class, rows := range byClass {
		q := quota{class, len(rows) * want / total, len(rows) * want % total, len(rows)}
		all = append(all, q)
		left -= q.count
	}
	slices.SortFunc(all, func(a, b quota) int {
		if a.remainder != b.remainder {
			return b.remainder - a.remainder
		}
		return int(a.class - b.class)
	})
	for k := range left {
		all[k].count++
	}
	return all
}

// digest is the identity of a set.
type digest struct{ hash.Hash }

func (d digest) number(values ...int) {
	for _, v := range values {
		_, _ = d.Write(binary.LittleEndian.AppendUint64(nil, uint64(v))) // a hash never fails
	}
}

func (d digest) text(text string) {
	d.number(len(text))
	_, _ = d.Write([]byte(text))
}

// add is called for training, test and validation, in this order.
func (d digest) add(images []byte, labels []int64) {
	d.number(len(labels))
	_, _ = d.Write(images)
	for _, label := range labels {
		d.number(int(label))
	}
}

// moments is called if the options give the mean or deviation.
func (d digest) moments(name string, values []float64) {
	_, _ = d.Write([]byte(name))
	for _, v := range values {
		d.number(int(math.Float64bits(v)))
	}
}

// moments are the mean and deviation of each channel with pixels from 0 to 1. They are
// counted in integers, so the order does not matter.
func moments(images []byte, shape [3]int) (mean, deviation []float64) {
	plane := shape[1] * shape[2]
	counts := make([][256]uint64, shape[0])
	for k := 0; k*plane < len(images); k++ {
		count := &counts[k%shape[0]]
		for _, value := range images[k*plane : (k+1)*plane] {
			count[value]++
		}
	}
	for _, count := range counts {
		m, d := momentsOf(&count)
		mean, deviation = append(mean, m), append(deviation, d)
	}
	return mean, deviation
}

func momentsOf(count *[256]uint64) (mean, deviation float64) {
	var n, sum, squares uint64
	for value, times := range count {
		n += times
		sum += uint64(value) * times
		squares += uint64(value*value) * times
	}
	// The conversions prevent fused operations, which round differently.
	mean = float64(sum) / float64(n)
	variance := float64(squares)/float64(n) - float64(mean*mean)
	if variance <= 0 {
		return mean / 255, 1
	}
	return mean / 255, math.Sqrt(variance) / 255
}
