package trainer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"graft/internal/validate"
	"graft/net2net"
	"graft/torch"
	"graft/trainer/team"
)

// Options are the options of a job.
type Options struct {
	Seed  int64 // of the order of images, of augmentation and dropout, and of surgery
	Batch int   // images in a step; zero means 64
	// MicroBatch is the number of images of which a step computes gradients at once: it takes
	// its batch in such parts and adds up their gradients, which needs less memory. A
	// BatchNorm normalises and counts each part by itself. Zero means the batch.
	MicroBatch int `json:",omitempty"`
	// MaxMemoryMB is a limit in MiB of the activations of a step: its parts are as large as
	// fit, and at most MicroBatch. The memory is estimated from the network's shapes, so the
	// parts are the same on every machine; weights, moments and images come on top. Zero
	// means no limit.
	MaxMemoryMB int `json:",omitempty"`
	EvalBatch   int // images in a batch of evaluation; zero means 128, which takes little memory
	// Epochs ends a job after so many epochs, earlier training included, even if there is
	// time left; zero means that only the budget ends it.
	Epochs    int
	Timeline  Timeline               // when devices come and go, and how long the job lasts; required
	Optimizer torch.OptimizerOptions // how parameters follow gradients; a rule of zero means Adam with a rate of 0.01
	Schedule  Schedule               // how the learning rate changes; zero is half a cosine wave over the budget
	Augment   torch.Augment          // random changes of training images; zero means none
	Adapt     Adapt                  // when and how to adapt; zero asks once for each up
	Distill   Distill                // learning from the larger network after a down; zero means its defaults
	// Exact keeps PyTorch's order of operations; false takes the fast path, whose
	// results are equal up to rounding.
	Exact bool
	// Abandon begins a new epoch after every change of devices, as the original did. The
	// steps of the abandoned epoch stay in the weights; it is not evaluated, not recorded
	// and not counted by the learning rate. False continues the epoch.
	Abandon bool
	// Overrun trains until the budget is used up and evaluates whole epochs only, the
	// last one past the end if need be, as the original did; the result is the network as
	// last evaluated. False reserves time for an evaluation at the end, so that every
	// step counts.
	Overrun bool
	// KeepBest keeps the network with the highest validation accuracy besides the last one; false
	// keeps the last one alone.
	KeepBest bool `json:"-" result:"none"`
	// Steady makes results on the CPU independent of the number of threads, to the bit,
	// at some cost of speed, and on a CUDA device the same at each run on the same machine.
	Steady bool
	// Precision is the type in which convolutions and linear layers compute, in training
	// and in evaluation: float32, or bfloat16, which may be faster on processors that
	// have it; for CUDA devices only float16, whose loss is scaled, and tf32, which rounds the
	// operands of float32 to 11 significant bits. Weights, gradients, the optimizer's state and all other layers are
	// float32. Zero means float32.
	Precision torch.Precision
	// CUDAGraphs records a step on a full batch as a CUDA graph, which the host then issues in one call; it is
	// recorded again after surgery and a change of the batch. Steps with distillation, mixup, float16, micro-batches
	// or several processes, and those that measure noise, are not recorded. Results are equal up to rounding.
	CUDAGraphs bool `config:"cuda_graphs" json:"-" result:"rounding"`
	// LabelSmoothing is the share of each label's target that all classes get evenly, between
	// 0 and 1. With distillation it smooths the labels' part of the loss, not the larger
	// network's. Losses of training include it, those of evaluation do not. Zero means none.
	LabelSmoothing float64 `json:",omitempty"`
	// EMA is the part of an exponential moving average of the weights and running statistics
	// that each step keeps, such as 0.999. The average is evaluated, exported, and teaches a
	// network that shrinks; surgery changes it as it changes the network. Zero means no
	// average.
	EMA        float64    `json:",omitempty"`
	Checkpoint Checkpoint `result:"none"` // how often a job is saved; zero is once a minute
	// Parallel trains in a process for each device; zero trains in one. A resumed job may
	// have another value.
	Parallel team.Parallel `json:"-" result:"rounding"`
	// AdaptiveBatch lets the batch follow the devices and the noise of gradients; zero keeps it.
	AdaptiveBatch AdaptiveBatch `json:",omitzero"`
}

// Adapt are the options of adaptation.
type Adapt struct {
	// Every asks the decider again at the start of each epoch after an up; false asks
	// once for each up.
	Every bool
	// MaxDecisions is the number of decisions for each up; zero means 3 with Every, else 1.
	MaxDecisions int `json:"Most"` // the name that digests hold
	// Rows is the number of training images that calibrate new normalizations; zero means
	// 256.
	Rows int
	// Reset begins a new optimizer and schedule after every decision, also for no action,
	// and after a down, as the original did; false keeps both.
	Reset bool
	// Divide is the factor by which every decision divides the learning rate, and a down
	// multiplies it; zero means 1.
	Divide float64
	// OnError says how a job goes on if the chosen action cannot be done: skip goes on without it,
	// warns and counts it in the outcome, stop ends the job. Empty means skip.
	OnError OnError         `json:"-" result:"none"`
	Surgery net2net.Options // noise, form and compatibility; batch and seed are the job's
}

// OnError is a reaction to an action that cannot be done.
type OnError string

// The reactions. The zero OnError is SkipOnError.
const (
	SkipOnError OnError = "skip"
	StopOnError OnError = "stop"
)

// Distill are the options of distillation: after a down the smaller network learns from
// the larger one.
type Distill struct {
	Off         bool    // no distillation
	Temperature float64 // divides logits before they are compared; zero means 4
	Share       float64 // first share of the larger network in the loss, between 0 and 1; zero means 0.9
	Decay       float64 // part of the share that each epoch takes off, between 0 and 1; zero means none
	// Span is the part of the time left after a down that distillation lasts, between 0
	// and 1. The share falls to nothing along it, step by step. Zero means all of it.
	Span float64
}

// Checkpoint are the options of saving a job.
type Checkpoint struct {
	Every time.Duration // minimum time between two checkpoints, on the machine's clock; zero means a minute
	Off   bool          // save only at the end, when stopped and when a request waits for it
}

// EnsureDefaults fills unset options.
func (o *Options) EnsureDefaults() {
	o.Batch, o.EvalBatch = cmp.Or(o.Batch, 64), cmp.Or(o.EvalBatch, 128)
	o.Adapt.OnError = cmp.Or(o.Adapt.OnError, SkipOnError)
	o.Adapt.Rows, o.Adapt.Divide = cmp.Or(o.Adapt.Rows, 256), cmp.Or(o.Adapt.Divide, 1)
	d := &o.Distill
	d.Temperature, d.Share, d.Span = cmp.Or(d.Temperature, 4), cmp.Or(d.Share, 0.9), cmp.Or(d.Span, 1)
	if o.Adapt.Every {
		o.Adapt.MaxDecisions = cmp.Or(o.Adapt.MaxDecisions, 3)
	}
	o.Adapt.MaxDecisions = cmp.Or(o.Adapt.MaxDecisions, 1)
	if o.Optimizer.Rule == 0 {
		o.Optimizer.Rule = torch.Adam
		o.Optimizer.LR = cmp.Or(o.Optimizer.LR, 0.01)
	}
	o.Optimizer.EnsureDefaults()
	o.Augment.EnsureDefaults()
	o.Schedule.EnsureDefaults()
	o.Parallel.EnsureDefaults()
	o.Checkpoint.Every = cmp.Or(o.Checkpoint.Every, time.Minute)
	o.AdaptiveBatch.EnsureDefaults(o.Batch, o.Optimizer.Rule)
}

// On returns an error if the options do not suit a device.
func (o Options) On(d torch.Device) error {
	if (o.Precision == torch.Half || o.Precision == torch.TF32) && d == torch.CPU {
		return fmt.Errorf("precision is %v, which LibTorch computes on CUDA devices only; "+
			"use bfloat16 or float32 on the CPU", o.Precision)
	}
	if !o.CUDAGraphs || d == torch.CPU {
		return nil
	}
	if r, err := torch.Describe(); err != nil || !r.Graphs {
		return errors.Join(err, errors.New("cuda_graphs is on, and the library was built where "+
			"CUDA's headers were missing; install them or set CUDA_HOME, and build it again with 'make library'"))
	}
	return nil
}

// Validate lists all invalid options.
func (o Options) Validate() error {
	faults := validate.Faults{o.Timeline.Validate(), o.Schedule.Validate(), o.Optimizer.Validate(),
		o.Augment.Validate(),
		o.Parallel.Validate(),
		o.ownDevices(), o.AdaptiveBatch.validate(o)}
	for name, value := range map[string]int{"batch": o.Batch, "eval_batch": o.EvalBatch, "epochs": o.Epochs,
		"micro_batch": o.MicroBatch, "max_memory_mb": o.MaxMemoryMB, "adapt.max_decisions": o.Adapt.MaxDecisions,
		"adapt.rows": o.Adapt.Rows} {
		faults.When(value < 0, "%s is %d; it is not negative", name, value)
	}
	faults.Unless(slices.Contains([]OnError{"", SkipOnError, StopOnError}, o.Adapt.OnError),
		"on_error is %q; must be skip or stop", o.Adapt.OnError)
	faults.When(o.Adapt.Divide < 0, "divide is %v; it is above zero", o.Adapt.Divide)
	faults.Unless(o.LabelSmoothing >= 0 && o.LabelSmoothing <= 1,
		"label_smoothing is %v; it lies between 0 and 1", o.LabelSmoothing)
	faults.Unless(o.EMA >= 0 && o.EMA < 1, "ema is %v; it lies between 0 and 1", o.EMA)
	d := o.Distill
	faults.When(d.Share < 0 || d.Share > 1 || d.Decay < 0 || d.Decay > 1 || d.Span < 0 || d.Span > 1 ||
		d.Temperature < 0, "distill: share, decay and span lie between 0 and 1, "+
		"the temperature is above 0")
	return errors.Join(faults...)
}

// ownDevices returns an error for a timeline that changes the devices of an elastic job.
func (o Options) ownDevices() error {
	for _, e := range o.Timeline.Events {
		if o.Parallel.Elastic && e.Devices > 0 {
			return fmt.Errorf("parallel: elastic derives the devices from the followers, "+
				"and the event at %v sets %d; leave out its devices, or set elastic = false", e.At, e.Devices)
		}
	}
	return nil
}
