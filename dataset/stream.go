package dataset

import (
	"fmt"
	"slices"

	"graft/torch"
)

// Stream reads the images of a split on demand. Only one goroutine may use it at a time.
type Stream struct {
	of    part
	shape [3]int
	next  *ahead // being read; nil if none
}

// Rows selects images of a split by their indexes.
type Rows struct {
	Places []int64
	// one entry per index, true if a stream must read the image; other images are returned as black images; nil means
	// that all images are read
	Needed []bool
}

func (r Rows) equal(o Rows) bool {
	return slices.Equal(r.Places, o.Places) && slices.Equal(r.Needed, o.Needed)
}

// ahead holds images that are being read.
type ahead struct {
	rows   Rows
	images []byte
	err    error
	done   chan struct{}
}

// Read returns the selected images, each [C, H, W], one after the other.
func (t *Stream) Read(r Rows) ([]byte, error) {
	if n := t.next; n != nil {
		t.next = nil
		if <-n.done; n.rows.equal(r) {
			return n.images, n.err
		}
	}
	return t.read(r)
}

func (t *Stream) read(r Rows) ([]byte, error) {
	var rows, at []int
	for k, place := range r.Places {
		if place < 0 || place >= int64(len(t.of.rows)) {
			return nil, fmt.Errorf("unknown image %d; expected 0 to %d", place, len(t.of.rows)-1)
		}
		if r.Needed == nil || r.Needed[k] {
			rows, at = append(rows, t.of.rows[place]), append(at, k)
		}
	}
	images, err := t.of.of.images(rows)
	if err != nil || r.Needed == nil {
		return images, err
	}
	size := t.bytes()
	all := make([]byte, len(r.Places)*size)
	for k, to := range at {
		copy(all[to*size:], images[k*size:(k+1)*size])
	}
	return all, nil
}

func (t *Stream) bytes() int { return t.shape[0] * t.shape[1] * t.shape[2] }

// Ahead starts to read the images that the next Read is expected to request.
func (t *Stream) Ahead(r Rows) {
	if len(r.Places) == 0 {
		return
	}
	n := &ahead{rows: Rows{slices.Clone(r.Places), slices.Clone(r.Needed)}, done: make(chan struct{})}
	t.next = n
	go func() {
		defer close(n.done)
		n.images, n.err = t.read(n.rows)
	}()
}

// streamBytes limits the images of a stream that are in memory at once; the prefetched ones take the same amount again.
const streamBytes = 64 << 20

// Most returns the maximum number of images that are processed at once, a multiple of the batch size. If the images are
// in memory, it returns the total number of images.
func (p *Split) Most(batch int) int {
	if p.Stream == nil {
		return p.Count
	}
	return max(1, streamBytes/p.Stream.bytes()/batch) * batch
}

// Pick returns the images and labels of the selected rows. It also starts to read the images of the next rows in the
// background.
func (p *Split) Pick(s *torch.Scope, r, next Rows) (images, labels *torch.Tensor, err error) {
	info, err := p.Labels.Info()
	if err != nil {
		return nil, nil, err
	}
	rows := torch.FromOn(s, info.Device, r.Places, len(r.Places))
	labels = s.IndexSelect(p.Labels, 0, rows)
	if p.Stream == nil {
		return s.IndexSelect(p.Images, 0, rows), labels, s.Err()
	}
	bytes, err := p.Stream.Read(r)
	if err != nil {
		return nil, nil, err
	}
	p.Stream.Ahead(next)
	shape := p.Stream.shape
	return torch.FromOn(s, info.Device, bytes, len(r.Places), shape[0], shape[1], shape[2]), labels, s.Err()
}

// Each divides the split into consecutive parts with the given number of images, and passes each part to the callback
// "do". If the split is a stream, the callback "needed" can skip images: it takes the number of images in a part and
// returns the range of images that this process needs. Other images are not read, and are passed as black images. If
// "needed" is nil, all images are read.
func (p *Split) Each(rows int, needed func(count int) (from, to int),
	do func(s *torch.Scope, images, labels *torch.Tensor) error) error {
	part := func(from int) (r Rows) {
		for k := from; k < min(from+rows, p.Count); k++ {
			r.Places = append(r.Places, int64(k))
		}
		if needed != nil && len(r.Places) > 0 {
			r.Needed = make([]bool, len(r.Places))
			for first, last := needed(len(r.Places)); first < last; first++ {
				r.Needed[first] = true
			}
		}
		return r
	}
	for from := 0; from < p.Count; from += rows {
		err := torch.With(func(s *torch.Scope) error {
			if p.Stream == nil {
				n := min(rows, p.Count-from)
				return do(s, s.Narrow(p.Images, 0, from, n), s.Narrow(p.Labels, 0, from, n))
			}
			images, labels, err := p.Pick(s, part(from), part(from+rows))
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

// sampled is the number of training images that a stream's mean and deviation are computed from.
const sampled = 1000

// stream makes a set whose images are read on demand. Its digest covers the names and sizes of the images and the
// sample, not all pixels.
func (src *source) stream(s *torch.Scope, d torch.Device, o Options) (*Set, error) {
	parts, err := src.divide(o)
	if err != nil {
		return nil, err
	}
	set, digest := src.begin()
	digest.text("stream")
	if o.TurboJPEG { // the sample alone might not show it
		digest.text("libjpeg-turbo")
	}
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
		*p.into = Split{Count: len(labels), Labels: torch.FromOn(s, d, labels, len(labels)),
			Stream: &Stream{of: p.part, shape: src.shape}}
	}
	if o.TestAsValidation {
		set.Validation = set.Test
		set.Validation.Stream = &Stream{of: parts.test, shape: src.shape}
	}
	images, err := set.Train.Stream.read(Rows{Places: spread(set.Train.Count, sampled)})
	if err != nil {
		return nil, err
	}
	digest.add(images, nil)
	set.Mean, set.Deviation = moments(images, src.shape)
	return set, set.finish(s, o, digest)
}

// spread returns at most most evenly spread indices.
func spread(count, most int) (places []int64) {
	for k := range min(count, most) {
		places = append(places, int64(k*count/min(count, most)))
	}
	return places
}
