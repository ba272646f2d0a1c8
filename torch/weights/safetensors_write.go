package weights

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// headerAlignment is the multiple that spaces pad the header to, so the data are aligned for every type.
const headerAlignment = 8

// WriteSafetensors writes a safetensors file. The header keeps the order of the set, with the metadata sorted by name.
// Tensors with the largest element types are written first, so every tensor is aligned. Equal sets produce equal bytes.
func WriteSafetensors(w io.Writer, set *Set) error {
	return doing("write safetensors", writeSafetensors(w, set))
}

func writeSafetensors(w io.Writer, set *Set) error {
	if err := set.Validate(); err != nil {
		return err
	}
	order := dataOrder(set.Tensors)
	text, err := formatHeader(set, dataOffsets(set.Tensors, order))
	if err != nil {
		return err
	}
	var head [lengthSize]byte
	binary.LittleEndian.PutUint64(head[:], uint64(len(text)))
	if _, err := w.Write(append(head[:], text...)); err != nil {
		return err
	}
	for _, i := range order {
		if _, err := w.Write(set.Tensors[i].Data); err != nil {
			return fmt.Errorf("tensor %q: %w", set.Tensors[i].Name, err)
		}
	}
	return nil
}

// dataOrder returns the indices of the tensors, by descending item size.
func dataOrder(tensors []Tensor) []int {
	order := make([]int, len(tensors))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return int(tensors[b].DType.Size() - tensors[a].DType.Size())
	})
	return order
}

// dataOffsets returns the start of each tensor's data.
func dataOffsets(tensors []Tensor, order []int) []int64 {
	begins := make([]int64, len(tensors))
	at := int64(0)
	for _, i := range order {
		begins[i] = at
		at += int64(len(tensors[i].Data))
	}
	return begins
}

func formatHeader(set *Set, begins []int64) ([]byte, error) {
	h := &headerWriter{}
	h.out.WriteByte('{')
	if err := checkMetadata(set.Metadata); err != nil {
		return nil, err
	}
	if len(set.Metadata) > 0 {
		h.field(metadataKey, set.Metadata) // encoding/json sorts the names
	}
	for i, t := range set.Tensors {
		if t.Name == metadataKey {
			return nil, fmt.Errorf("a tensor must not be named %q; rename it", metadataKey)
		}
		shape := append([]int64{}, t.Shape...) // null is not a valid shape
		h.field(t.Name, struct {
			DType   string   `json:"dtype"`
			Shape   []int64  `json:"shape"`
			Offsets [2]int64 `json:"data_offsets"`
		}{formats[t.DType].safetensors, shape, [2]int64{begins[i], begins[i] + int64(len(t.Data))}})
	}
	h.out.WriteByte('}')
	for h.out.Len()%headerAlignment != 0 {
		h.out.WriteByte(' ')
	}
	if h.err == nil && h.out.Len() > maxHeader {
		h.err = fmt.Errorf("the header is %d bytes long, but the format allows at most %d", h.out.Len(), maxHeader)
	}
	return h.out.Bytes(), h.err
}

// checkMetadata rejects texts that JSON would change silently.
func checkMetadata(metadata map[string]string) error {
	for name, text := range metadata {
		if !utf8.ValidString(name) || !utf8.ValidString(text) {
			return fmt.Errorf("metadata key %q or its value is not valid UTF-8; remove it", name)
		}
	}
	return nil
}

// headerWriter writes the fields of an object and keeps the first error.
type headerWriter struct {
	out    bytes.Buffer
	fields int
	err    error
}

func (h *headerWriter) field(name string, value any) {
	if h.fields++; h.fields > 1 {
		h.out.WriteByte(',')
	}
	h.json(name)
	h.out.WriteByte(':')
	h.json(value)
}

// json keeps <, > and &, which json.Marshal would escape.
func (h *headerWriter) json(value any) {
	if name, ok := value.(string); ok && !utf8.ValidString(name) {
		h.err = errors.Join(h.err, fmt.Errorf("the name %q is not UTF-8", name))
	}
	enc := json.NewEncoder(&h.out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		h.err = errors.Join(h.err, err)
		return
	}
	h.out.Truncate(h.out.Len() - 1) // the line feed
}
