package torch

// #include "graft.h"
import "C"

import (
	"errors"

	"graft/internal/validate"
)

// Augment selects the random changes that a training step makes to its images [N, C, H, W]: the operations of
// RandAugment, a shift, a flip, a square hole, and then mixup. Each image is changed independently. Pixels outside the
// image and in the hole are 0, which is black for a program that normalises its input. The zero Augment changes
// nothing.
type Augment struct {
	Pad  int  // Maximum random shift in each direction, in pixels. Zero means no shift.
	Flip bool // Flips each image left to right with probability 0.5. Default false.
	// Side length of a square hole in each image, in pixels; the hole's centre is a random point of the image. Zero
	// means no hole.
	Cutout int
	// Number of random operations per image, applied one after the other as in torchvision's RandAugment: shear,
	// translation, rotation, a change of brightness, colour, contrast, sharpness or levels, or no change. Zero turns
	// RandAugment off.
	RandAugment int `json:",omitempty"`
	// Strength of the operations of rand_augment, from 1 to 30. Zero means 9.
	Magnitude int `json:",omitempty"`
	// Parameter α of mixup (Zhang et al. 2018), which mixes each image with another image of the batch, and mixes their
	// losses; the mixing ratio of a step is drawn from the distribution Beta(α, α). Zero means no mixing.
	Mixup float64 `json:",omitempty"`
}

// mostOperations limits RandAugment: more operations leave little of an image.
const mostOperations = 16

// EnsureDefaults fills unset options.
func (a *Augment) EnsureDefaults() {
	if a.RandAugment > 0 && a.Magnitude == 0 {
		a.Magnitude = 9
	}
}

// Validate returns an error that lists every invalid option.
func (a Augment) Validate() error {
	var faults validate.Faults
	faults.When(a.Pad < 0, "pad is %d; must not be negative", a.Pad)
	faults.When(a.Cutout < 0, "cutout is %d; must not be negative", a.Cutout)
	faults.When(a.RandAugment < 0 || a.RandAugment > mostOperations,
		"rand_augment is %d; must be between 0 and %d operations", a.RandAugment, mostOperations)
	faults.When(a.Magnitude < 0 || a.Magnitude > 30, "magnitude is %d; must be between 0 and 30", a.Magnitude)
	faults.When(a.Magnitude > 0 && a.RandAugment == 0,
		"magnitude is %d, but rand_augment is 0; set rand_augment, or remove magnitude", a.Magnitude)
	faults.Unless(a.Mixup >= 0, "mixup is %v; must not be negative", a.Mixup)
	return errors.Join(faults...)
}

// Operation selects an operation of RandAugment; its value is the operation's index in torchvision's list. The zero
// Operation changes nothing.
type Operation int

// operations are torchvision's names.
var operations = enum[Operation]{"operation", []string{"Identity", "ShearX", "ShearY", "TranslateX", "TranslateY",
	"Rotate", "Brightness", "Color", "Contrast",
	"Sharpness", "Posterize", "Solarize", "AutoContrast", "Equalize"}}

// String returns the operation's name.
func (o Operation) String() string { return operations.text(o) }

// Operate applies an operation of RandAugment with the given magnitude to all images in x, whose pixels are bytes. If
// opposite is true, an operation that has two directions is applied in the opposite direction.
func (s *Scope) Operate(x *Tensor, o Operation, magnitude int, opposite bool) *Tensor {
	return s.one(C.GRAFT_OP_RANDAUGMENT, "randaugment", arguments{ints: []int{int(o), magnitude, flag(opposite)}}, x)
}

// Augment returns images of x, each randomly augmented as in Train, but without RandAugment and mixup. The int64 tensor
// rows selects images by index; if rows is nil, all images are selected. Augment draws five random numbers per image,
// regardless of the options. If the generator is nil, Augment uses LibTorch's own generator.
func (s *Scope) Augment(x, rows *Tensor, a Augment, random *Generator) *Tensor {
	return s.augment(x, rows, a, random, false)
}

// augment runs Augment; byOperators uses LibTorch's operators, as on devices without a kernel of ours.
func (s *Scope) augment(x, rows *Tensor, a Augment, random *Generator, byOperators bool) *Tensor {
	ints := []int{a.Pad, a.Cutout, flag(a.Flip), flag(byOperators)}
	return s.one(C.GRAFT_OP_AUGMENT, "augment", arguments{ints: ints, random: random}, x, rows)
}
