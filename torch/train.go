package torch

// #include "graft.h"
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

// Batches feeds a large call: steps batches of size rows, in order. The last
// batch may be short.
type Batches struct {
	Inputs *Tensor    // one example a row, on the program's device
	Labels *Tensor    // int64, one a row
	Order  *Tensor    // int64 row numbers, or nil for the rows as they come
	Size   int        // rows a batch
	Steps  int        // zero means as many as the rows give
	Random *Generator // for augmentation and dropout; nil is LibTorch's own
	// Augment changes the images of a training step at random; Evaluate leaves
	// them alone. Zero changes nothing.
	Augment Augment
	// Teacher is what a training step learns from as well; zero is nothing.
	Teacher Teacher
	// Peers share the work; nil is none. Each must be given the same batches, and
	// generators in the same state: of every batch it trains on its part of the rows
	// and evaluates its part of the batches, and all get the figures of the whole. A
	// call of Train that fails changes nothing then but gradients.
	Peers *Peers
}

// Teacher is what another network thinks of each example: a step learns from its
// softened outputs beside the labels. The zero Teacher is none.
type Teacher struct {
	Logits      *Tensor // one row an input; nil is no teacher
	Temperature float64 // that softens; above zero
	Share       float64 // of the loss, between 0 and 1; the labels have the rest
	Fall        float64 // what each step takes off the share, down to nothing
}

// Figures are what a large call measured, one value a step.
type Figures struct {
	Losses  []float64 // mean over the batch
	Correct []int     // rows whose largest logit is their label's
}

// Train runs forward, loss, backward and optimizer for each batch in one call.
func Train(p *Program, o *Optimizer, b Batches) (Figures, error) {
	if err := o.ready("train"); err != nil {
		return Figures{}, err
	}
	return b.run("train", p, func(c *C.graft_batches, losses *C.double, correct *C.int64_t) *C.char {
		return C.graft_train(p.handle, o.handle, c, losses, correct)
	})
}

// Evaluate runs the program over the batches without gradients, in eval mode.
func Evaluate(p *Program, b Batches) (Figures, error) {
	b.Augment, b.Teacher = Augment{}, Teacher{}
	return b.run("evaluate", p, func(c *C.graft_batches, losses *C.double, correct *C.int64_t) *C.char {
		return C.graft_evaluate(p.handle, c, losses, correct)
	})
}

func (b Batches) run(op string, p *Program, call func(*C.graft_batches, *C.double, *C.int64_t) *C.char) (Figures, error) {
	steps, err := b.check(op, p)
	if err != nil || steps == 0 {
		return Figures{}, err
	}
	c := C.graft_batches{inputs: C.graft_t(b.Inputs.handle), labels: C.graft_t(b.Labels.handle), batch: C.int64_t(b.Size),
		steps: C.int64_t(steps), generator: b.Random.pointer(), peers: b.Peers.pointer(),
		pad: C.int64_t(b.Augment.Pad), cutout: C.int64_t(b.Augment.Cutout), flip: C.int32_t(flag(b.Augment.Flip))}
	if t := b.Teacher; t.Logits != nil {
		c.lessons, c.temperature = C.graft_t(t.Logits.handle), C.double(t.Temperature)
		c.soft, c.soft_fall = C.double(t.Share), C.double(t.Fall)
	}
	if b.Order != nil {
		c.order = C.graft_t(b.Order.handle)
	}
	losses, correct := make([]float64, steps), make([]C.int64_t, steps)
	message := call(&c, (*C.double)(unsafe.SliceData(losses)), unsafe.SliceData(correct))
	if err := take(op, message); err != nil {
		return Figures{}, err
	}
	f := Figures{Losses: losses, Correct: make([]int, steps)}
	for k, n := range correct {
		f.Correct[k] = int(n)
	}
	return f, nil
}

// check says how many steps the rows give, or what is wrong.
func (b Batches) check(op string, p *Program) (int, error) {
	operands := compact([]*Tensor{b.Teacher.Logits, b.Inputs, b.Labels, b.Order})
	for _, t := range operands {
		if t.handle == nil {
			return 0, &Error{Op: op, Cause: errors.New("a tensor of the batches is closed"), kind: ErrClosed}
		}
	}
	if err := b.Augment.Validate(); err != nil {
		return 0, &Error{Op: op, Subject: describe(operands), Cause: err, kind: ErrShape}
	}
	switch {
	case p.handle == nil:
		return 0, &Error{Op: op, Cause: errors.New("the program's scope is closed, or it could not be made"), kind: ErrClosed}
	case b.Teacher.Share < 0 || b.Teacher.Share > 1 || b.Teacher.Fall < 0:
		return 0, &Error{Op: op, Cause: fmt.Errorf("a teacher with a share of %v in the loss that falls by %v", b.Teacher.Share, b.Teacher.Fall), kind: ErrShape}
	case b.Peers != nil && b.Peers.handle == nil:
		return 0, &Error{Op: op, Cause: errors.New("the group is closed, or it could not be made"), kind: ErrClosed}
	case b.Peers != nil && b.Random == nil && op == "train":
		return 0, &Error{Op: op, Cause: errors.New("processes that train together need a generator of their own, in the same state"), kind: ErrShape}
	case b.Random != nil && b.Random.handle == nil:
		return 0, &Error{Op: op, Cause: errors.New("the generator's scope is closed"), kind: ErrClosed}
	case b.Inputs == nil || b.Labels == nil:
		return 0, &Error{Op: op, Cause: errors.New("there are no inputs or no labels"), kind: ErrShape}
	case b.Size <= 0 || b.Steps < 0:
		return 0, &Error{Op: op, Subject: describe(operands), Cause: errors.New("the batch size must be positive and the steps not negative"), kind: ErrShape}
	case b.Steps > 0:
		return b.Steps, nil
	}
	rows := operands[len(operands)-1].Shape()
	if len(rows) == 0 {
		return 0, &Error{Op: op, Subject: describe(operands), Cause: errors.New("labels and order are lists of rows"), kind: ErrShape}
	}
	return (rows[0] + b.Size - 1) / b.Size, nil
}
