package dataset

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"

	// Formats that image.Decode supports.
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"

	"graft/files"
)

const (
	maxSide        = 4096     // pixels of an image in a set, in height and width
	maxPictureFile = 64 << 20 // bytes of an image file
	maxPixels      = 1 << 26  // of an image file, unpacked
)

// readPicture reads an image file, crops its central square and resizes it to size x size
// pixels, a plane for each colour.
func readPicture(fsys files.FS, path string, into []byte, size int) error {
	data, err := files.ReadAll(fsys, path, maxPictureFile)
	if err != nil {
		return err
	}
	if err := decode(data, into, size); err != nil {
		return fmt.Errorf("read %s: %w; replace or remove it", path, damaged(err))
	}
	return nil
}

func decode(data, into []byte, size int) error {
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return err
	}
	if config.Width <= 0 || config.Height <= 0 || config.Width > maxPixels/config.Height {
		return fmt.Errorf("it has %d x %d pixels, where at most %d are read", config.Width, config.Height, maxPixels)
	}
	decoded, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return err
	}
	square := middle(decoded)
	for channel := range 3 {
		shrink(square.Pix[channel:], square.Stride, square.Rect.Dx(), into[channel*size*size:(channel+1)*size*size], size)
	}
	return nil
}

// middle is the largest central square of an image; transparent pixels become black.
func middle(from image.Image) *image.RGBA {
	bounds := from.Bounds()
	side := min(bounds.Dx(), bounds.Dy())
	square := image.NewRGBA(image.Rect(0, 0, side, side))
	corner := bounds.Min.Add(image.Pt((bounds.Dx()-side)/2, (bounds.Dy()-side)/2))
	draw.Draw(square, square.Rect, from, corner, draw.Src)
	return square
}

// shrink averages the pixels, four bytes apart, that each new pixel covers, weighted by
// area. It uses integers: a pixel is size units wide, a new one side units.
func shrink(from []byte, stride, side int, into []byte, size int) {
	rows := make([]uint64, side*size)
	for y := range side {
		for x := range size {
			rows[y*size+x] = cover(x, side, size, func(k int) uint64 { return uint64(from[y*stride+4*k]) })
		}
	}
	area := uint64(side) * uint64(side)
	for y := range size {
		for x := range size {
			sum := cover(y, side, size, func(k int) uint64 { return rows[k*size+x] })
			into[y*size+x] = byte((sum + area/2) / area)
		}
	}
}

// cover adds up the values that a new place covers, each times its units there.
func cover(at, side, size int, value func(k int) uint64) uint64 {
	start, end := at*side, (at+1)*side
	var sum uint64
	for k := start / size; k*size < end; k++ {
		sum += value(k) * uint64(min(end, (k+1)*size)-max(start, k*size))
	}
	return sum
}
