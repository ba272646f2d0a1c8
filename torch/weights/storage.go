package weights

import (
	"fmt"
	"math"
	"strings"

	"graft/torch/pickle"
)

// storage is a piece of memory that tensors of a .pth file refer to.
type storage struct {
	key    string
	dtype  DType
	count  int64 // in items
	data   []byte
	loaded bool
	// A storage of the legacy format may be a part of another one.
	root   *storage
	offset int64 // in items of root
}

// view is a tensor in a pickle: sizes and strides over a storage, in items.
type view struct {
	storage       *storage
	offset        int64
	shape, stride []int64
}

// check checks that every item of the view lies in its storage.
func (v *view) check() error {
	n, err := count(v.shape)
	if err != nil {
		return err
	}
	if len(v.stride) != len(v.shape) || v.offset < 0 {
		return fmt.Errorf("shape %v, strides %v and offset %d do not match", v.shape, v.stride, v.offset)
	}
	last := v.offset
	for i, size := range v.shape {
		stride := v.stride[i]
		if stride < 0 || (n > 0 && stride > 0 && size-1 > (math.MaxInt64-last)/stride) {
			return fmt.Errorf("the strides %v are too large for any storage", v.stride)
		}
		if n > 0 {
			last += (size - 1) * stride
		}
	}
	if n > 0 && last >= v.storage.count {
		return fmt.Errorf("the tensor reaches item %d of storage %q, which has %d items", last, v.storage.key,
			v.storage.count)
	}
	return nil
}

// isContiguous reports whether the items are in row-major order without gaps. The stride of a dimension of size one is
// ignored.
func (v *view) isContiguous() bool {
	want := int64(1)
	for i := len(v.shape) - 1; i >= 0; i-- {
		if v.shape[i] != 1 && v.stride[i] != want {
			return false
		}
		want *= v.shape[i]
	}
	return true
}

// bytes returns the items of a checked view in row-major order: a part of the storage if it has this order, a copy
// otherwise.
func (v *view) bytes() []byte {
	size := v.storage.dtype.Size()
	n, _ := count(v.shape)
	if n == 0 {
		return []byte{}
	}
	start := v.offset * size
	if v.isContiguous() {
		return v.storage.data[start : start+n*size : start+n*size]
	}
	return gather(make([]byte, 0, n*size), v.storage.data[start:], v.shape, v.stride, size)
}

// gather appends the items of data that sizes and strides select.
func gather(out, data []byte, shape, stride []int64, size int64) []byte {
	if len(shape) == 0 {
		return append(out, data[:size]...)
	}
	if len(shape) == 1 && stride[0] == 1 {
		return append(out, data[:shape[0]*size]...)
	}
	for i := range shape[0] {
		out = gather(out, data[i*stride[0]*size:], shape[1:], stride[1:], size)
	}
	return out
}

// graph holds the storages that a pickle refers to while it is read.
type graph struct {
	storages map[string]*storage
	opt      Options
	left     int64 // bytes of opt.MaxBytes that tensors may still take
	visits   int   // visits left for flattening
}

func newGraph(opt Options) *graph {
	return &graph{storages: make(map[string]*storage), opt: opt, left: opt.MaxBytes, visits: opt.MaxTensors}
}

// charge subtracts bytes from the tensors' allowance.
func (g *graph) charge(n int64) error {
	if n > g.left {
		return fmt.Errorf("the tensors exceed the limit of %d bytes for this file; "+
			"raise Options.MaxBytes if the file can be trusted", g.opt.MaxBytes)
	}
	g.left -= n
	return nil
}

// persistent finds or makes the storage for a persistent id: ("storage", class, key, location, items) and, in the
// legacy format, the part of it. See persistent_id in PyTorch's torch/serialization.py.
func (g *graph) persistent(id any) (any, error) {
	fields, ok := id.(pickle.Tuple)
	if ok && len(fields) > 0 && fields[0] == "module" {
		return nil, fmt.Errorf("the file contains a whole module; save its state_dict() instead")
	}
	if !ok || len(fields) < 5 || len(fields) > 6 || fields[0] != "storage" {
		return nil, fmt.Errorf("the persistent id does not describe a storage")
	}
	class, ok1 := fields[1].(pickle.Global)
	key, ok2 := fields[2].(string)
	items, ok3 := fields[4].(int64)
	if !ok1 || !ok2 || !ok3 {
		return nil, fmt.Errorf("a storage description contains a %T, a %T and a %T, expected a class, a string "+
			"and an int", fields[1], fields[2], fields[4])
	}
	root, err := g.storage(class, key, items)
	if err != nil || len(fields) == 5 || fields[5] == nil {
		return root, err
	}
	return g.part(root, fields[5])
}

// storage makes a storage on its first mention, and compares it on later ones.
func (g *graph) storage(class pickle.Global, key string, items int64) (*storage, error) {
	dtype, ok := dtypeBy(func(f format) string { return f.storage }, class.Name)
	if !ok || (class.Module != "torch" && class.Module != "torch.cuda") {
		return nil, fmt.Errorf("storage %q has the unsupported type %.100q; convert the tensor to one of %s",
			key, class, dtypeNames())
	}
	if items < 0 || items > math.MaxInt64/dtype.Size() {
		return nil, fmt.Errorf("storage %q has an invalid size of %d items", key, items)
	}
	if s, known := g.storages[key]; known {
		if s.dtype != dtype || s.count != items || s.root != nil {
			return nil, fmt.Errorf("storage %q has two different descriptions", key)
		}
		return s, nil
	}
	s := &storage{key: key, dtype: dtype, count: items}
	g.storages[key] = s
	return s, nil
}

// part makes the storage for (key, offset, items) as a part of root.
func (g *graph) part(root *storage, description any) (any, error) {
	fields, ok := description.(pickle.Tuple)
	if !ok || len(fields) != 3 {
		return nil, fmt.Errorf("a view of storage %q is described by a %T, expected a tuple of 3 items", root.key,
			description)
	}
	key, ok1 := fields[0].(string)
	offset, ok2 := fields[1].(int64)
	items, ok3 := fields[2].(int64)
	if !ok1 || !ok2 || !ok3 || offset < 0 || items < 0 || offset > root.count || items > root.count-offset {
		return nil, fmt.Errorf("a view of storage %q extends beyond the storage", root.key)
	}
	return &storage{key: key, dtype: root.dtype, count: items, root: root, offset: offset}, nil
}

func dtypeNames() string {
	var names []string
	for d := Float32; d <= Bool; d++ {
		names = append(names, d.String())
	}
	return strings.Join(names, ", ")
}
