package torch

// #include "graft.h"
import "C"

import (
	"fmt"
	"unsafe"
)

// OpenJPEG returns an error if libjpeg-turbo cannot be opened.
func OpenJPEG() error {
	err := Load()
	if err == nil {
		err = take("open libjpeg-turbo", C.graft_jpeg_open())
	}
	if err != nil {
		return fmt.Errorf("%w; install it (libturbojpeg0 in Debian)", err)
	}
	return nil
}

// DecodeJPEG decodes a JPEG file of the given width and height with libjpeg-turbo. It returns rows of pixels of four
// bytes each: red, green, blue and an unused byte. Chroma is upsampled without interpolation, and pixel values differ
// by a few levels from the values of Go's decoder. It returns an error for a damaged file and for a CMYK image. It is
// safe for concurrent use. OpenJPEG must be called first.
func DecodeJPEG(data []byte, width, height int) ([]byte, error) {
	if len(data) == 0 || width <= 0 || height <= 0 {
		return nil, fmt.Errorf("invalid JPEG image: %d bytes, %d x %d pixels; expected at least 1 of each", len(data),
			width, height)
	}
	out := make([]byte, 4*width*height)
	return out, take("decode a JPEG image", C.graft_jpeg_decode((*C.uint8_t)(unsafe.SliceData(data)),
		C.int64_t(len(data)), C.int32_t(width), C.int32_t(height), (*C.uint8_t)(unsafe.SliceData(out))))
}
