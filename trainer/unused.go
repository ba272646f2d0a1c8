package trainer

import (
	"fmt"

	"graft/internal/validate"
)

// Unused lists the keys of the options that were set but have no effect with the other options, with the reason. The
// optimizer and the schedule list their own.
func (o Options) Unused() (unused []validate.Unused) {
	o.EnsureDefaults()
	add := func(when bool, key, why, remedy string) {
		if when {
			unused = append(unused, validate.Unused{Key: key, Why: why, Remedy: remedy})
		}
	}
	most := max(o.Batch, o.AdaptiveBatch.Most)
	add(o.MicroBatch >= most, "train.micro_batch", fmt.Sprintf("a batch has at most %d images", most),
		"set it below train.batch")
	unused = append(unused, o.Distill.Unused("distill.off is true", "set distill.off to false")...)
	add(o.Checkpoint.Off && o.Checkpoint.Every != defaultEvery, "checkpoint.every", "checkpoint.off is true",
		"set checkpoint.off to false")
	return unused
}

// Unused lists the keys that were set although distillation is off, for a reason and with a remedy.
func (d Distill) Unused(why, remedy string) (unused []validate.Unused) {
	if !d.Off {
		return nil
	}
	for _, k := range []struct {
		key                 string
		value, defaultValue float64
	}{{"temperature", d.Temperature, distillTemperature}, {"share", d.Share, distillShare}, {"decay", d.Decay, 0},
		{"span", d.Span, distillSpan}} {
		if k.value != 0 && k.value != k.defaultValue {
			unused = append(unused, validate.Unused{Key: "distill." + k.key, Why: why, Remedy: remedy})
		}
	}
	return unused
}
