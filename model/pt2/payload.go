package pt2

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"unsafe"

	"graft/model/graph"
	"graft/torch/weights"
)

// payload describes the bytes of a tensor.
type payload struct {
	Path      string `json:"path_name"`
	Parameter bool   `json:"is_param"`
	Pickle    bool   `json:"use_pickle"`
	Meta      *meta  `json:"tensor_meta"`
}

// payloads are the tensors of one folder.
type payloads struct {
	folder string                    // weights or constants
	saved  map[string]weights.Tensor // tensors of a file of torch.save, by name; nil if each tensor has a file
	tied   map[string][]string       // names in saved, by their memory
	list   map[string]payload
	bytes  map[string][]byte // storages, by file
	left   int64             // bytes that tensors may still take
	a      *archive
}

// Limits of the memory for tensors that share bytes of the file, such as tied weights, or views with a stride of zero.
// Beyond them the size of a file no longer limits the memory for its tensors.
const (
	spareBytes = 64 << 20
	spareFold  = 4
)

// readPayloads reads a folder's list. It only reads tensors, never scripts or pickles.
func readPayloads(a *archive, folder string) (*payloads, error) {
	p := &payloads{folder: folder, bytes: map[string][]byte{}, left: spareBytes + spareFold*a.size, a: a}
	name := "data/" + folder + "/model_" + folder + "_config.json"
	if a.records[name] == nil {
		return p, p.readSaved(a)
	}
	text, err := a.read(name, largestList)
	if err != nil {
		return nil, err
	}
	if err := graph.BoundJSON(text); err != nil {
		return nil, fmt.Errorf("read the list of tensors in %s: %w", folder, err)
	}
	var file struct {
		Config map[string]payload `json:"config"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("read the list of tensors in %s: %w", folder, err)
	}
	p.list = file.Config
	return p, nil
}

// tensor reads a tensor by its full name.
func (p *payloads) tensor(name string) (weights.Tensor, error) {
	load := p.load
	if p.saved != nil {
		load = p.loadSaved
	}
	t, err := load(name)
	if err != nil {
		return t, fmt.Errorf("%s: tensor %.200q: %w", p.folder, name, err)
	}
	return t, nil
}

// memory identifies the bytes of a tensor: two tensors with the same bytes are tied.
func (p *payloads) memory(t weights.Tensor) string {
	if p.saved != nil {
		return fmt.Sprintf("%s/%p", p.folder, unsafe.SliceData(p.saved[t.Name].Data))
	}
	entry := p.list[t.Name]
	return fmt.Sprint(p.folder, "/", entry.Path, entry.Meta.Offset, entry.Meta.Strides)
}

func (p *payloads) load(name string) (weights.Tensor, error) {
	entry, ok := p.list[name]
	switch {
	case !ok:
		return weights.Tensor{}, fmt.Errorf("the archive's list of tensors does not contain this tensor")
	case entry.Pickle:
		return weights.Tensor{}, fmt.Errorf("the tensor is stored as a pickle, which could run code; " +
			"export the network with plain tensors")
	case entry.Meta == nil || entry.Meta.Layout != stridedLayout:
		return weights.Tensor{}, fmt.Errorf("the tensor is not dense")
	case path.Base(entry.Path) != entry.Path || entry.Path == ".." || entry.Path == ".":
		return weights.Tensor{}, fmt.Errorf("the path %.100q points outside the archive's folder of tensors",
			entry.Path)
	case strings.HasPrefix(entry.Path, "custom_obj_") || strings.HasPrefix(entry.Path, "opaque_obj_"):
		return weights.Tensor{}, fmt.Errorf("the entry is a Python object, which could run code")
	}
	dtype, ok := dtypes[entry.Meta.DType]
	if !ok {
		return weights.Tensor{}, fmt.Errorf("graft does not support ScalarType %d of torch.export's schema; convert "+
			"the tensor before the export", entry.Meta.DType)
	}
	shape, err := entry.Meta.shape()
	if err != nil {
		return weights.Tensor{}, err
	}
	storage, err := p.storage(entry.Path)
	if err != nil {
		return weights.Tensor{}, err
	}
	v := view{shape: shape, item: int(dtype.Size())}
	for _, stride := range entry.Meta.Strides {
		v.strides = append(v.strides, stride.number)
	}
	v.offset = entry.Meta.Offset.number
	data, err := p.copy(v, storage)
	t := weights.Tensor{Name: name, DType: dtype, Data: data}
	for _, size := range shape {
		t.Shape = append(t.Shape, int64(size))
	}
	return t, err
}

// stridedLayout is the schema's number for dense tensors.
const stridedLayout = 7

func (p *payloads) storage(file string) ([]byte, error) {
	if data, ok := p.bytes[file]; ok {
		return data, nil
	}
	data, err := p.a.read("data/"+p.folder+"/"+file, p.a.size)
	if err == nil {
		p.bytes[file] = data
	}
	return data, err
}

// view selects items of a storage.
type view struct {
	shape   []int
	strides []int64 // items
	offset  int64   // items
	item    int     // bytes
}

// count is the number of items, checked against the size of the storage.
func (v view) count(storage int64) (int64, error) {
	if len(v.strides) != len(v.shape) || v.offset < 0 || v.offset > storage {
		return 0, fmt.Errorf("invalid view: %d strides for %d sizes, offset %d in a storage of %d items",
			len(v.strides), len(v.shape), v.offset, storage)
	}
	count, last := int64(1), v.offset
	for k, size := range v.shape {
		if size == 0 {
			return 0, nil
		}
		if v.strides[k] < 0 || v.strides[k] > 0 && int64(size-1) > (storage-last)/v.strides[k] {
			return 0, v.outside(storage)
		}
		last += int64(size-1) * v.strides[k]
		if count *= int64(size); count > 1<<40 {
			return 0, fmt.Errorf("the shape %v is too large", v.shape)
		}
	}
	if last >= storage {
		return 0, v.outside(storage)
	}
	return count, nil
}

func (v view) outside(storage int64) error {
	return fmt.Errorf("shape %v with strides %v exceeds the storage of %d items; "+
		"the payload may be truncated", v.shape, v.strides, storage)
}

// copy returns the items of a view, row by row.
func (p *payloads) copy(v view, storage []byte) ([]byte, error) {
	count, err := v.count(int64(len(storage) / v.item))
	if err != nil {
		return nil, err
	}
	if p.left -= count * int64(v.item); p.left < 0 {
		return nil, fmt.Errorf("the tensors would be far larger in memory than the file")
	}
	if v.contiguous() {
		at := v.offset * int64(v.item)
		return slices.Clone(storage[at:][:count*int64(v.item)]), nil
	}
	data := make([]byte, 0, count*int64(v.item))
	index := make([]int, len(v.shape))
	for range count {
		at := v.offset
		for k, i := range index {
			at += int64(i) * v.strides[k]
		}
		data = append(data, storage[at*int64(v.item):][:v.item]...)
		for k := len(index) - 1; k >= 0; k-- {
			if index[k]++; index[k] < v.shape[k] {
				break
			}
			index[k] = 0
		}
	}
	return data, nil
}

// contiguous reports whether the items are contiguous.
func (v view) contiguous() bool {
	want := int64(1)
	for k := len(v.shape) - 1; k >= 0; k-- {
		if v.shape[k] != 1 && v.strides[k] != want {
			return false
		}
		want *= int64(v.shape[k])
	}
	return true
}
