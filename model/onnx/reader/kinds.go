package reader

import (
	"slices"
	"strings"
)

// Numbers of TensorProto.DataType.
const (
	kindInt64 = 7
	kindBool  = 9
)

// integral reports whether a value has an integer type, whose division truncates in ONNX.
func (b *builder) integral(name string) bool {
	switch b.message.kinds[name] {
	case 2, 3, 4, 5, 6, kindInt64, 12, 13:
		return true
	}
	return false
}

// truths are the operators whose results are truth values.
var truths = strings.Fields("Equal Not Greater GreaterOrEqual Less LessOrEqual And Or Xor IsNaN")

// setKinds records the types of a node's results if the file does not state them. Results have the type of the first
// input, except for the operators below.
func (b *builder) setKinds(n *node) {
	kind := int64(0)
	if len(n.in) > 0 {
		kind = b.message.kinds[n.in[0]]
	}
	switch {
	case n.op == "Shape" || n.op == "ArgMax" || n.op == "ArgMin":
		kind = kindInt64
	case slices.Contains(truths, n.op):
		kind = kindBool
	case n.op == "Cast" && n.attributes["to"] != nil:
		kind = n.attributes["to"].whole
	case n.op == "Where" && len(n.in) > 1:
		kind = b.message.kinds[n.in[1]]
	case n.op == "Constant" && n.attributes["value"] != nil && n.attributes["value"].tensor != nil:
		kind = n.attributes["value"].tensor.kind
	}
	for k, name := range n.out {
		if n.op == "TopK" && k == 1 {
			kind = kindInt64
		}
		if _, stated := b.message.kinds[name]; !stated {
			b.message.kinds[name] = kind
		}
	}
}
