package onnx

import (
	"encoding/binary"
	"fmt"
	"math"

	"graft/model"
)

// Numbers of fields and values in onnx.proto of ONNX 1.12.
const (
	typeFloat = 1 // TensorProto.DataType
	typeInt64 = 7

	attributeFloat = 1 // AttributeProto.AttributeType
	attributeInt   = 2
	attributeText  = 3
	attributeInts  = 7
	attributeTexts = 8
)

// graph collects nodes and initializers.
type graph struct {
	nodes, initializers []message
	values              int
}

// value is a result in the graph, and its shape for one example.
type value struct {
	name  string
	shape model.Shape
}

// attribute is a named setting of a node: a float64, an int, a string, a []int or a []string.
type attribute struct {
	name  string
	value any
}

func (a attribute) encode() (m message) {
	m.text(1, a.name)
	switch v := a.value.(type) {
	case float64:
		m.real(2, v)
		m.number(20, attributeFloat)
	case int:
		m.number(3, int64(v))
		m.number(20, attributeInt)
	case string:
		m.text(4, v)
		m.number(20, attributeText)
	case []int:
		for _, n := range v {
			m.number(8, int64(n))
		}
		m.number(20, attributeInts)
	case []string:
		for _, text := range v {
			m.text(9, text)
		}
		m.number(20, attributeTexts)
	}
	return m
}

func (g *graph) fresh() string {
	g.values++
	return fmt.Sprint("v", g.values)
}

// node adds an operator of the default domain and returns the name of its result.
func (g *graph) node(operator string, inputs []string, attributes ...attribute) string {
	out := g.fresh()
	g.add(operator, inputs, []string{out}, attributes)
	return out
}

// add adds an operator with results of given names.
func (g *graph) add(operator string, inputs, results []string, attributes []attribute) {
	var m message
	for _, in := range inputs {
		m.text(1, in)
	}
	for _, out := range results {
		m.text(2, out)
	}
	m.text(4, operator)
	for _, a := range attributes {
		m.bytes(5, a.encode())
	}
	g.nodes = append(g.nodes, m)
}

// tensor adds an initializer.
func (g *graph) tensor(name string, kind int64, dims []int, data []byte) string {
	var m message
	for _, d := range dims {
		m.number(1, int64(d))
	}
	m.number(2, kind)
	m.text(8, name)
	m.bytes(9, data)
	g.initializers = append(g.initializers, m)
	return name
}

// floats adds an initializer of constants. Finite values stay finite, such as the smallest float64 in a mask: a row of
// infinities has no softmax.
func (g *graph) floats(values []float64, dims ...int) string {
	var data []byte
	for _, v := range values {
		if !math.IsInf(v, 0) && math.Abs(v) > math.MaxFloat32 {
			v = math.Copysign(math.MaxFloat32, v)
		}
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(v)))
	}
	return g.tensor(g.fresh(), typeFloat, dims, data)
}

// shape adds an initializer for Reshape.
func (g *graph) shape(dims ...int) string {
	var data []byte
	for _, d := range dims {
		data = binary.LittleEndian.AppendUint64(data, uint64(d))
	}
	return g.tensor(g.fresh(), typeInt64, []int{len(dims)}, data)
}

// described is a ValueInfoProto: a float32 tensor of a batch of examples.
func described(v value) (m message) {
	var dims, tensor, kind message
	batch := message{}
	batch.text(2, "batch")
	dims.bytes(1, batch)
	for _, size := range v.shape {
		var d message
		d.number(1, int64(size))
		dims.bytes(1, d)
	}
	tensor.number(1, typeFloat)
	tensor.bytes(2, dims)
	kind.bytes(1, tensor)
	m.text(1, v.name)
	m.bytes(2, kind)
	return m
}
