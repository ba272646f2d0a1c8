package reader

import (
	"encoding/binary"
	"fmt"
	"math"

	"graft/torch/weights"
)

// message is the supported part of a ModelProto.
type message struct {
	opset        int64
	functions    int
	nodes        []*node
	initializers []*tensor
	inputs       []*described
	outputs      []*described
	ranks        map[string]int   // ranks of values whose shape is in the file
	kinds        map[string]int64 // types of values that are in the file
}

// node is a NodeProto.
type node struct {
	op, domain, name string
	in, out          []string
	attributes       map[string]*attribute
	properties       map[string]string
}

// attribute is an AttributeProto.
type attribute struct {
	real   float32
	whole  int64
	text   string
	tensor *tensor
	reals  []float32
	list   []int64
	texts  []string
	graph  bool
}

// tensor is a TensorProto.
type tensor struct {
	name     string
	dims     []int64
	kind     int64
	raw      []byte
	reals    []float32
	wholes   []int64
	external bool
}

// described is a ValueInfoProto.
type described struct {
	name string
	kind int64
	dims []dim
	set  bool // a shape is given
}

type dim struct {
	size int64
	name string
}

// kinds are the numbers of TensorProto.DataType.
var kinds = map[int64]weights.DType{
	1: weights.Float32, 2: weights.Uint8, 3: weights.Int8, 5: weights.Int16, 6: weights.Int32, 7: weights.Int64,
	9: weights.Bool, 10: weights.Float16, 11: weights.Float64, 16: weights.BFloat16,
}

// firstOpset is the first supported operator set: in earlier sets, operators such as Softmax compute other results.
const firstOpset = 13

// mostNodes limits the operators of a model.
const mostNodes = 100_000

func parse(data []byte) (*message, error) {
	m, b := &message{ranks: map[string]int{}, kinds: map[string]int64{}}, &budget{}
	var graph []byte
	err := b.each(data, func(f field) error {
		switch f.number {
		case 7:
			graph = f.data
		case 8:
			return m.readOpset(b, f.data)
		case 25:
			m.functions++
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case graph == nil || m.opset == 0:
		return nil, fmt.Errorf("the file has no graph or no operator set; use an ONNX model")
	case m.opset < firstOpset:
		return nil, fmt.Errorf("the model uses operator set %d, expected %d or later; export it again with "+
			"opset_version=%d or later", m.opset, firstOpset, firstOpset)
	case m.functions > 0:
		return nil, fmt.Errorf("the model defines %d functions; export it with functions inlined", m.functions)
	}
	return m, m.readGraph(b, graph)
}

func (m *message) readOpset(b *budget, data []byte) error {
	domain, version := "", int64(0)
	err := b.each(data, func(f field) error {
		switch f.number {
		case 1:
			domain = string(f.data)
		case 2:
			version = int64(f.value)
		}
		return nil
	})
	if domain == "" || domain == "ai.onnx" {
		m.opset = version
	}
	return err
}

func (m *message) readGraph(b *budget, data []byte) error {
	return b.each(data, func(f field) error {
		switch f.number {
		case 1:
			n, err := b.parseNode(f.data)
			if m.nodes = append(m.nodes, n); len(m.nodes) > mostNodes {
				return fmt.Errorf("the model has more than %d operators", mostNodes)
			}
			return err
		case 5:
			t, err := b.parseTensor(f.data)
			m.initializers = append(m.initializers, t)
			return err
		case 15:
			return fmt.Errorf("the model has sparse tensors, which graft does not support")
		case 11, 12, 13:
			d, err := b.parseDescribed(f.data)
			if d.set {
				m.ranks[d.name] = len(d.dims)
			}
			if d.kind != 0 {
				m.kinds[d.name] = d.kind
			}
			switch f.number {
			case 11:
				m.inputs = append(m.inputs, d)
			case 12:
				m.outputs = append(m.outputs, d)
			}
			return err
		}
		return nil
	})
}

func (b *budget) parseNode(data []byte) (*node, error) {
	n := &node{attributes: map[string]*attribute{}, properties: map[string]string{}}
	return n, b.each(data, func(f field) error {
		switch f.number {
		case 1:
			n.in = append(n.in, string(f.data))
		case 2:
			n.out = append(n.out, string(f.data))
		case 3:
			n.name = string(f.data)
		case 4:
			n.op = string(f.data)
		case 5:
			name, a, err := b.parseAttribute(f.data)
			n.attributes[name] = a
			return err
		case 7:
			n.domain = string(f.data)
		case 9:
			key, value := "", ""
			err := b.each(f.data, func(f field) error {
				if f.number == 1 {
					key = string(f.data)
				} else if f.number == 2 {
					value = string(f.data)
				}
				return nil
			})
			n.properties[key] = value
			return err
		}
		return nil
	})
}

func (b *budget) parseAttribute(data []byte) (string, *attribute, error) {
	name, a := "", &attribute{}
	err := b.each(data, func(f field) (err error) {
		switch f.number {
		case 1:
			name = string(f.data)
		case 2:
			a.real = math.Float32frombits(uint32(f.value))
		case 3:
			a.whole = int64(f.value)
		case 4:
			a.text = string(f.data)
		case 5:
			a.tensor, err = b.parseTensor(f.data)
		case 6:
			a.graph = true
		case 7:
			a.reals = f.reals(a.reals)
		case 8:
			a.list, err = b.whole(f, a.list)
		case 9:
			a.texts = append(a.texts, string(f.data))
		}
		return err
	})
	return name, a, err
}

func (b *budget) parseTensor(data []byte) (*tensor, error) {
	t := &tensor{}
	return t, b.each(data, func(f field) (err error) {
		switch f.number {
		case 1:
			t.dims, err = b.whole(f, t.dims)
		case 2:
			t.kind = int64(f.value)
		case 4:
			t.reals = f.reals(t.reals)
		case 5, 7, 11:
			t.wholes, err = b.whole(f, t.wholes)
		case 8:
			t.name = string(f.data)
		case 9:
			t.raw = f.data
		case 10:
			t.raw = f.data // doubles, packed
		case 13:
			t.external = true
		case 14:
			t.external = t.external || f.value != 0
		}
		return err
	})
}

func (b *budget) parseDescribed(data []byte) (*described, error) {
	d := &described{}
	var tensorType, shape []byte
	err := b.each(data, func(f field) error {
		switch f.number {
		case 1:
			d.name = string(f.data)
		case 2:
			return b.each(f.data, func(f field) error {
				if f.number == 1 {
					tensorType = f.data
				}
				return nil
			})
		}
		return nil
	})
	if err == nil {
		err = b.each(tensorType, func(f field) error {
			switch f.number {
			case 1:
				d.kind = int64(f.value)
			case 2:
				shape, d.set = f.data, true
			}
			return nil
		})
	}
	if err == nil {
		err = b.each(shape, func(f field) error { return d.addDim(b, f.data) })
	}
	return d, err
}

func (d *described) addDim(b *budget, data []byte) error {
	size := dim{}
	err := b.each(data, func(f field) error {
		switch f.number {
		case 1:
			size.size = int64(f.value)
		case 2:
			size.name = string(f.data)
		}
		return nil
	})
	d.dims = append(d.dims, size)
	return err
}

// weights converts a tensor.
func (t *tensor) weights() (weights.Tensor, error) {
	w := weights.Tensor{Name: t.name, DType: kinds[t.kind], Shape: t.dims}
	switch {
	case t.external:
		return w, fmt.Errorf("tensor %.200q is in another file; export the model with its weights inside", t.name)
	case w.DType == weights.Invalid:
		return w, fmt.Errorf("tensor %.200q has ONNX type %d, which graft does not support", t.name, t.kind)
	}
	switch {
	case len(t.raw) > 0:
		w.Data = t.raw
	case w.DType == weights.Float32:
		for _, v := range t.reals {
			w.Data = binary.LittleEndian.AppendUint32(w.Data, math.Float32bits(v))
		}
	default:
		for _, v := range t.wholes {
			var item [8]byte
			binary.LittleEndian.PutUint64(item[:], uint64(v))
			w.Data = append(w.Data, item[:w.DType.Size()]...)
		}
	}
	if err := w.Validate(); err != nil {
		return w, fmt.Errorf("tensor %.200q: %w", t.name, err)
	}
	return w, nil
}

// ints returns the values of an integer tensor; false for other tensors and for large ones.
func (t *tensor) ints() ([]any, bool) {
	w, err := t.weights()
	if err != nil || w.DType != weights.Int64 || w.Count() > mostSizes {
		return nil, false
	}
	list := make([]any, w.Count())
	for k := range list {
		list[k] = int64(binary.LittleEndian.Uint64(w.Data[8*k:]))
	}
	return list, true
}
