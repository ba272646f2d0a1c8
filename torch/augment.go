package torch

// #include "graft.h"
import "C"

import (
	"errors"
	"fmt"
)

// Augment says how images [N, C, H, W] are changed at random before a training
// step, each on its own: shifted, then mirrored, then with a hole in it. What
// comes in from outside of the image and what is in the hole is 0, so a program
// that normalises sees black there. The zero Augment changes nothing.
type Augment struct {
	Pad    int  // pixels: shifted by up to so many in each direction; zero means none
	Flip   bool // every other image is mirrored, left to right; false mirrors none
	Cutout int  // pixels: side of a square hole whose middle lies in the image; zero means none
}

// Validate lists every setting that makes no sense.
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

// Augment is the images of x that the int64 rows name, each changed at random as
// Train does; nil rows are all of them. Five numbers are drawn for each image,
// whatever is asked for; nil draws from LibTorch's own generator.
func (s *Scope) Augment(x, rows *Tensor, a Augment, random *Generator) *Tensor {
	return s.augment(x, rows, a, random, false)
}

// augment goes, byOperators, the way of devices without a kernel of ours.
func (s *Scope) augment(x, rows *Tensor, a Augment, random *Generator, byOperators bool) *Tensor {
	ints := []int{a.Pad, a.Cutout, flag(a.Flip), flag(byOperators)}
	return s.one(C.GRAFT_OP_AUGMENT, "augment", arguments{ints: ints, random: random}, x, rows)
}
