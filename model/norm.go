package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"graft/torch"
)

// BatchNorm is PyTorch's BatchNorm2d, for images, or BatchNorm1d, for lists of features. It normalises each channel
// over the batch.
type BatchNorm struct {
	Features int
	Flat     bool // normalises features (BatchNorm1d); false normalises images (BatchNorm2d)
	Eps      float64
	Momentum float64
	Affine   bool
	Track    bool // keeps running statistics for eval mode
}

// NewBatchNorm2d creates a batch normalisation over images with PyTorch's defaults.
func NewBatchNorm2d(features int) BatchNorm {
	return BatchNorm{Features: features, Eps: 1e-5, Momentum: 0.1, Affine: true, Track: true}
}

// String returns the layer as PyTorch prints it.
func (n BatchNorm) String() string {
	dims := 2
	if n.Flat {
		dims = 1
	}
	return fmt.Sprintf("BatchNorm%dd(%d, eps=%s, momentum=%s, affine=%s, track_running_stats=%s)", dims, n.Features,
		python(n.Eps), python(n.Momentum), python(n.Affine), python(n.Track))
}

// Slots returns the affine parameters and the running statistics.
func (n BatchNorm) Slots() []Slot {
	slots := affine(n.Affine, n.Features)
	if n.Track {
		shape, axes := []int{n.Features}, []Axis{Out}
		slots = append(slots, Slot{Name: "running_mean", Role: Mean, Shape: shape, Axes: axes},
			Slot{Name: "running_var", Role: Var, Shape: shape, Axes: axes},
			Slot{Name: "num_batches_tracked", Role: Seen})
	}
	return slots
}

// affine returns the slots of a normalisation's parameters; the first dimension is the channels.
func affine(has bool, shape ...int) []Slot {
	if !has {
		return nil
	}
	axes := make([]Axis, len(shape))
	axes[0] = Out
	return []Slot{{Name: "weight", Role: Scale, Shape: shape, Axes: axes},
		{Name: "bias", Role: Bias, Shape: shape, Axes: axes}}
}

// Infer returns the input shape.
func (n BatchNorm) Infer(in Shape) (Shape, error) {
	if n.Features < 1 {
		return nil, errors.New("a BatchNorm layer must have at least one channel")
	}
	if n.Flat != (len(in) == 1) {
		return nil, fmt.Errorf("%s got input shape %v; use BatchNorm2d for images and BatchNorm1d for features", n, in)
	}
	if in[0] != n.Features {
		return nil, fmt.Errorf("%s expects %d channels, got %d", n, n.Features, in[0])
	}
	return in, nil
}

// Operations counts the subtraction, division, scale and shift of each value.
func (n BatchNorm) Operations(in, _ Shape) int64 { return 4 * int64(in.Count()) }

// Channels reports that the channels stay the same.
func (n BatchNorm) Channels() Channels { return Channels{} }

// Resize returns the layer with a different number of channels.
func (n BatchNorm) Resize(in, _ int) Layer {
	n.Features = in
	return n
}

// Emit adds the batch normalisation to a program.
func (n BatchNorm) Emit(b *torch.Builder, x torch.Value, w []*torch.Tensor) torch.Value {
	return b.BatchNorm(x, n.Bind(w))
}

// Bind combines the layer's settings with its tensors.
func (n BatchNorm) Bind(w []*torch.Tensor) torch.BatchNorm {
	bound := torch.BatchNorm{Momentum: n.Momentum, Eps: n.Eps}
	if n.Affine {
		bound.Weight, bound.Bias, w = w[0], w[1], w[2:]
	}
	if n.Track {
		bound.Mean, bound.Var, bound.Seen = w[0], w[1], w[2]
	}
	return bound
}

// LayerNorm normalises each example over all of its dimensions.
type LayerNorm struct {
	Sizes  []int
	Eps    float64
	Affine bool
}

// String returns the layer as PyTorch prints it.
func (n LayerNorm) String() string {
	sizes := strings.ReplaceAll(strings.Trim(fmt.Sprint(n.Sizes), "[]"), " ", ", ")
	if len(n.Sizes) == 1 {
		sizes += ","
	}
	return fmt.Sprintf("LayerNorm((%s), eps=%s, elementwise_affine=%s)", sizes, python(n.Eps), python(n.Affine))
}

// Slots returns the affine parameters.
func (n LayerNorm) Slots() []Slot { return affine(n.Affine, n.Sizes...) }

// Infer returns the input shape.
func (n LayerNorm) Infer(in Shape) (Shape, error) {
	if !slices.Equal(n.Sizes, in) {
		return nil, fmt.Errorf("%s got input shape %v; the layer must normalise over the whole example", n, in)
	}
	return in, nil
}

// Operations counts the same operations as BatchNorm, plus the sums for the mean and the variance.
func (n LayerNorm) Operations(in, _ Shape) int64 { return 7 * int64(in.Count()) }

// Channels reports that all channels form one group.
func (n LayerNorm) Channels() Channels { return Channels{Groups: 1} }

// Resize returns the layer with a different number of channels.
func (n LayerNorm) Resize(in, _ int) Layer {
	n.Sizes = append([]int{in}, n.Sizes[1:]...)
	return n
}

// Emit adds the layer normalisation to a program.
func (n LayerNorm) Emit(b *torch.Builder, x torch.Value, w []*torch.Tensor) torch.Value {
	return b.LayerNorm(x, at(w, 0), at(w, 1), n.Eps, n.Sizes...)
}

// GroupNorm normalises each example over groups of channels.
type GroupNorm struct {
	Groups, Features int
	Eps              float64
	Affine           bool
}

// String returns the layer as PyTorch prints it.
func (n GroupNorm) String() string {
	return fmt.Sprintf("GroupNorm(%d, %d, eps=%s, affine=%s)", n.Groups, n.Features, python(n.Eps), python(n.Affine))
}

// Slots returns the affine parameters.
func (n GroupNorm) Slots() []Slot { return affine(n.Affine, n.Features) }

// Infer returns the input shape.
func (n GroupNorm) Infer(in Shape) (Shape, error) {
	if n.Groups < 1 || n.Features < 1 || n.Features%n.Groups != 0 {
		return nil, fmt.Errorf("%s: the number of groups must divide the number of channels", n)
	}
	if in[0] != n.Features {
		return nil, fmt.Errorf("%s expects %d channels, got %d", n, n.Features, in[0])
	}
	return in, nil
}

// Operations counts the same operations as LayerNorm.
func (n GroupNorm) Operations(in, _ Shape) int64 { return 7 * int64(in.Count()) }

// Channels reports the number of groups that the layer normalises.
func (n GroupNorm) Channels() Channels { return Channels{Groups: n.Groups} }

// Resize returns the layer with a different number of channels. The number of groups changes, so that groups keep their
// size.
func (n GroupNorm) Resize(in, _ int) Layer {
	n.Groups, n.Features = n.Groups*in/n.Features, in
	return n
}

// Emit adds the group normalisation to a program.
func (n GroupNorm) Emit(b *torch.Builder, x torch.Value, w []*torch.Tensor) torch.Value {
	return b.GroupNorm(x, at(w, 0), at(w, 1), n.Eps, n.Groups)
}
