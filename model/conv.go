package model

import (
	"errors"
	"fmt"
	"strings"

	"graft/torch"
)

// Conv2d is a convolution over images. Strides, dilations and groups must be above zero; NewConv2d sets them to one.
type Conv2d struct {
	In, Out                           int // number of input channels, and number of output channels
	Kernel, Stride, Padding, Dilation Pair
	Groups                            int
	Bias                              bool
}

// NewConv2d creates a convolution with a square kernel and PyTorch's defaults.
func NewConv2d(in, out, kernel int) Conv2d {
	return Conv2d{In: in, Out: out, Kernel: Both(kernel), Stride: Both(1), Padding: Both(0), Dilation: Both(1),
		Groups: 1, Bias: true}
}

// String returns the layer as PyTorch prints it: most arguments with default values are omitted.
func (c Conv2d) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Conv2d(%d, %d, kernel_size=%v, stride=%v", c.In, c.Out, c.Kernel, c.Stride)
	if !c.Padding.equal(0, 0) {
		fmt.Fprintf(&b, ", padding=%v", c.Padding)
	}
	if !c.Dilation.equal(1, 1) {
		fmt.Fprintf(&b, ", dilation=%v", c.Dilation)
	}
	if c.Groups != 1 {
		fmt.Fprintf(&b, ", groups=%d", c.Groups)
	}
	if !c.Bias {
		b.WriteString(", bias=False")
	}
	return b.String() + ")"
}

// Slots returns the weight and the bias.
func (c Conv2d) Slots() []Slot {
	in := In
	if c.Groups > 1 {
		in = Inner // within a group; groups are copied whole
	}
	slots := []Slot{{Name: "weight", Role: Weight, Shape: []int{c.Out, c.In / c.Groups, c.Kernel.H, c.Kernel.W},
		Axes: []Axis{Out, in, Inner, Inner}}}
	if c.Bias {
		slots = append(slots, Slot{Name: "bias", Role: Bias, Shape: []int{c.Out}, Axes: []Axis{Out}})
	}
	return slots
}

// Infer returns the shape after the convolution.
func (c Conv2d) Infer(in Shape) (Shape, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if err := image(c, in, c.In); err != nil {
		return nil, err
	}
	h := slide(in[1], c.Kernel.H, c.Stride.H, c.Padding.H, c.Dilation.H, false)
	w := slide(in[2], c.Kernel.W, c.Stride.W, c.Padding.W, c.Dilation.W, false)
	if h < 1 || w < 1 {
		return nil, fmt.Errorf("the kernel of %s is larger than its %dx%d input", c, in[1], in[2])
	}
	return Shape{c.Out, h, w}, nil
}

func (c Conv2d) check() error {
	low := min(c.In, c.Out, c.Kernel.H, c.Kernel.W, c.Stride.H, c.Stride.W, c.Dilation.H, c.Dilation.W, c.Groups)
	if low < 1 || min(c.Padding.H, c.Padding.W) < 0 {
		return errors.New("channels, kernel, stride, dilation and groups of a convolution must be at least 1, " +
			"and the padding must be at least 0")
	}
	if c.In%c.Groups != 0 || c.Out%c.Groups != 0 {
		return fmt.Errorf("%s: the number of groups, %d, must divide the numbers of channels, %d "+
			"and %d", c, c.Groups, c.In, c.Out)
	}
	return nil
}

// Operations counts two operations for each multiply-add of the kernel, and one for each addition of the bias.
func (c Conv2d) Operations(_, out Shape) int64 {
	return int64(out.Count()) * int64(2*c.In/c.Groups*c.Kernel.H*c.Kernel.W+count(c.Bias))
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Channels reports that the layer creates new channels. For a grouped convolution, it reports the number of groups
// instead.
func (c Conv2d) Channels() Channels {
	if c.Groups > 1 {
		return Channels{Groups: c.Groups}
	}
	return Channels{Opens: true}
}

// Resize returns the layer with the given numbers of input and output channels. The number of channels per group stays
// the same.
func (c Conv2d) Resize(in, out int) Layer {
	if c.Groups > 1 {
		c.Groups = c.Groups * in / c.In
	}
	c.In, c.Out = in, out
	return c
}

// Emit adds the convolution to a program.
func (c Conv2d) Emit(b *torch.Builder, x torch.Value, w []*torch.Tensor) torch.Value {
	return b.Conv2D(x, w[0], at(w, 1), c.Plane())
}

// Plane describes the layer's window.
func (c Conv2d) Plane() torch.Plane {
	return torch.Plane{Kernel: c.Kernel.ints(), Stride: c.Stride.ints(), Padding: c.Padding.ints(),
		Dilation: c.Dilation.ints(), Groups: c.Groups}
}

// at returns an optional tensor.
func at(w []*torch.Tensor, k int) *torch.Tensor {
	if k < len(w) {
		return w[k]
	}
	return nil
}
