package torch

// #include "graft.h"
import "C"

import (
	"errors"
	"fmt"
)

// Augment are random changes of images [N, C, H, W] before a training step, independent for
// each image: a shift, then a flip, then a hole. Pixels from outside of the image and in the
// hole are 0, black for a program that normalises. The zero Augment changes nothing.
type Augment struct {
	Pad    int  // largest shift in each direction, in pixels; zero means none
	Flip   bool // flip images left to right with a probability of one half
	Cutout int  // side in pixels of a square hole whose centre lies in the image; zero means none
}

// Validate lists all invalid options.
func (a Augment) Validate() error {
	var faults []error
	if a.Pad < 0 {
		faults = append(faults, fmt.Errorf("a shift of up to %d pixels", a.Pad))
	}
	if a.Cutout < 0 {
		faults = append(faults, fmt.Errorf("a cutout of %d pixels", a.Cutout))
	}
	return errors.Join(faults...)
}

// Augment returns the images of x at int64 rows, each changed at random as in Train; nil rows
// mean all. It draws five numbers for each image, whatever the options; a nil random means
// LibTorch's own generator.
func (s *Scope) Augment(x, rows *Tensor, a Augment, random *Generator) *Tensor {
	return s.augment(x, rows, a, random, false)
}

// augment runs Augment; byOperators uses LibTorch's operators, as on devices without our
// kernel.
func (s *Scope) augment(x, rows *Tensor, a Augment, random *Generator, byOperators bool) *Tensor {
	ints := []int{a.Pad, a.Cutout, flag(a.Flip), flag(byOperators)}
	return s.one(C.GRAFT_OP_AUGMENT, "augment", arguments{ints: ints, random: random}, x, rows)
}
