package model

import "fmt"

// Row holds the costs of a layer, for one example.
type Row struct {
	Path       string
	Leaf       *Leaf // leaf that has the layer
	In, Out    Shape
	Parameters int     // number of values that an optimizer trains
	Buffers    int     // number of other values, such as running statistics
	Operations int64   // floating-point operations of a forward pass; a multiply and an add are two
	Padding    Padding // additional operations for rounded channels
	// ActivationBytes is the size of the layer's output in float32, in bytes.
	ActivationBytes int64
}

// Sheet returns a row per layer in execution order. A layer that runs twice has two rows; its parameters are counted in
// the first row. A returned error has the type Faults.
func (n *Network) Sheet() ([]Row, error) {
	if n.Graph != nil {
		return n.graphSheet()
	}
	s := &sheet{seen: map[*Leaf]bool{}}
	_, err := Run[Shape](n, n.Input, s)
	return s.rows, err
}

type sheet struct {
	rows []Row
	seen map[*Leaf]bool
}

// Layer infers the output shape of a layer, and adds a row with the layer's costs.
func (s *sheet) Layer(at Place, leaf *Leaf, in Shape) (Shape, error) {
	out, err := leaf.Layer.Infer(in)
	if err != nil {
		return nil, Faults{{Path: at.Path, Text: err.Error() + s.before()}}
	}
	if err := bounded(leaf.Layer, out); err != nil {
		return nil, Faults{{Path: at.Path, Text: err.Error()}}
	}
	row := Row{Path: at.Path, Leaf: leaf, In: in, Out: out, Operations: leaf.Layer.Operations(in, out),
		ActivationBytes: 4 * int64(out.Count())}
	row.Padding = layerPadding(leaf.Layer, row.Operations)
	if !s.seen[leaf] {
		row.Parameters, row.Buffers = Counts(leaf.Layer)
		s.seen[leaf] = true
	}
	s.rows = append(s.rows, row)
	return out, nil
}

// mostValues limits tensors, far beyond the memory of any device and far below an overflow of counts.
const mostValues = 1 << 40

// bounded rejects layers with tensors beyond mostValues.
func bounded(l Layer, out Shape) error {
	shapes := []Shape{out}
	for _, slot := range l.Slots() {
		shapes = append(shapes, slot.Shape)
	}
	for _, shape := range shapes {
		values := 1.0
		for _, size := range shape {
			values *= float64(size)
		}
		if values > mostValues {
			return fmt.Errorf("%s has a tensor of shape %v, which exceeds any machine's memory", l, shape)
		}
	}
	return nil
}

// before names the previous layer.
func (s *sheet) before() string {
	if len(s.rows) == 0 {
		return ", the network's input"
	}
	last := s.rows[len(s.rows)-1]
	return fmt.Sprintf(" (the previous layer, %s, %s, outputs %v)", last.Path, last.Leaf.Layer, last.Out)
}

// Sum returns the shape of a sum, or an error if the two shapes differ.
func (s *sheet) Sum(path string, body, shortcut Shape) (Shape, error) {
	if len(body) != len(shortcut) || body[0] != shortcut[0] || !samePlace(body, shortcut) {
		return nil, Faults{{Path: path,
			Text: fmt.Sprintf("the body outputs %v and the shortcut %v; a sum needs equal shapes", body, shortcut)}}
	}
	return body, nil
}

// Cat returns the shape of a concatenation, or an error if the shapes of the parts differ in anything but channels.
func (s *sheet) Cat(path string, parts []Shape) (Shape, error) {
	sum := append(Shape{0}, parts[0][1:]...)
	for _, part := range parts {
		if !samePlace(part, sum) {
			return nil, Faults{{Path: path,
				Text: fmt.Sprintf("the branches output %v; the shapes may differ only in channels", parts)}}
		}
		sum[0] += part[0]
	}
	return sum, nil
}

// Counts returns the number of values in a layer that are trained, and the number of values that are not.
func Counts(l Layer) (parameters, buffers int) {
	for _, slot := range l.Slots() {
		switch {
		case slot.Tied != "": // counted with the tensor that shares its memory
		case slot.Role.Trained():
			parameters += slot.Count()
		default:
			buffers += slot.Count()
		}
	}
	return parameters, buffers
}

// Parameters returns the number of values that an optimizer trains.
func (n *Network) Parameters() int {
	sum := 0
	for _, leaf := range n.Leaves() {
		parameters, _ := Counts(leaf.Layer)
		sum += parameters
	}
	return sum
}

// Operations returns the floating-point operations of a forward pass over one example: the sum over the rows of Sheet.
// Additions at the end of residual connections are not counted.
func (n *Network) Operations() (int64, error) {
	rows, err := n.Sheet()
	sum := int64(0)
	for _, r := range rows {
		sum += r.Operations
	}
	return sum, err
}

// Output returns the output shape.
func (n *Network) Output() (Shape, error) {
	if n.Graph != nil {
		return n.graphOutput()
	}
	return Run[Shape](n, n.Input, &sheet{seen: map[*Leaf]bool{}})
}
