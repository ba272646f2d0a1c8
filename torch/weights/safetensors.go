package weights

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// The layout of a safetensors file, from the format's own description
// (README.md of huggingface/safetensors): 8 bytes with the length of the
// header, little-endian; the header, a JSON object; the data.
const (
	lengthSize = 8
	// maxHeader is the format's limit of the header.
	maxHeader = 100_000_000
	// metadataKey is the entry of the header that is not a tensor.
	metadataKey = "__metadata__"
)

// entry is a tensor in the header.
type entry struct {
	name       string
	dtype      DType
	shape      []int64
	begin, end int64
}

// ReadSafetensors reads a safetensors file. The tensors keep the order of the header. The data must fill the file
// without gaps or overlaps, as the format requires.
func ReadSafetensors(r io.ReaderAt, size int64, opt Options) (*Set, error) {
	set, err := readSafetensors(r, size, opt.withDefaults(size))
	return set, doing("read safetensors", err)
}

func readSafetensors(r io.ReaderAt, size int64, opt Options) (*Set, error) {
	text, err := readHeader(r, size)
	if err != nil {
		return nil, err
	}
	h, err := parseHeader(text, opt.MaxTensors)
	if err != nil {
		return nil, fmt.Errorf("parse the header: %w", err)
	}
	start := lengthSize + int64(len(text))
	if err := checkLayout(h.entries, size-start); err != nil {
		return nil, err
	}
	if size-start > opt.MaxBytes {
		return nil, fmt.Errorf("the data is %d bytes long, more than Options.MaxBytes = %d", size-start, opt.MaxBytes)
	}
	data := make([]byte, size-start)
	if _, err := io.ReadFull(io.NewSectionReader(r, start, size-start), data); err != nil {
		return nil, fmt.Errorf("read the data: %w", err)
	}
	return h.set(data), nil
}

// readHeader accepts a length only if the file has enough bytes for it.
func readHeader(r io.ReaderAt, size int64) ([]byte, error) {
	if size < lengthSize {
		return nil, fmt.Errorf("the file has %d bytes: %w", size, io.ErrUnexpectedEOF)
	}
	var head [lengthSize]byte
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, lengthSize), head[:]); err != nil {
		return nil, fmt.Errorf("read the header length: %w", err)
	}
	length := binary.LittleEndian.Uint64(head[:])
	if length > maxHeader {
		return nil, fmt.Errorf("the header length is %d bytes, but the format allows at most %d; "+
			"the file may have another format", length, maxHeader)
	}
	if length > uint64(size-lengthSize) {
		return nil, fmt.Errorf("the header length is %d bytes: %w", length, io.ErrUnexpectedEOF)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(io.NewSectionReader(r, lengthSize, int64(length)), text); err != nil {
		return nil, fmt.Errorf("read the header: %w", err)
	}
	if length == 0 || text[0] != '{' {
		return nil, errors.New("the header does not begin with an opening brace; the file may have another format")
	}
	if !utf8.Valid(text) {
		return nil, errors.New("the header is not UTF-8")
	}
	return text, nil
}

// checkLayout checks that the tensors fill the data one after the other.
func checkLayout(entries []entry, size int64) error {
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	at := int64(0)
	for _, e := range sorted {
		if err := e.check(at, size); err != nil {
			return fmt.Errorf("tensor %.200q: %w", e.name, err)
		}
		at = e.end
	}
	if at != size {
		return fmt.Errorf("%d bytes of data belong to no tensor", size-at)
	}
	return nil
}

// check compares an entry with the end of the one before it.
func (e entry) check(at, size int64) error {
	want, err := byteCount(e.dtype, e.shape)
	switch {
	case err != nil:
		return err
	case e.begin < at:
		return fmt.Errorf("the data starts at byte %d, but overlaps the data of another tensor up to byte %d", e.begin,
			at)
	case e.begin > at:
		return fmt.Errorf("the data starts at byte %d, but the bytes from %d on belong to no tensor", e.begin, at)
	case e.end < e.begin || e.end > size:
		return fmt.Errorf("invalid end of the data at byte %d; expected an end "+
			"between the start and byte %d: %w", e.end, size, io.ErrUnexpectedEOF)
	case e.end-e.begin != want:
		return fmt.Errorf("type %s with shape %v takes %d bytes, got %d", e.dtype, e.shape, want, e.end-e.begin)
	}
	return nil
}

// header is the content of the JSON object.
type header struct {
	entries  []entry
	metadata map[string]string
}

func (h *header) set(data []byte) *Set {
	set := &Set{Format: Safetensors, Metadata: h.metadata, Tensors: make([]Tensor, 0, len(h.entries))}
	for _, e := range h.entries {
		set.Tensors = append(set.Tensors, Tensor{Name: e.name, DType: e.dtype, Shape: e.shape,
			Data: data[e.begin:e.end:e.end]})
	}
	return set
}
