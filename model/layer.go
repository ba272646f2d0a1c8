package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"graft/torch"
)

// Layer is what a leaf does and how large it is, apart from its weights. Layers
// are values: one is never changed, only replaced.
type Layer interface {
	// String is the layer as PyTorch prints it, such as "ReLU()".
	String() string
	// Slots are the layer's tensors in the order of a state dict.
	Slots() []Slot
	// Infer is the shape that comes out for one example of the given shape.
	Infer(in Shape) (Shape, error)
	// Operations counts floating-point operations for one example; a multiply
	// and an add are two.
	Operations(in, out Shape) int64
	// Channels says what happens to the channels on the way through.
	Channels() Channels
	// Resize is the layer for other numbers of channels. Where channels are tied
	// in groups, their sizes stay and their number changes.
	Resize(in, out int) Layer
	// Emit adds the layer to a program.
	Emit(b *torch.Builder, x torch.Value, weights []*torch.Tensor) torch.Value
}

// Channels is what a layer does to channels, the first dimension of an example.
// The zero value passes each on by itself.
type Channels struct {
	// Opens says that each output is made from all inputs and is a channel of
	// its own.
	Opens bool
	// Groups says in how many runs of equal length the channels are worked on
	// together, where they are: only whole runs can be copied. Zero means that
	// each channel is by itself.
	Groups int
}

// Role is what a tensor of a layer is for.
type Role int

// The roles. An optimizer moves weights and biases; the others are statistics.
const (
	Weight Role = iota
	Bias
	Scale // a normalisation's weight
	Mean
	Var
	Seen // how many batches the statistics have met
)

// Trained says whether an optimizer moves tensors of this role.
func (r Role) Trained() bool { return r <= Scale }

// Axis is which channels a dimension of a tensor runs over.
type Axis int

// The axes. The zero Axis has nothing to do with channels.
const (
	Inner Axis = iota // taps of a kernel, positions
	Out               // the channels that the layer gives
	In                // the channels that it takes, summed over
)

// Slot is a place for a tensor in a layer.
type Slot struct {
	Name  string // as in a state dict
	Role  Role
	Shape []int
	Axes  []Axis // one for each dimension of Shape
}

// Count is the number of values.
func (s Slot) Count() int { return Shape(s.Shape).Count() }

// DType is the type of the slot's values in a network of the given type.
func (s Slot) DType(network torch.DType) torch.DType {
	if s.Role == Seen {
		return torch.Int64
	}
	return network
}

// Shape is the dimensions of one example: channels, height and width, or
// features alone.
type Shape []int

// Count is the number of values.
func (s Shape) Count() int {
	n := 1
	for _, size := range s {
		n *= size
	}
	return n
}

// String is such as 3x32x32.
func (s Shape) String() string {
	words := make([]string, len(s))
	for k, n := range s {
		words[k] = strconv.Itoa(n)
	}
	return strings.Join(words, "x")
}

// ParseShape reads what String gives.
func ParseShape(text string) (Shape, error) {
	var s Shape
	for _, word := range strings.Split(text, "x") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > 1<<20 {
			return nil, fmt.Errorf("%q is no shape; write channels, height and width such as 3x32x32, or features such as 784", text)
		}
		s = append(s, n)
	}
	if len(s) != 1 && len(s) != 3 {
		return nil, fmt.Errorf("%q has %d dimensions; an example has one (features) or three (channels, height, width)", text, len(s))
	}
	return s, nil
}

// Pair is a height and a width. PyTorch prints some of them as they were given:
// Single says that it was one number.
type Pair struct {
	H, W   int
	Single bool
}

// Both is a pair of equal numbers, printed as two.
func Both(n int) Pair { return Pair{H: n, W: n} }

// One is a pair of equal numbers, printed as one.
func One(n int) Pair { return Pair{H: n, W: n, Single: true} }

// String is (3, 3), or 3 where it was given so.
func (p Pair) String() string {
	if p.Single && p.H == p.W {
		return strconv.Itoa(p.H)
	}
	return fmt.Sprintf("(%d, %d)", p.H, p.W)
}

func (p Pair) ints() [2]int { return [2]int{p.H, p.W} }

// equal ignores how the pair was given.
func (p Pair) equal(h, w int) bool { return p.H == h && p.W == w }

// python writes truth values and numbers as Python does.
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

// PythonFloat is the shortest decimal that reads back equal, in the notation that
// Python's repr chooses: exponents below 1e-4 and from 1e16.
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

// image is an error where an example is no image, or has other channels than the
// layer takes; zero channels take any.
func image(l Layer, in Shape, channels int) error {
	if len(in) != 3 {
		return fmt.Errorf("%s takes images, channels x height x width, and gets %v", l, in)
	}
	if channels > 0 && in[0] != channels {
		return fmt.Errorf("%s takes %d channels and gets %d", l, channels, in[0])
	}
	return nil
}

// slide is the number of places that a window has along one dimension; up lets the
// last window reach over the edge.
func slide(size, kernel, stride, padding, dilation int, up bool) int {
	span := size + 2*padding - dilation*(kernel-1) - 1
	if up {
		span += stride - 1
	}
	if span < 0 {
		return 0
	}
	n := span/stride + 1
	// But it starts inside of the image or of the padding before it.
	if up && (n-1)*stride >= size+padding {
		n--
	}
	return n
}

// passes is embedded by layers without weights that leave channels alone.
type passes struct{}

// Slots is empty.
func (passes) Slots() []Slot { return nil }

// Channels passes each channel on.
func (passes) Channels() Channels { return Channels{} }

// Same says whether two shapes are equal.
func (s Shape) Same(other Shape) bool { return slices.Equal(s, other) }

// samePlace says whether two shapes have the same positions.
func samePlace(a, b Shape) bool { return len(a) == len(b) && slices.Equal(a[1:], b[1:]) }
