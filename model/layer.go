package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"graft/torch"
)

// Layer describes what a layer of a network computes, and its size, without its weights. Layers are immutable values.
type Layer interface {
	// String returns the layer as PyTorch prints it, such as "ReLU()".
	String() string
	// Slots returns the layer's tensors in the order of a state dict.
	Slots() []Slot
	// Infer returns the output shape for an example with the given shape.
	Infer(in Shape) (Shape, error)
	// Operations returns the number of floating-point operations for one example; a multiply and an add count as two.
	Operations(in, out Shape) int64
	// Channels describes how outputs depend on the channels of the input.
	Channels() Channels
	// Emit adds the layer to a program.
	Emit(b *torch.Builder, x torch.Value, weights []*torch.Tensor) torch.Value
}

// Resizable is a layer whose number of input and output channels can change.
type Resizable interface {
	// Resize returns the layer with different numbers of channels. Groups keep their size; their number changes.
	Resize(in, out int) Layer
}

// Resized returns a layer with different numbers of channels. A layer that is not Resizable is returned unchanged.
func Resized(l Layer, in, out int) Layer {
	if r, ok := l.(Resizable); ok {
		return r.Resize(in, out)
	}
	return l
}

// Channels describes how the output channels of a layer depend on its input channels. Channels are the first dimension
// of an example. The zero value means that each output channel depends only on the input channel with the same index.
type Channels struct {
	// Opens reports whether the layer creates new channels, each of which depends on all input channels.
	Opens bool
	// Groups is the number of equal groups of consecutive channels within which the layer combines channels; a wider
	// layer contains copies of whole groups. Zero means that each channel is separate.
	Groups int
}

// Role names the purpose of a layer's tensor.
type Role int

// Roles of tensors. An optimizer trains weights, biases and scales; the others are statistics and constants.
const (
	Weight Role = iota
	Bias
	Scale // weight of a normalisation
	Mean
	Var
	Seen     // number of batches in the statistics
	Kept     // buffer of a graph
	Constant // tensor of a graph that is not in the state dict
)

// Trained reports whether an optimizer trains tensors of this role.
func (r Role) Trained() bool { return r <= Scale }

// Axis names the kind of channels that a dimension of a tensor indexes.
type Axis int

// Kinds of dimensions. The zero Axis indexes no channels.
const (
	Inner Axis = iota // taps of a kernel, or positions
	Out               // output channels
	In                // input channels, over which the layer sums
)

// Slot describes a tensor of a layer.
type Slot struct {
	Name  string // name in the layer's part of a state dict
	Role  Role
	Shape []int
	Axes  []Axis // kind of each dimension of Shape
	// Tied is the full name of another tensor whose memory this tensor shares; usually empty.
	Tied string
	Type torch.DType // data type of a tensor that does not have the network's type; usually zero
}

// Count returns the number of values.
func (s Slot) Count() int { return Shape(s.Shape).Count() }

// DType returns the data type of the slot's values. The argument is the data type of the network.
func (s Slot) DType(network torch.DType) torch.DType {
	if s.Role == Seen {
		return torch.Int64
	}
	if s.Type != 0 && s.Role >= Kept {
		return s.Type
	}
	return network
}

// Shape lists the dimensions of one example: channels, height and width, or a number of features.
type Shape []int

// Count returns the number of values.
func (s Shape) Count() int {
	n := 1
	for _, size := range s {
		n *= size
	}
	return n
}

// String formats the shape, such as 3x32x32.
func (s Shape) String() string {
	words := make([]string, len(s))
	for k, n := range s {
		words[k] = strconv.Itoa(n)
	}
	return strings.Join(words, "x")
}

// ParseShape parses the format of String.
func ParseShape(text string) (Shape, error) {
	var s Shape
	for _, word := range strings.Split(text, "x") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > 1<<20 {
			return nil, fmt.Errorf("%q is not a shape; expected channels, height and width such as 3x32x32, "+
				"or features such as 784", text)
		}
		s = append(s, n)
	}
	if len(s) != 1 && len(s) != 3 {
		return nil, fmt.Errorf("%q has %d dimensions, expected one (features) or three (channels, height, width)",
			text, len(s))
	}
	return s, nil
}

// Pair is a height and a width. Single reports whether the pair was given as one number, which affects the text that
// PyTorch prints.
type Pair struct {
	H, W   int
	Single bool
}

// Both returns a pair of equal numbers, printed as two numbers.
func Both(n int) Pair { return Pair{H: n, W: n} }

// One returns a pair of equal numbers, printed as one number.
func One(n int) Pair { return Pair{H: n, W: n, Single: true} }

// String formats the pair as (3, 3), or as 3 if it is Single.
func (p Pair) String() string {
	if p.Single && p.H == p.W {
		return strconv.Itoa(p.H)
	}
	return fmt.Sprintf("(%d, %d)", p.H, p.W)
}

func (p Pair) ints() [2]int { return [2]int{p.H, p.W} }

// equal compares pairs, whether they are Single or not.
func (p Pair) equal(h, w int) bool { return p.H == h && p.W == w }

// python formats booleans and numbers as Python does.
func python(v any) string {
	switch v := v.(type) {
	case bool:
		if v {
			return "True"
		}
		return "False"
	case float64:
		return PythonFloat(v)
	default:
		return fmt.Sprint(v)
	}
}

// PythonFloat formats a number as Python's repr does, as the shortest decimal that parses to an equal value. Numbers
// below 1e-4, and numbers of at least 1e16, have an exponent.
func PythonFloat(v float64) string {
	text := strconv.FormatFloat(v, 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	n, _ := strconv.Atoi(exponent)
	if n < -4 || n >= 16 {
		return fmt.Sprintf("%se%+03d", mantissa, n)
	}
	text = strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// image returns an error if an example is not an image or its number of channels is wrong; zero channels allow any.
func image(l Layer, in Shape, channels int) error {
	if len(in) != 3 {
		return fmt.Errorf("%s expects images of shape [channels, height, width], got %v", l, in)
	}
	if channels > 0 && in[0] != channels {
		return fmt.Errorf("%s expects %d channels, got %d", l, channels, in[0])
	}
	return nil
}

// slide is the number of positions of a window along one dimension; up lets the last window extend beyond the edge.
func slide(size, kernel, stride, padding, dilation int, up bool) int {
	span := size + 2*padding - dilation*(kernel-1) - 1
	if up {
		span += stride - 1
	}
	if span < 0 {
		return 0
	}
	n := span/stride + 1
	// It must start inside of the image or of the padding before it.
	if up && (n-1)*stride >= size+padding {
		n--
	}
	return n
}

// passes is embedded in layers without weights that pass channels on.
type passes struct{}

// Slots returns nil: the layer has no tensors.
func (passes) Slots() []Slot { return nil }

// Channels reports that the channels stay the same.
func (passes) Channels() Channels { return Channels{} }

// Same reports whether two shapes are equal.
func (s Shape) Same(other Shape) bool { return slices.Equal(s, other) }

// samePlace reports whether two shapes have the same positions.
func samePlace(a, b Shape) bool { return len(a) == len(b) && slices.Equal(a[1:], b[1:]) }
