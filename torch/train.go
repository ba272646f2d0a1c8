package torch

// #include "graft.h"
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"
	"unsafe"
)

// Batches describes the inputs of Train and Evaluate: consecutive batches with Size rows each. The last batch can be
// smaller.
type Batches struct {
	// inputs, one example per row, on the program's device; tokens can have any integer type
	Inputs *Tensor
	Labels *Tensor    // labels: int64, one per row, or any integer type, one per token
	Order  *Tensor    // int64 row numbers, in the order of use; nil means all rows in order
	Size   int        // number of rows per batch
	Steps  int        // number of batches; zero means enough batches for all rows
	Rates  []float64  // learning rate of each training step; nil means the optimizer's rate
	Random *Generator // generator for augmentation and dropout; nil means LibTorch's own
	// Part is the maximum number of rows in one gradient computation of a training step. A larger batch is split into
	// parts whose gradients are added, and BatchNorm normalises each part separately. Zero means the whole batch.
	Part int
	// Least is the minimum number of rows in a training step, and in each part of a step (see Part). If fewer rows
	// remain at the end, they are added to the last step or part. Zero means 1.
	Least int
	// Augment changes the images of training steps at random; Evaluate ignores it. The zero value changes nothing.
	Augment Augment
	// Smoothing is the share of a label's target that training steps spread evenly over all classes, between 0 and 1;
	// zero means none. The teacher's part of the loss is not smoothed.
	Smoothing float64
	// Ignores excludes labels of -100: the loss is the mean over the other labels of the batch. False means that all
	// labels count.
	Ignores bool
	// Teacher provides a second target for training steps; the zero value means none.
	Teacher Teacher
	// Average selects the moving averages that each training step updates; the zero value means none.
	Average Average
	// WarmUp lowers the learning rate of new parameters; the zero value lowers none.
	WarmUp WarmUp
	// Scaler scales the loss of training steps, and Train updates it. Nil means no scaling.
	Scaler *Scaler
	// Squares measures squared norms of gradients in the last training step. For this measurement, a batch with a
	// single part is split into two halves if it has enough rows. Default false.
	Squares bool
	// Timed measures where the time of each batch goes. The program must be on the CPU, without
	// ProgramOptions.Graphs. Default false.
	Timed bool
	// Peers holds the processes that share the work. Nil means only this process. Each process must get the same
	// batches, and generators in the same state. Each process trains on its part of the rows of every batch and
	// evaluates its part of the batches. All processes get the results for all rows and batches. If a call to Train
	// fails, it changes nothing except gradients.
	Peers *Peers
}

// Teacher describes distillation from another network: in addition to the labels, a step learns from the softened
// logits of that network. The zero Teacher means no distillation.
type Teacher struct {
	Logits      *Tensor // logits of the other network, one row per input; nil means no distillation
	Temperature float64 // number that logits are divided by; above zero
	// weight of the teacher in the loss, between 0 and 1; the remaining weight is for the labels
	Share float64
	// number of steps over which Share falls linearly to zero; zero keeps Share constant
	Length int
	Past   int // number of steps of Length that were taken before the call
}

// Average describes moving averages of tensors. Each step multiplies an average by Decay and adds the tensor multiplied
// by (1 - Decay). Counters are copied, not averaged. The zero Average means no averages.
type Average struct {
	Of, To []*Tensor // tensors and their averages, in the same order
	Decay  float64   // weight of the old average, between 0 and 1
	First  bool      // whether the first step of the call starts the averages as copies of the tensors
}

// WarmUp describes the warm-up of new parameters: the learning rate of an element that was created before step n rises
// linearly from zero over the steps n to n+Length-1, and older elements keep the optimizer's rate. The zero WarmUp
// means no warm-up. Steps of a warm-up are not recorded as a CUDA graph.
type WarmUp struct {
	// Born holds a tensor per slot of the optimizer, or nil for a slot without new elements. The tensor has the shape
	// of the parameter and the type Float64. It holds n for each element, or a number below -Length for an old element.
	Born   []*Tensor
	Length int   // number of steps; zero means no warm-up
	Past   int64 // number of steps that were taken before the call, in the count of n
}

// Scaler scales the loss, so that small gradients do not vanish in float16. It skips steps whose gradients are not
// finite, as torch.cuda.amp.GradScaler does.
type Scaler struct {
	Scale    float64 // factor of the loss; above zero
	Interval int64   // number of steps with finite gradients after which Scale doubles
	Streak   int64   // number of steps with finite gradients since Scale last changed
	Skipped  int64   // number of steps with gradients that were not finite; they changed only Scale
}

// NewScaler returns a scaler with PyTorch's initial values.
func NewScaler() *Scaler { return &Scaler{Scale: 1 << 16, Interval: 2000} }

// Figures holds the results of Train or Evaluate.
type Figures struct {
	Losses  []float64 // mean loss of each batch
	Correct []int     // number of rows in each batch whose largest logit belongs to their label
	// squared norms of the last step's gradients, if Batches.Squares is set; zero if the step was skipped, or if its
	// batch was too small to split
	Squares Squares
	// Times holds the times of each batch, if Batches.Timed is set.
	Times []StepTimes
	// Exchange is the time that the processes spent summing gradients in the whole call.
	Exchange time.Duration
}

// Train runs the forward pass, the loss, the backward pass and the optimizer step of all batches in a single library
// call.
func Train(p *Program, o *Optimizer, b Batches) (Figures, error) {
	if err := o.ready("train"); err != nil {
		return Figures{}, err
	}
	return b.run("train", p, o, func(c *C.graft_batches, losses *C.double, correct *C.int64_t) *C.char {
		return C.graft_train(p.handle, o.handle, c, losses, correct)
	})
}

// Evaluate runs the program over the batches without gradients, in eval mode.
func Evaluate(p *Program, b Batches) (Figures, error) {
	b.Augment, b.Teacher, b.Average, b.Scaler, b.Rates, b.Squares = Augment{}, Teacher{}, Average{}, nil, nil, false
	b.WarmUp = WarmUp{}
	return b.run("evaluate", p, nil, func(c *C.graft_batches, losses *C.double, correct *C.int64_t) *C.char {
		return C.graft_evaluate(p.handle, c, losses, correct)
	})
}

func (b Batches) run(op string, p *Program, o *Optimizer,
	call func(*C.graft_batches, *C.double, *C.int64_t) *C.char) (Figures, error) {
	steps, err := b.check(op, p)
	if err != nil || steps == 0 {
		return Figures{}, err
	}
	c := C.graft_batches{inputs: C.graft_t(b.Inputs.handle), labels: C.graft_t(b.Labels.handle),
		batch: C.int64_t(b.Size), steps: C.int64_t(steps), generator: b.Random.pointer(), peers: b.Peers.pointer(),
		pad: C.int64_t(b.Augment.Pad), cutout: C.int64_t(b.Augment.Cutout), flip: C.int32_t(flag(b.Augment.Flip))}
	c.smoothing, c.part, c.least, c.mixup = C.double(b.Smoothing), C.int64_t(b.Part), C.int64_t(b.Least),
		C.double(b.Augment.Mixup)
	c.ignores = C.int32_t(flag(b.Ignores))
	c.random_ops, c.magnitude = C.int64_t(b.Augment.RandAugment), C.int64_t(b.Augment.Magnitude)
	if t := b.Teacher; t.Logits != nil {
		c.teacher_logits, c.temperature = C.graft_t(t.Logits.handle), C.double(t.Temperature)
		c.teacher_share, c.teacher_past, c.teacher_length = C.double(t.Share), C.int64_t(t.Past), C.int64_t(t.Length)
	}
	if b.Order != nil {
		c.order = C.graft_t(b.Order.handle)
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	if n := len(b.Rates); n > 0 {
		if n != steps {
			return Figures{}, &Error{Op: op, Cause: fmt.Errorf("got %d learning rates for %d steps; expected one per "+
				"step", n, steps),
				kind: ErrShape}
		}
		pin.Pin(unsafe.SliceData(b.Rates))
		c.rates = (*C.double)(unsafe.SliceData(b.Rates))
	}
	b.Average.code(&c, &pin)
	b.WarmUp.code(&c, &pin)
	scaler := b.Scaler.code(&c, &pin)
	squares, exchange := new(C.graft_squares), new(C.double)
	if b.Squares {
		pin.Pin(squares)
		c.squares = squares
	}
	times := b.times(p, o, steps, &c, &pin)
	pin.Pin(exchange)
	c.exchange = exchange
	losses, correct := make([]float64, steps), make([]C.int64_t, steps)
	message := call(&c, (*C.double)(unsafe.SliceData(losses)), unsafe.SliceData(correct))
	if err := take(op, message); err != nil {
		return Figures{}, err
	}
	b.Scaler.update(scaler)
	f := Figures{Times: times.steps(), Losses: losses, Correct: make([]int, steps), Squares: squaresOf(squares),
		Exchange: time.Duration(float64(*exchange) * float64(time.Second))}
	for k, n := range correct {
		f.Correct[k] = int(n)
	}
	return f, nil
}

func (a Average) code(c *C.graft_batches, pin *runtime.Pinner) {
	if len(a.Of) == 0 {
		return
	}
	of, to := make([]C.graft_t, len(a.Of)), make([]C.graft_t, len(a.To))
	for k := range of {
		of[k], to[k] = C.graft_t(a.Of[k].handle), C.graft_t(a.To[k].handle)
	}
	pin.Pin(&of[0])
	pin.Pin(&to[0])
	c.averaged, c.averages, c.naverages = &of[0], &to[0], C.int64_t(len(of))
	c.decay, c.first_average = C.double(a.Decay), C.int32_t(flag(a.First))
}

func (w WarmUp) code(c *C.graft_batches, pin *runtime.Pinner) {
	if w.Length == 0 || len(w.Born) == 0 {
		return
	}
	born := make([]C.graft_t, len(w.Born))
	for k, t := range w.Born {
		if t != nil {
			born[k] = C.graft_t(t.handle)
		}
	}
	pin.Pin(&born[0])
	c.born, c.nborn = &born[0], C.int64_t(len(born))
	c.warm_up_length, c.warm_up_past = C.int64_t(w.Length), C.int64_t(w.Past)
}

func (s *Scaler) code(c *C.graft_batches, pin *runtime.Pinner) *C.graft_scaler {
	if s == nil {
		return nil
	}
	to := &C.graft_scaler{scale: C.double(s.Scale), streak: C.int64_t(s.Streak), interval: C.int64_t(s.Interval),
		skipped: C.int64_t(s.Skipped)}
	pin.Pin(to)
	c.scaler = to
	return to
}

func (s *Scaler) update(from *C.graft_scaler) {
	if s != nil {
		s.Scale, s.Streak, s.Skipped = float64(from.scale), int64(from.streak), int64(from.skipped)
	}
}

// check returns the number of steps, or an error.
func (b Batches) check(op string, p *Program) (int, error) {
	operands := compact([]*Tensor{b.Teacher.Logits, b.Inputs, b.Labels, b.Order})
	for _, t := range slices.Concat(operands, b.Average.Of, b.Average.To, compact(b.WarmUp.Born)) {
		if t.handle == nil {
			return 0, &Error{Op: op, Cause: errors.New("a tensor of the batches is closed"), kind: ErrClosed}
		}
	}
	if err := b.Augment.Validate(); err != nil {
		return 0, &Error{Op: op, Subject: describe(operands), Cause: err, kind: ErrShape}
	}
	switch {
	case p.handle == nil:
		return 0, &Error{Op: op, Cause: errors.New("the program's scope is closed, or the program was not created"),
			kind: ErrClosed}
	case !(b.Smoothing >= 0 && b.Smoothing <= 1):
		return 0, &Error{Op: op, Cause: fmt.Errorf("label smoothing is %v; must be between 0 and 1", b.Smoothing),
			kind: ErrShape}
	case !(b.Teacher.Share >= 0 && b.Teacher.Share <= 1) || b.Teacher.Past < 0 || b.Teacher.Length < 0:
		return 0, &Error{Op: op, Cause: fmt.Errorf("invalid Teacher: Share is %v, Past is %d and Length is %d; "+
			"Share must be between 0 and 1, "+
			"and Past and Length must not be negative",
			b.Teacher.Share, b.Teacher.Past, b.Teacher.Length), kind: ErrShape}
	case len(b.Average.Of) != len(b.Average.To) || !(b.Average.Decay >= 0 && b.Average.Decay <= 1):
		return 0, &Error{Op: op, Cause: fmt.Errorf("got %d averages for %d tensors, and the decay is %v; "+
			"expected one average per tensor, and a decay between 0 and 1",
			len(b.Average.To), len(b.Average.Of), b.Average.Decay), kind: ErrShape}
	case b.WarmUp.Length < 0 || b.WarmUp.Past < 0:
		return 0, &Error{Op: op, Cause: fmt.Errorf("invalid WarmUp: Length is %d and Past is %d; must not be negative",
			b.WarmUp.Length, b.WarmUp.Past), kind: ErrShape}
	case b.Part < 0 || b.Least < 0:
		return 0, &Error{Op: op, Cause: fmt.Errorf("the fields Part and Least are %d and %d; must not be negative",
			b.Part, b.Least), kind: ErrShape}
	case b.Peers != nil && b.Peers.handle == nil:
		return 0, &Error{Op: op, Cause: errors.New("the group is closed or was not created"), kind: ErrClosed}
	case b.Peers != nil && b.Random == nil && op == "train":
		return 0, &Error{Op: op, Cause: errors.New("the generator is missing; processes that train together need " +
			"separate generators in the same state"), kind: ErrShape}
	case b.Random != nil && b.Random.handle == nil:
		return 0, &Error{Op: op, Cause: errors.New("the generator's scope is closed"), kind: ErrClosed}
	case b.Inputs == nil || b.Labels == nil:
		return 0, &Error{Op: op, Cause: errors.New("inputs or labels are missing"), kind: ErrShape}
	case b.Size <= 0 || b.Steps < 0:
		return 0, &Error{Op: op, Subject: describe(operands),
			Cause: fmt.Errorf("batch size is %d and steps is %d; the batch size must be positive, and the steps "+
				"must not be negative", b.Size, b.Steps), kind: ErrShape}
	case b.Steps > 0:
		return b.Steps, nil
	}
	rows := operands[len(operands)-1].Shape()
	if len(rows) == 0 {
		return 0, &Error{Op: op, Subject: describe(operands),
			Cause: errors.New("the labels or the order of the examples is a scalar; expected one value per example"),
			kind:  ErrShape}
	}
	return Pieces(rows[0], b.Size, b.Least), nil
}

// Piece returns the number of rows in the next piece, given the number of remaining rows (left). A piece normally has
// size rows. If fewer than least rows would remain after it, the piece takes all remaining rows.
func Piece(left, size, least int) int {
	if left-size < max(least, 1) {
		return left
	}
	return size
}

// Pieces returns the number of pieces into which repeated calls to Piece divide the rows.
func Pieces(rows, size, least int) int {
	whole, rest := rows/size, rows%size
	if rest > 0 && (rest >= least || whole == 0) {
		whole++
	}
	return whole
}
