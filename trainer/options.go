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

// Options holds the options of a job.
type Options struct {
	Seed  int64 // seed of the order of images, augmentation, dropout and surgery
	Batch int   // Number of images per training step. Zero means 64.
	// Maximum number of images per gradient computation. A step splits its batch into parts of this size and adds their
	// gradients, which saves memory; BatchNorm normalises each part separately. Zero means the whole batch.
	MicroBatch int `json:",omitempty"`
	// Maximum memory of the activations of a training step, in MiB. A step splits its batch into the largest parts that
	// fit, each with at most micro_batch images. graft estimates the memory of the activations from the shapes of the
	// network. Memory for weights, optimizer moments and images is not included. Zero means no limit.
	MaxMemoryMB int `json:",omitempty"`
	EvalBatch   int // Number of images per evaluation batch. Zero means 128.
	// Maximum number of epochs, including epochs of earlier training. The job ends after this number of epochs even if
	// time is left. Zero means that only the budget ends the job.
	Epochs   int
	Timeline Timeline // Budget of the job, and planned changes of its devices. Required.
	// Update rule of the parameters, and its options. If no rule is set, the job uses Adam with a learning rate of
	// 0.01.
	Optimizer torch.OptimizerOptions
	Schedule  Schedule      // Learning rate schedule. Empty means cosine decay over the budget.
	Augment   torch.Augment // Random changes of training images. Empty means none.
	Adapt     Adapt         // Adaptation of the network. Empty means one decision per device grant.
	// Distillation from the larger network after the network shrinks. Empty means the defaults.
	Distill Distill
	// Keeps PyTorch's order of operations. False uses the fast path, whose results differ from PyTorch's only by
	// rounding.
	Exact bool
	// Abandons the epoch at every change of devices and starts a new one, as the original system does. The steps of
	// the abandoned epoch still change the weights, but the epoch is not evaluated, recorded or counted by the
	// learning rate schedule. False continues the epoch.
	Abandon bool
	// Trains until the budget is used up and evaluates only whole epochs, as the original system does; the last epoch
	// may end after the budget, and the result is the last evaluated network. False reserves time to evaluate the
	// network after the last step, so the result includes every step.
	Overrun bool
	// Saves the network with the highest validation accuracy in addition to the last network. False saves only the last
	// network.
	KeepBest bool `json:"-" result:"none"`
	// Makes repeated runs give bit-identical results. On the CPU, results then do not depend on the number of threads,
	// and training is somewhat slower. On a CUDA device, all runs on the same machine give the same results. Default
	// false.
	Steady bool
	// Number format of convolutions and linear layers in training and evaluation: "float32", "bfloat16", "float16"
	// (with loss scaling) or "tf32" (rounds float32 operands to 11 significant bits). Weights, gradients, optimizer
	// state and all other layers stay float32. "float16" and "tf32" need a CUDA device. Empty means "float32".
	Precision torch.Precision
	// Records a training step on a full batch as a CUDA graph, which the host launches in one call. The step is
	// recorded again after surgery and after a change of the batch size. Steps that use distillation, mixup, float16,
	// micro-batches, several processes or adapt.warm_up_new, or that measure gradient noise, are not recorded. Recorded
	// steps give the same results up to rounding. Default false.
	CUDAGraphs bool `config:"cuda_graphs" json:"-" result:"rounding"`
	// Label smoothing: fraction of each label's target that is spread evenly over all classes, between 0 and 1.
	// Smoothing applies to training losses, but not to evaluation losses or to the distillation part of a loss. Zero
	// means no smoothing.
	LabelSmoothing float64 `json:",omitempty"`
	// Decay per step of an exponential moving average of weights and running statistics, such as 0.999. graft evaluates
	// and exports the averaged network. If the network shrinks, the averaged network becomes the teacher for
	// distillation. Surgery changes the average together with the network. Zero means no average.
	EMA float64 `json:",omitempty"`
	// Intervals at which the job saves checkpoints. Empty means one checkpoint per minute.
	Checkpoint Checkpoint `result:"none"`
	// Training with one process per device. Empty means a single process. This section may be changed before a job is
	// resumed.
	Parallel team.Parallel `json:"-" result:"rounding"`
	// Batch size that adapts to the devices and to gradient noise. Empty means a fixed batch size.
	AdaptiveBatch AdaptiveBatch `json:",omitzero"`
}

// Adapt configures when the decider is asked and what happens after a decision.
type Adapt struct {
	// Times of decisions: "devices" asks the decider after each device grant (up event), "periodic" at the multiples of
	// adapt.interval, "share" at the shares of the budget in adapt.at, and "plateau" when the validation accuracy no
	// longer improves (AutoGrow, Wen et al. 2020). Only "devices" needs up events. With every rule, a device removal
	// (down event) reverts the changes of the network since the last grant that no removal has reverted; without such a
	// grant, the network stays the same. Empty means "devices".
	When When `json:",omitempty"`
	// Interval between decisions as a share of time.budget, for adapt.when = "periodic": at least 0.001 and less than
	// 1. A decision follows the first step that reaches a multiple of the interval.
	Interval float64 `json:",omitempty"`
	// Times of decisions as shares of time.budget, for adapt.when = "share", such as [0.8], in ascending order. A
	// decision follows the first step that reaches its share. Shares before time.start are skipped.
	At []float64 `json:",omitempty"`
	// Minimum improvement of the validation accuracy per adapt.window, for adapt.when = "plateau", in points
	// (hundredths of accuracy). A smaller improvement asks for a decision; after growth, it ends the decisions of the
	// job. Zero means 1.
	MinGain float64 `json:",omitempty"`
	// Number of epochs between two comparisons of the best validation accuracy, for adapt.when = "plateau". Zero means
	// 1.
	Window int `json:",omitempty"`
	// Asks the decider at the start of each epoch after a device grant (up event), for adapt.when = "devices". False
	// asks the decider once per grant.
	Every bool `config:"each_epoch,was=every"`
	// Maximum number of decisions: per device grant (up event) if adapt.when is "devices", otherwise per job. Zero
	// means 3 if each_epoch is true or adapt.when is "plateau", every multiple of adapt.interval if it is "periodic",
	// one per share if it is "share", and otherwise 1.
	MaxDecisions int `json:"Most" config:",was=most"`
	// Number of training images used to calibrate new normalization layers. Zero means 256.
	Rows int
	// Creates a new optimizer and a new schedule after every decision, including a decision for "none", and after a
	// device removal (down event), as the original system does. False keeps the optimizer and the schedule.
	Reset bool
	// Divisor of the learning rate at each decision; a device removal (down event) undoes one division, if there is
	// one, or, unless adapt.when is "devices", one division for each change that it reverts. Zero means 1.
	Divide float64
	// Optimizer state after each change of the network: "carry" lets the state follow the parameters; "reset-new"
	// resets the state of new tensors and of new slices of tensors that grew; "reset" resets the state of all
	// parameters. Empty means "carry". Unlike adapt.reset, no value affects the schedule or a decision for "none".
	Moments net2net.Moments `json:",omitempty"`
	// Number of training steps after surgery during which the learning rate of new tensors, and of new slices of
	// tensors that grew, rises linearly from zero. Other parameters keep the rate of the schedule. Zero means no such
	// warm-up.
	WarmUpNew int `json:",omitempty"`
	// Reaction to a chosen action that fails: "skip" logs a warning, counts the failure in the job's outcome, and
	// continues without the action; "stop" ends the job. Empty means "skip".
	OnError OnError         `json:"-" result:"none"`
	Surgery net2net.Options // options for surgery; batch and seed come from the job
}

// OnError names the reaction to an action that fails.
type OnError string

// Reactions to an action that fails. The zero OnError means SkipOnError.
const (
	SkipOnError OnError = "skip"
	StopOnError OnError = "stop"
)

// Distill configures distillation: after a device removal, the smaller network learns from the larger network.
type Distill struct {
	Off bool // Turns distillation off. Default false.
	// Temperature of distillation, by which the logits are divided before they are compared. Zero means 4.
	Temperature float64
	// Initial weight of the distillation part of the loss, between 0 and 1; the labels get the remaining weight. Zero
	// means 0.9.
	Share float64
	Decay float64 // Relative reduction of distill.share per epoch, between 0 and 1. Zero means no reduction.
	// Duration of distillation as a fraction of the time that is left after a device removal (down event), between 0
	// and 1. During this time, distill.share falls to zero step by step. Zero means the whole time left.
	Span float64
}

// Checkpoint configures when a job is saved.
type Checkpoint struct {
	Every time.Duration // Minimum checkpoint interval, in wall-clock time. Zero means one minute.
	// Interval between checkpoints that are kept for forks (run.fork), in time on the clock of the job. Each takes
	// the space of the weights and of the optimizer's state. Zero keeps none.
	Keep time.Duration `config:"keep_every"`
	// Turns periodic checkpoints off: the job is saved only at its end, when it is stopped, and when POST /allocation
	// changes the devices. Default false.
	Off bool
}

// Defaults of Distill and Checkpoint.
const (
	distillTemperature = 4.0
	distillShare       = 0.9
	distillSpan        = 1.0
	defaultEvery       = time.Minute
)

// EnsureDefaults fills unset options.
func (o *Options) EnsureDefaults() {
	o.Batch, o.EvalBatch = cmp.Or(o.Batch, 64), cmp.Or(o.EvalBatch, 128)
	o.Adapt.OnError = cmp.Or(o.Adapt.OnError, SkipOnError)
	if o.Adapt.Moments == net2net.Carry {
		o.Adapt.Moments = "" // as in digests of jobs without the key
	}
	o.Adapt.Rows, o.Adapt.Divide = cmp.Or(o.Adapt.Rows, 256), cmp.Or(o.Adapt.Divide, 1)
	d := &o.Distill
	d.Temperature, d.Share = cmp.Or(d.Temperature, distillTemperature), cmp.Or(d.Share, distillShare)
	d.Span = cmp.Or(d.Span, distillSpan)
	o.Adapt.ensureWhen()
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
	o.Checkpoint.Every = cmp.Or(o.Checkpoint.Every, defaultEvery)
	o.AdaptiveBatch.EnsureDefaults(o.Batch, o.Optimizer.Rule)
}

// On returns an error if a device does not support the options.
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

// Validate returns an error that lists every invalid option.
func (o Options) Validate() error {
	faults := validate.Faults{o.Timeline.Validate(), o.Schedule.Validate(), o.Optimizer.Validate(),
		o.Augment.Validate(),
		o.Parallel.Validate(),
		o.Adapt.validateWhen(),
		o.ownDevices(), o.AdaptiveBatch.validate(o)}
	for name, value := range map[string]int{"batch": o.Batch, "eval_batch": o.EvalBatch, "epochs": o.Epochs,
		"micro_batch": o.MicroBatch, "max_memory_mb": o.MaxMemoryMB, "adapt.max_decisions": o.Adapt.MaxDecisions,
		"adapt.rows": o.Adapt.Rows, "adapt.warm_up_new": o.Adapt.WarmUpNew} {
		faults.When(value < 0, "%s is %d; must be at least 0", name, value)
	}
	faults.Unless(slices.Contains([]OnError{"", SkipOnError, StopOnError}, o.Adapt.OnError),
		"on_error is %q; must be skip or stop", o.Adapt.OnError)
	faults.When(o.Checkpoint.Keep < 0, "checkpoint.keep_every is %v; must not be negative", o.Checkpoint.Keep)
	faults.When(o.Checkpoint.Keep > 0 && o.Timeline.Budget/mostKept > o.Checkpoint.Keep,
		"checkpoint.keep_every is %v, which keeps more than %d checkpoints in the budget of %v; use a longer interval",
		o.Checkpoint.Keep, mostKept, o.Timeline.Budget)
	if err := o.Adapt.Moments.Validate(); err != nil {
		faults = append(faults, err)
	}
	faults.When(o.Adapt.Reset && !slices.Contains([]net2net.Moments{"", net2net.Carry}, o.Adapt.Moments),
		"moments is %q, but adapt.reset creates a new optimizer after every decision; remove one of them",
		string(o.Adapt.Moments))
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

// mostKept limits the kept checkpoints of a job.
const mostKept = 2000

// ownDevices returns an error if the timeline changes the devices of an elastic job.
func (o Options) ownDevices() error {
	if o.Parallel.Elastic && o.Timeline.Devices > 0 {
		return errors.New("devices: with parallel.elastic = true, the followers determine the number of devices; " +
			"remove " +
			"devices, or set parallel.elastic = false")
	}
	for _, e := range o.Timeline.Events {
		if o.Parallel.Elastic && e.Devices > 0 {
			return fmt.Errorf("parallel: with elastic = true, the followers determine the number of devices, but the "+
				"event "+
				"at %v sets devices = %d; remove it, or set elastic = false", e.At, e.Devices)
		}
	}
	return nil
}
