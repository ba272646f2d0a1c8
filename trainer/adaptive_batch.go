package trainer

import (
	"cmp"
	"errors"
	"slices"

	"graft/internal/validate"
	"graft/torch"
	"graft/trainer/goodput"
)

// Scaling names a rule that scales the learning rate for batch sizes above the minimum.
type Scaling string

// Rules that scale the learning rate. The zero Scaling means AdaScale for SGD, and SquareRoot for Adam and AdamW.
const (
	// AdaScale multiplies the learning rate by the gain of a step (Johnson et al., ICML 2020).
	AdaScale Scaling = "adascale"
	// SquareRoot multiplies the learning rate by the square root of the batch relative to the smallest batch
	// (Krizhevsky 2014; for Adam, Malladi et al. 2022).
	SquareRoot Scaling = "square-root"
	// LinearRate multiplies the learning rate by the batch relative to the smallest batch (Goyal et al. 2017).
	LinearRate Scaling = "linear"
	NoScaling  Scaling = "none"
)

// AdaptiveBatch configures a batch size that adapts to the devices of a job (Qiao et al., "Pollux: Co-adaptive Cluster
// Scheduling for Goodput-Optimized Deep Learning", OSDI 2021).
type AdaptiveBatch struct {
	// Adapts the batch size at each change of devices and between epochs: among the sizes from train.batch to
	// max_batch, graft selects the size with the highest goodput. Goodput is throughput (images per second) times
	// statistical efficiency (progress per image relative to the smallest batch size). False keeps train.batch.
	On bool `json:",omitempty"`
	// Measures the gradient noise even if the batch size is fixed. With on = true, the gradient noise is always
	// measured. Default false.
	Measure bool `json:",omitempty"`
	// Maximum batch size in images. Zero means 16 times train.batch.
	Most int `json:",omitempty" config:"max_batch,was=most"`
	// Maximum number of images that a device processes at once. Larger batches are split into several parts, whose
	// gradients are added. Zero means that only train.micro_batch and train.max_memory_mb limit the number.
	DeviceMost int `json:",omitempty" config:"max_device_batch,was=device_most"`
	// Number of epochs after which the batch size is chosen again if the devices stay the same. Zero means 1.
	Every int `json:",omitempty"`
	// Minimum relative gain in goodput that changes the batch size. Zero means 0.05.
	Hysteresis float64 `json:",omitempty"`
	// Rule that adapts the learning rate to the batch size: "adascale", "square-root", "linear" or "none". With
	// "adascale", the warm-up and the schedules "exponential" and "step" count a step with a large batch as several
	// steps with the smallest batch. Empty means "adascale" for sgd, and "square-root" for adam and adamw.
	Scaling  Scaling `json:",omitempty"`
	Interval int     `json:",omitempty"` // Interval between measurements of gradient noise, in steps. Zero means 16.
}

// Measures reports whether gradient noise is measured.
func (a AdaptiveBatch) Measures() bool { return a.On || a.Measure }

// EnsureDefaults fills unset options if gradient noise is measured. The arguments are the job's batch size and update
// rule.
func (a *AdaptiveBatch) EnsureDefaults(batch int, rule torch.Rule) {
	if a.Measures() {
		a.Interval = cmp.Or(a.Interval, 16)
	}
	if !a.On {
		return
	}
	a.Most, a.Every, a.Hysteresis = cmp.Or(a.Most, 16*batch), cmp.Or(a.Every, 1), cmp.Or(a.Hysteresis, 0.05)
	usual := AdaScale
	if rule != torch.SGD {
		usual = SquareRoot
	}
	a.Scaling = cmp.Or(a.Scaling, usual)
}

// validate returns an error that lists every invalid option. Call EnsureDefaults first.
func (a AdaptiveBatch) validate(o Options) error {
	var faults validate.Faults
	for name, value := range map[string]int{"max_batch": a.Most, "max_device_batch": a.DeviceMost, "every": a.Every,
		"interval": a.Interval} {
		faults.When(value < 0, "%s is %d; must be at least 0", name, value)
	}
	faults.Unless(a.Hysteresis >= 0 && a.Hysteresis <= 10, "hysteresis is %v; must be between 0 and 10", a.Hysteresis)
	faults.Unless(slices.Contains([]Scaling{"", AdaScale, SquareRoot, LinearRate, NoScaling}, a.Scaling),
		"scaling is %q; must be adascale, square-root, linear or none", string(a.Scaling))
	set := a
	set.On, set.Measure, set.Interval = false, false, 0
	faults.When(!a.On && set != AdaptiveBatch{},
		"on is false, but other options of adaptive_batch are set; set on = true, or remove them")
	faults.When(!a.Measures() && a.Interval != 0,
		"interval is %d, but nothing is measured; set on = true or measure = true, or remove interval", a.Interval)
	if a.Measures() {
		faults.When(o.Batch == 1, "batch is 1, but measuring noise requires at least 2 images; set train.batch to at "+
			"least 2")
		faults.When(o.Augment.Mixup > 0, "augment.mixup makes the parts of a batch dependent, "+
			"but noise is measured between independent parts; remove augment.mixup or adaptive_batch")
	}
	if a.On && a.Most >= 0 {
		faults.When(a.Most < o.Batch, "max_batch is %d; must be at least train.batch (%d)", a.Most, o.Batch)
		devices := o.Timeline.MostDevices()
		faults.When(a.Most >= o.Batch && a.Most < devices,
			"max_batch is %d, but the job gets %d devices, and each needs at least one image; raise max_batch",
			a.Most, devices)
		faults.When(a.DeviceMost > 0 && a.DeviceMost*devices < o.MicroBatch,
			"max_device_batch is %d, so train.micro_batch = %d is never reached on %d devices; remove one of them",
			a.DeviceMost, o.MicroBatch, devices)
	}
	return errors.Join(faults.Prefixed("adaptive_batch: ")...)
}

// MostDevices returns the largest number of devices that the job has at any time in the timeline.
func (t Timeline) MostDevices() int {
	most := t.First()
	for _, e := range t.Events {
		most = max(most, e.Devices)
	}
	return most
}

// limits returns the limits of the batch.
func (o Options) limits() goodput.Limits {
	return goodput.Limits{Least: o.Batch, Most: o.AdaptiveBatch.Most}
}
