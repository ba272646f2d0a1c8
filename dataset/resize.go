package dataset

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"

	// Formats that image.Decode supports.
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"

	"graft/internal/files"
	"graft/torch"
)

const (
	maxSide        = 4096     // maximum height and width of an image in a set, in pixels
	maxPictureFile = 64 << 20 // maximum bytes of an image file
	maxPixels      = 1 << 26  // maximum pixels of an image file, unpacked
)

// form turns image files into images of a set: the central square, resized to size x size pixels, with one plane per
// colour.
type form struct {
	size  int
	turbo bool // JPEG files are decoded by libjpeg-turbo
}

func (f form) bytes() int { return 3 * f.size * f.size }

// readPicture reads an image file.
func (f form) readPicture(fsys files.FS, path string, into []byte) error {
	data, err := files.ReadAll(fsys, path, maxPictureFile)
	if err != nil {
		return err
	}
	if err := f.decode(data, into); err != nil {
		return fmt.Errorf("read %s: %w; replace or remove this file", path, damaged(err))
	}
	return nil
}

func (f form) decode(data, into []byte) error {
	config, kind, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return err
	}
	if config.Width <= 0 || config.Height <= 0 || config.Width > maxPixels/config.Height {
		return fmt.Errorf("the image has %d x %d pixels; the maximum is %d pixels", config.Width, config.Height,
			maxPixels)
	}
	if f.turbo && kind == "jpeg" && config.ColorModel != color.CMYKModel {
		return f.decodeTurbo(data, into, config.Width, config.Height)
	}
	decoded, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return err
	}
	square := middle(whole(decoded, config.Width, config.Height))
	shrink(square.Pix, square.Stride, square.Rect.Dx(), into, f.size)
	return nil
}

func (f form) decodeTurbo(data, into []byte, width, height int) error {
	pixels, err := torch.DecodeJPEG(data, width, height)
	if err != nil {
		return err
	}
	side := min(width, height)
	left, top := (width-side)/2, (height-side)/2
	shrink(pixels[4*(top*width+left):], 4*width, side, into, f.size)
	return nil
}

// whole returns an image with its full size. The first frame of a GIF may cover only a part of it; the rest is
// transparent.
func whole(from image.Image, width, height int) image.Image {
	if full := image.Rect(0, 0, width, height); from.Bounds() != full && from.Bounds().In(full) {
		to := image.NewNRGBA(full)
		draw.Draw(to, from.Bounds(), from, from.Bounds().Min, draw.Src)
		return to
	}
	return from
}

// middle returns the largest central square of an image; transparent pixels become black.
func middle(from image.Image) *image.RGBA {
	bounds := from.Bounds()
	side := min(bounds.Dx(), bounds.Dy())
	square := image.NewRGBA(image.Rect(0, 0, side, side))
	corner := bounds.Min.Add(image.Pt((bounds.Dx()-side)/2, (bounds.Dy()-side)/2))
	draw.Draw(square, square.Rect, from, corner, draw.Src)
	return square
}

// shrink averages the pixels, four bytes apart, that each new pixel covers, weighted by area, and puts each colour into
// its own plane. It uses integers: a pixel is size units wide, a new one side units.
func shrink(from []byte, stride, side int, into []byte, size int) {
	covers, row, sums := coversOf(side, size), make([]uint64, 3*size), make([]uint64, 3*size)
	known, area := -1, uint64(side)*uint64(side)
	for y, c := range covers {
		clear(sums)
		for k := c.first; k <= c.last; k++ {
			if k != known {
				narrow(from[k*stride:], covers, row)
				known = k
			}
			weight := c.weight(k, size)
			for x, v := range row {
				sums[x] += weight * v
			}
		}
		for x, v := range sums {
			into[(x%3*size+y)*size+x/3] = byte((v + area/2) / area)
		}
	}
}

// narrow sums the pixels of a row that each new pixel covers, three colours each.
func narrow(from []byte, covers []cover, row []uint64) {
	size := len(covers)
	for x := range covers {
		c := &covers[x]
		var r, g, b uint64
		for k := c.first; k <= c.last; k++ {
			weight, pixel := c.weight(k, size), from[4*k:4*k+3]
			r, g, b = r+weight*uint64(pixel[0]), g+weight*uint64(pixel[1]), b+weight*uint64(pixel[2])
		}
		row[3*x], row[3*x+1], row[3*x+2] = r, g, b
	}
}

// cover is the range of old pixels that a new pixel covers, and its units in the first and the last one.
type cover struct {
	first, last int
	head, tail  uint64
}

func (c *cover) weight(k, size int) uint64 {
	switch k {
	case c.first:
		return c.head
	case c.last:
		return c.tail
	}
	return uint64(size)
}

func coversOf(side, size int) []cover {
	all := make([]cover, size)
	for at := range all {
		start, end := at*side, (at+1)*side
		c := cover{first: start / size, last: (end - 1) / size}
		c.head = uint64(min(end, (c.first+1)*size) - start)
		c.tail = uint64(end - c.last*size)
		all[at] = c
	}
	return all
}
