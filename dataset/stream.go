package dataset

import (
	"fmt"
	"slices"

	"graft/torch"
)

// Stream reads the images of a split when they are needed. One goroutine uses it at a time.
type Stream struct {
	of    part
	shape [3]int
	next  *ahead // that is being read; nil for none
}

// ahead is images on their way.
type ahead struct {
	places []int64
	images []byte
	err    error
	done   chan struct{}
}

// Read returns images by their places in the split, side by side, each [C, H, W].
func (t *Stream) Read(places []int64) ([]byte, error) {
	if n := t.next; n != nil {
		t.next = nil
		if <-n.done; slices.Equal(n.places, places) {
			return n.images, n.err
		}
	}
	return t.read(places)
}

func (t *Stream) read(places []int64) ([]byte, error) {
	rows := make([]int, len(places))
	for k, place := range places {
		if place < 0 || place >= int64(len(t.of.rows)) {
			return nil, fmt.Errorf("read image %d of %d", place, len(t.of.rows))
		}
		rows[k] = t.of.rows[place]
	}
	return t.of.of.images(rows)
}

// Ahead begins to read the images that the next Read is expected to ask for.
func (t *Stream) Ahead(places []int64) {
	if len(places) == 0 {
		return
	}
	n := &ahead{places: slices.Clone(places), done: make(chan struct{})}
	t.next = n
	go func() {
		defer close(n.done)
		n.images, n.err = t.read(n.places)
	}()
}

// streamBytes bounds the images of a stream that are in memory at once; as many more are read ahead.
const streamBytes = 64 << 20

// Most is the largest number of images, in whole batches, that are worked on in one go: all where they are in
// memory.
func (p *Split) Most(batch int) int {
	if p.Stream == nil {
		return p.Count
	}
	size := p.Stream.shape[0] * p.Stream.shape[1] * p.Stream.shape[2]
	return max(1, streamBytes/size/batch) * batch
}

// Pick returns images and labels by their places in the split. Those of next are read ahead.
func (p *Split) Pick(s *torch.Scope, places, next []int64) (images, labels *torch.Tensor, err error) {
	info, err := p.Labels.Info()
	if err != nil {
		return nil, nil, err
	}
	rows := torch.FromOn(s, info.Device, places, len(places))
	labels = s.IndexSelect(p.Labels, 0, rows)
	if p.Stream == nil {
		return s.IndexSelect(p.Images, 0, rows), labels, s.Err()
	}
	bytes, err := p.Stream.Read(places)
	if err != nil {
		return nil, nil, err
	}
	p.Stream.Ahead(next)
	shape := p.Stream.shape
	return torch.FromOn(s, info.Device, bytes, len(places), shape[0], shape[1], shape[2]), labels, s.Err()
}

// Each calls do with parts of so many images in their order.
func (p *Split) Each(rows int, do func(s *torch.Scope, images, labels *torch.Tensor) error) error {
	places := func(from int) (all []int64) {
		for k := from; k < min(from+rows, p.Count); k++ {
			all = append(all, int64(k))
		}
		return all
	}
	for from := 0; from < p.Count; from += rows {
		err := torch.With(func(s *torch.Scope) error {
			if p.Stream == nil {
				n := min(rows, p.Count-from)
				return do(s, s.Narrow(p.Images, 0, from, n), s.Narrow(p.Labels, 0, from, n))
			}
			images, labels, err := p.Pick(s, places(from), places(from+rows))
			if err != nil {
				return err
			}
			return do(s, images, labels)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sampled is the number of training images from which a stream's mean and deviation come.
const sampled = 1000

// stream makes a set whose images are read when they are needed. Its digest covers the names and sizes of
// the images and the sample, not all pixels.
func (src *source) stream(s *torch.Scope, d torch.Device, o Options) (*Set, error) {
	parts, err := src.divide(o)
	if err != nil {
		return nil, err
	}
	set, digest := src.begin()
	digest.text("stream")
	for _, p := range []struct {
		part
		into *Split
	}{{parts.train, &set.Train}, {parts.test, &set.Test}, {parts.validation, &set.Validation}} {
		if len(p.rows) == 0 {
			continue
		}
		labels := p.labels()
		digest.add(nil, labels)
		for _, row := range p.rows {
			name, size, err := p.of.name(row)
			if err != nil {
				return nil, err
			}
			digest.text(name)
			digest.number(int(size))
		}
		*p.into = Split{Count: len(labels), Labels: torch.FromOn(s, d, labels, len(labels)), Stream: &Stream{of: p.part, shape: src.shape}}
	}
	if o.TestAsValidation {
		set.Validation = set.Test
		set.Validation.Stream = &Stream{of: parts.test, shape: src.shape}
	}
	images, err := set.Train.Stream.read(spread(set.Train.Count, sampled))
	if err != nil {
		return nil, err
	}
	digest.add(images, nil)
	set.Mean, set.Deviation = moments(images, src.shape)
	return set, set.finish(s, o, digest)
}

// spread lists at most so many places evenly.
func spread(count, most int) (places []int64) {
	for k := range min(count, most) {
		places = append(places, int64(k*count/min(count, most)))
	}
	return places
}
