package trainer

import (
	"errors"
	"fmt"
	"time"

	"graft/net2net"
	"graft/torch"
)

// Options say how a job runs. EnsureDefaults fills in what zero stands for.
type Options struct {
	Seed      int64 // of the order of images, of what is drawn in training, and of surgery
	Batch     int   // images in a step; zero means 64
	EvalBatch int   // images in a batch of evaluation; zero means 128, which takes little memory
	// Epochs ends a job that has trained so many, those before it counted, even if
	// there is time left; zero means that only the budget ends it.
	Epochs    int
	Timeline  Timeline               // when devices come and go, and how long the job lasts; required
	Optimizer torch.OptimizerOptions // how parameters follow gradients; a rule of zero means Adam with a rate of 0.01
	Schedule  Schedule               // how the learning rate changes; zero is exponential
	Augment   torch.Augment          // how training images are changed at random; zero is not at all
	Adapt     Adapt                  // when to adapt; zero asks once for each up
	Distill   Distill                // how a smaller network learns from the larger one after a down; zero has defaults
	// Exact keeps PyTorch's order of operations; false takes the fast path, whose
	// results are equal up to rounding.
	Exact bool
	// Abandon begins a new epoch after every change of devices, as the original did. Of
	// the one that it cuts short the steps stay in the weights, and nothing else: it is
	// not evaluated, not written down, and nothing to the learning rate. False goes on
	// with it.
	Abandon bool
	// Overrun trains until the budget is used up and evaluates whole epochs only, the
	// last one past the end if need be, as the original did; in the end the network
	// counts as it was when it was last evaluated. False keeps time back for an
	// evaluation at the end, so that every step counts.
	Overrun bool
	// Steady gives the same bits whatever the number of threads, on the CPU, for
	// some of the speed; false may give others.
	Steady bool
	// Precision is what convolutions and linear layers are worked out in, in training
	// and in evaluation: float32, or bfloat16, which may be faster where the processor
	// has it. Weights, gradients, the optimizer's state and all other layers are float32
	// in both. Zero means float32.
	Precision  torch.Precision
	Checkpoint Checkpoint `result:"none"` // how often a job is saved; zero is once a minute
	// Parallel trains in a process for each device; zero trains in one. A job that
	// goes on from a checkpoint may have another.
	Parallel Parallel `json:"-" result:"rounding"`
}

// Adapt says when a decider is asked, and how its actions are done.
type Adapt struct {
	// Every asks again at the start of each epoch after an up; false asks once for
	// each up.
	Every bool
	// Most is how often an up leads to a question; zero means 3 with Every, else 1.
	Most int
	// Rows is how many training images calibrate new normalisations; zero means 256.
	Rows int
	// Reset begins with a new optimizer and the first rate of the schedule after every
	// question, also where nothing is done, and after a down, as the original did; false
	// lets both follow.
	Reset bool
	// Divide is what the learning rate is divided by at every question, and multiplied
	// by at a down; zero means 1.
	Divide  float64
	Surgery net2net.Options // noise, form and compatibility; batch and seed are the job's
}

// Distill says how a network that became smaller learns from the larger one.
type Distill struct {
	Off         bool    // go back to the smaller network and nothing else; false has it learn from the larger one
	Temperature float64 // what logits are divided by before they are compared; zero means 4
	Share       float64 // part that the larger network has in the loss at first, between 0 and 1; zero means 0.9
	Decay       float64 // part of its share that it loses with each epoch, between 0 and 1; zero takes nothing
	// Span is the part of the time left after a down in which the larger network
	// teaches, between 0 and 1. Its share falls along it, step by step, to nothing: the
	// labels have the last word. Zero means all of it.
	Span float64
	// Keep goes on with the learning rate's schedule; false begins it anew, for a
	// network that became smaller has much to learn again.
	Keep bool
}

// Checkpoint says how often a job is saved.
type Checkpoint struct {
	Every time.Duration // time of the machine between two checkpoints, at least; zero means a minute
	Off   bool          // save at the end, when stopped and where somebody waits for it only; false saves in between as well
}

// EnsureDefaults fills in what zero stands for.
func (o *Options) EnsureDefaults() {
	whole := func(v *int, zero int) {
		if *v == 0 {
			*v = zero
		}
	}
	share := func(v *float64, zero float64) {
		if *v == 0 {
			*v = zero
		}
	}
	whole(&o.Batch, 64)
	whole(&o.EvalBatch, 128)
	whole(&o.Adapt.Rows, 256)
	share(&o.Distill.Temperature, 4)
	share(&o.Distill.Share, 0.9)
	share(&o.Distill.Span, 1)
	share(&o.Adapt.Divide, 1)
	if o.Adapt.Every {
		whole(&o.Adapt.Most, 3)
	}
	whole(&o.Adapt.Most, 1)
	if o.Optimizer.Rule == 0 {
		o.Optimizer.Rule = torch.Adam
		share(&o.Optimizer.LR, 0.01)
	}
	o.Optimizer.EnsureDefaults()
	o.Schedule.EnsureDefaults()
	o.Parallel.EnsureDefaults()
	if o.Checkpoint.Every == 0 {
		o.Checkpoint.Every = time.Minute
	}
}

// Validate lists all that is wrong.
func (o Options) Validate() error {
	faults := []error{o.Timeline.Validate(), o.Schedule.Validate(), o.Optimizer.Validate(), o.Augment.Validate(), o.Parallel.Validate()}
	for name, value := range map[string]int{"batch": o.Batch, "eval_batch": o.EvalBatch, "epochs": o.Epochs, "adapt.most": o.Adapt.Most,
		"adapt.rows": o.Adapt.Rows} {
		if value < 0 {
			faults = append(faults, fmt.Errorf("%s is %d; it is not negative", name, value))
		}
	}
	if o.Adapt.Divide < 0 {
		faults = append(faults, fmt.Errorf("divide is %v; it is above zero", o.Adapt.Divide))
	}
	d := o.Distill
	if d.Share < 0 || d.Share > 1 || d.Decay < 0 || d.Decay > 1 || d.Span < 0 || d.Span > 1 || d.Temperature < 0 {
		faults = append(faults, errors.New("distill: share, decay and span lie between 0 and 1, the temperature is above 0"))
	}
	return errors.Join(faults...)
}
