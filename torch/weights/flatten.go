package weights

import (
	"fmt"
	"math/big"
	"strconv"

	"graft/torch/pickle"
)

// maxNesting limits the nesting of containers.
const maxNesting = 64

// loneTensor is the name of a tensor that was saved without a dict.
const loneTensor = "tensor"

// named is a tensor of the pickle with its dotted name.
type named struct {
	name string
	view *view
}

// flat collects the results of flattening.
type flat struct {
	graph    *graph
	tensors  []named
	metadata map[string]string
	seen     map[string]bool
}

// flatten lists the tensors and the plain values of a pickle's object.
func (g *graph) flatten(value any) (*flat, error) {
	f := &flat{graph: g, metadata: make(map[string]string), seen: make(map[string]bool)}
	if v, ok := value.(*view); ok {
		return f, f.addTensor(loneTensor, v)
	}
	switch value.(type) {
	case *pickle.Dict, *pickle.List, pickle.Tuple:
		return f, f.walk("", value, 0)
	}
	return nil, fmt.Errorf("the file contains a %T, expected tensors", value)
}

// walk adds the value with a name. Containers may contain each other many times, so each visit counts.
func (f *flat) walk(name string, value any, depth int) error {
	if depth > maxNesting {
		return fmt.Errorf("containers are nested more than %d levels deep at %.100q", maxNesting, name)
	}
	if f.graph.visits--; f.graph.visits < 0 {
		return fmt.Errorf("got more entries than Options.MaxTensors = %d", f.graph.opt.MaxTensors)
	}
	if err := f.graph.charge(int64(len(name))); err != nil {
		return err
	}
	switch v := value.(type) {
	case *view:
		return f.addTensor(name, v)
	case *pickle.Dict:
		return f.walkDict(name, v, depth)
	case *pickle.List:
		return f.walkItems(name, v.Items, depth)
	case pickle.Tuple:
		return f.walkItems(name, v, depth)
	}
	return f.addMetadata(name, value)
}

func (f *flat) walkDict(name string, dict *pickle.Dict, depth int) error {
	for key, value := range dict.All() {
		text, ok := scalarText(key)
		if !ok {
			return fmt.Errorf("a key in %.100q is a %T, which cannot be part of a tensor name", name, key)
		}
		if err := f.walk(join(name, text, depth), value, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (f *flat) walkItems(name string, items []any, depth int) error {
	for i, item := range items {
		if err := f.walk(join(name, strconv.Itoa(i), depth), item, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// join puts a dot between the names of a container and of its entry.
func join(name, entry string, depth int) string {
	if depth == 0 {
		return entry
	}
	return name + "." + entry
}

func (f *flat) addTensor(name string, v *view) error {
	if f.seen[name] {
		return fmt.Errorf("duplicate tensor name %q", name)
	}
	f.seen[name] = true
	f.tensors = append(f.tensors, named{name: name, view: v})
	return nil
}

func (f *flat) addMetadata(name string, value any) error {
	text, ok := scalarText(value)
	if !ok {
		return nil // left out; see the package comment
	}
	if _, twice := f.metadata[name]; twice {
		return fmt.Errorf("duplicate entry name %q", name)
	}
	f.metadata[name] = text
	return nil
}

// scalarText formats a plain value without loss of digits.
func scalarText(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	case *big.Int:
		return v.String(), true
	}
	return "", false
}

// set loads the storages of the tensors and copies the tensors.
func (f *flat) set(kind Format, load func(*storage) error) (*Set, error) {
	set := &Set{Format: kind, Tensors: make([]Tensor, 0, len(f.tensors))}
	if len(f.metadata) > 0 {
		set.Metadata = f.metadata
	}
	for _, n := range f.tensors {
		t, err := f.tensor(n, load)
		if err != nil {
			return nil, fmt.Errorf("tensor %.200q: %w", n.name, err)
		}
		set.Tensors = append(set.Tensors, t)
	}
	return set, nil
}

func (f *flat) tensor(n named, load func(*storage) error) (Tensor, error) {
	v := n.view
	if err := v.check(); err != nil {
		return Tensor{}, err
	}
	size, err := byteCount(v.storage.dtype, v.shape)
	if err != nil {
		return Tensor{}, err
	}
	if err := f.graph.charge(size); err != nil {
		return Tensor{}, err
	}
	if err := loadOnce(v.storage, load); err != nil {
		return Tensor{}, err
	}
	return Tensor{Name: n.name, DType: v.storage.dtype, Shape: v.shape, Data: v.bytes()}, nil
}

// loadOnce fills in the bytes of a storage, or of its root.
func loadOnce(s *storage, load func(*storage) error) error {
	if s.loaded {
		return nil
	}
	if s.root == nil {
		s.loaded = true
		return load(s)
	}
	if err := loadOnce(s.root, load); err != nil {
		return err
	}
	size := s.dtype.Size()
	s.data = s.root.data[s.offset*size : (s.offset+s.count)*size]
	s.loaded = true
	return nil
}
