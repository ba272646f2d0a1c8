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
	Seed  int64 // seed for the order of images, augmentation, dropout and surgery
	Batch int   // images per step; zero means 64
	// MicroBatch is the maximum number of images per gradient computation. A step splits its batch into such parts and
	// adds their gradients, which needs less memory. BatchNorm normalises and counts each part separately. Zero means
	// the whole batch.
	MicroBatch int `json:",omitempty"`
	// MaxMemoryMB limits the activation memory of a step, in MiB. A step uses the largest parts that fit, at most
	// MicroBatch. The estimate comes from the network's shapes, so the parts are the same on every machine. Weights,
	// moments and images are not included. Zero means no limit.
	MaxMemoryMB int `json:",omitempty"`
	EvalBatch   int // images per evaluation batch; zero means 128, which needs little memory
	// Epochs is the maximum number of epochs, including epochs of earlier training. The job then ends even if time is
	// left. Zero means that only the budget ends it.
	Epochs    int
	Timeline  Timeline               // budget of the job and planned changes of its devices; required
	Optimizer torch.OptimizerOptions // update rule of the parameters; without a rule, Adam with a learning rate of 0.01
	Schedule  Schedule               // learning rate schedule; zero means half a cosine wave over the budget
	Augment   torch.Augment          // random changes of training images; zero means none
	Adapt     Adapt                  // adaptation of the network; zero means one decision per up
	Distill   Distill                // distillation from the larger network after a down; zero means its defaults
	// Exact keeps PyTorch's order of operations. False uses the fast path, whose results are equal up to rounding.
	Exact bool
	// Abandon starts a new epoch after every change of devices, as the original did. The steps of the abandoned epoch
	// stay in the weights, but it is not evaluated, recorded or counted by the learning rate schedule. False continues
	// the epoch.
	Abandon bool
	// Overrun trains until the budget is used up and evaluates only whole epochs, as the original did. The last epoch
	// may end after the budget. The result is the network as last evaluated. False reserves time for a final
	// evaluation, so every step counts.
	Overrun bool
	// KeepBest keeps the network with the highest validation accuracy in addition to the last one. False keeps only the
	// last one.
	KeepBest bool `json:"-" result:"none"`
	// Steady makes results bit-identical: on the CPU for any number of threads, at some cost of speed; on a CUDA device
	// for every run on the same machine.
	Steady bool
	// Precision is the numeric type of convolutions and linear layers in training and evaluation: float32, bfloat16,
	// float16 or tf32. bfloat16 may be faster on processors that support it. float16, with loss scaling, and tf32,
	// which rounds float32 operands to 11 significant bits, need a CUDA device. Weights, gradients, optimizer state and
	// all other layers stay float32. Zero means float32.
	Precision torch.Precision
	// CUDAGraphs records a step on a full batch as a CUDA graph, which the host then launches in one call. Surgery and
	// a change of the batch record it again. Steps that use distillation, mixup, float16, micro-batches or several
	// processes, or that measure noise, are not recorded. Results are equal up to rounding.
	CUDAGraphs bool `config:"cuda_graphs" json:"-" result:"rounding"`
	// LabelSmoothing is the share of each label's target that is spread evenly over all classes, between 0 and 1. With
	// distillation it smooths only the labels' part of the loss. Training losses include it, evaluation losses do not.
	// Zero means none.
	LabelSmoothing float64 `json:",omitempty"`
	// EMA is the decay of an exponential moving average of weights and running statistics, per step, such as 0.999. The
	// average is evaluated, exported, and used as the teacher of a network that shrinks. Surgery changes it together
	// with the network. Zero means no average.
	EMA        float64    `json:",omitempty"`
	Checkpoint Checkpoint `result:"none"` // checkpoint interval; zero means once a minute
	// Parallel trains with one process per device. Zero trains in one process. A resumed job may change it.
	Parallel team.Parallel `json:"-" result:"rounding"`
	// AdaptiveBatch adjusts the batch to the devices and the noise of gradients. Zero keeps the batch.
	AdaptiveBatch AdaptiveBatch `json:",omitzero"`
}

// Adapt are the options of adaptation.
type Adapt struct {
	// Every asks the decider at the start of each epoch after an up. False asks once per up.
	Every bool `config:"each_epoch,was=every"`
	// MaxDecisions is the maximum number of decisions per up. Zero means 3 with Every, else 1.
	MaxDecisions int `json:"Most" config:",was=most"` // key in digests
	// Rows is the number of training images used to calibrate new normalizations. Zero means 256.
	Rows int
	// Reset creates a new optimizer and schedule after every decision, including the action none, and after a down
	// event, as the original did. False keeps both.
	Reset bool
	// Divide is the divisor of the learning rate at each decision; a down multiplies it back. Zero means 1.
	Divide float64
	// OnError selects what happens if the chosen action cannot be done: skip logs a warning, counts it in the outcome
	// and continues without the action; stop ends the job. Empty means skip.
	OnError OnError         `json:"-" result:"none"`
	Surgery net2net.Options // noise, form and compatibility of surgery; batch and seed come from the job
}

// OnError is the reaction to an action that cannot be done.
type OnError string

// The reactions. The zero OnError is SkipOnError.
const (
	SkipOnError OnError = "skip"
	StopOnError OnError = "stop"
)

// Distill are the options of distillation: after a down the smaller network learns from the larger one.
type Distill struct {
	Off         bool    // turns distillation off
	Temperature float64 // divisor of the logits before they are compared; zero means 4
	Share       float64 // initial share of the larger network in the loss, between 0 and 1; zero means 0.9
	Decay       float64 // reduction of the share per epoch, between 0 and 1; zero means none
	// Span is the part of the time left after a down that distillation lasts, between 0 and 1. The share falls to zero
	// over it, step by step. Zero means all of it.
	Span float64
}

// Checkpoint are the options of saving a job.
type Checkpoint struct {
	Every time.Duration // minimum wall-clock time between two checkpoints; zero means a minute
	Off   bool          // saves only at the end, on a stop and when a request waits for a checkpoint
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

// On returns an error if the options are not supported on a device.
func (o Options) On(d torch.Device) error {
	if (o.Precision == torch.Half || o.Precision == torch.TF32) && d == torch.CPU {
		return fmt.Errorf("precision is %v, which LibTorch supports only on CUDA devices; "+
			"use bfloat16 or float32 on the CPU", o.Precision)
	}
	if !o.CUDAGraphs || d == torch.CPU {
		return nil
	}
	if r, err := torch.Describe(); err != nil || !r.Graphs {
		return errors.Join(err, errors.New("cuda_graphs is on, but the library was built without "+
			"CUDA's headers; install them or set CUDA_HOME, then rebuild it with 'make library'"))
	}
	return nil
}

// Validate returns every invalid option.
func (o Options) Validate() error {
	faults := validate.Faults{o.Timeline.Validate(), o.Schedule.Validate(), o.Optimizer.Validate(),
		o.Augment.Validate(),
		o.Parallel.Validate(),
		o.ownDevices(), o.AdaptiveBatch.validate(o)}
	for name, value := range map[string]int{"batch": o.Batch, "eval_batch": o.EvalBatch, "epochs": o.Epochs,
		"micro_batch": o.MicroBatch, "max_memory_mb": o.MaxMemoryMB, "adapt.max_decisions": o.Adapt.MaxDecisions,
		"adapt.rows": o.Adapt.Rows} {
		faults.When(value < 0, "%s is %d; must be at least 0", name, value)
	}
	faults.Unless(slices.Contains([]OnError{"", SkipOnError, StopOnError}, o.Adapt.OnError),
		"on_error is %q; must be skip or stop", o.Adapt.OnError)
	faults.When(o.Adapt.Divide < 0, "divide is %v; must be more than 0", o.Adapt.Divide)
	faults.Unless(o.LabelSmoothing >= 0 && o.LabelSmoothing <= 1,
		"label_smoothing is %v; must be between 0 and 1", o.LabelSmoothing)
	faults.Unless(o.EMA >= 0 && o.EMA < 1, "ema is %v; must be at least 0 and less than 1", o.EMA)
	d := o.Distill
	faults.When(d.Share < 0 || d.Share > 1 || d.Decay < 0 || d.Decay > 1 || d.Span < 0 || d.Span > 1 ||
		d.Temperature < 0, "distill: share is %v, decay is %v, span is %v and temperature is %v; "+
		"share, decay and span must be between 0 and 1, and the temperature must not be negative", d.Share, d.Decay,
		d.Span, d.Temperature)
	return errors.Join(faults...)
}

// ownDevices returns an error if the timeline changes the devices of an elastic job.
func (o Options) ownDevices() error {
	if o.Parallel.Elastic && o.Timeline.Devices > 0 {
		return errors.New("devices: elastic derives the devices from the followers; remove devices, or set " +
			"parallel.elastic = false")
	}
	for _, e := range o.Timeline.Events {
		if o.Parallel.Elastic && e.Devices > 0 {
			return fmt.Errorf("parallel: elastic derives the devices from the followers, "+
				"but the event at %v sets %d; remove its devices, or set elastic = false", e.At, e.Devices)
		}
	}
	return nil
}
