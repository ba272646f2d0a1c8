package trainer

import (
	"fmt"

	"graft/internal/words"
	"graft/model"
	"graft/torch"
	"graft/trainer/clock"
)

// microBatch is the number of images per gradient computation on all devices; zero means the batch. It follows from
// shapes, devices and options alone.
func (o Options) microBatch(n *model.Network, batch, devices int) int {
	part := o.MicroBatch
	if most := o.AdaptiveBatch.DeviceMost * devices; most > 0 && (part == 0 || most < part) {
		part = most
	}
	if o.MaxMemoryMB > 0 {
		if bytes, err := o.activationBytes(n); err == nil && bytes > 0 {
			least, _, _ := n.LeastRows() // activationBytes returns the same error
			fit := max(1, least, int(int64(o.MaxMemoryMB)<<20/bytes))
			if part == 0 || fit < part {
				part = fit
			}
		}
	}
	if part >= batch {
		return 0
	}
	return part
}

// activationBytes estimates the memory of a step per image: the input and all activations as float32, which backward
// needs, and the gradients of the largest layer's output and input. Products in 16 bits keep a rounded copy of their
// inputs, which adds at most half.
func (o Options) activationBytes(n *model.Network) (int64, error) {
	size, err := clock.SizeOf(n)
	if err != nil {
		return 0, err
	}
	rows, err := n.Sheet()
	if err != nil {
		return 0, err
	}
	largest := int64(0)
	for _, r := range rows {
		largest = max(largest, r.ActivationBytes)
	}
	bytes := size.Bytes + 2*largest
	if o.Precision == torch.Brain || o.Precision == torch.Half {
		bytes += size.Bytes / 2
	}
	return bytes, nil
}

// Fits returns an error if the smallest training step of a network needs more memory than MaxMemoryMB. This step has
// the minimum number of images that the network can train on. A network that grows later still trains with at least
// that number of images.
func (o Options) Fits(n *model.Network) error {
	bytes, err := o.activationBytes(n)
	if err != nil || o.MaxMemoryMB <= 0 {
		return err
	}
	least, _, err := n.LeastRows()
	if bytes *= int64(least); err != nil || bytes <= int64(o.MaxMemoryMB)<<20 {
		return err
	}
	return fmt.Errorf("max_memory_mb is %d, but %s needs an estimated %d MiB for the smallest step (%s); "+
		"raise max_memory_mb", o.MaxMemoryMB, n.Name(), bytes>>20+1, words.Plural(least, "image"))
}

// Computes returns an error if a network does not support the precision.
func (o Options) Computes(n *model.Network) error {
	if n.Graph == nil || o.Precision == torch.Single || o.Precision == torch.TF32 {
		return nil
	}
	return fmt.Errorf("train.precision is %s, but %s runs as a graph, which supports only float32 and tf32; "+
		"remove train.precision", o.Precision, n.Name())
}

// Normalizes returns an error if a step on a part of the training images would leave BatchNorm with only one value
// per channel. count is the number of training images; zero means unknown.
func (o Options) Normalizes(n *model.Network, count int) error {
	least, norm, err := n.LeastRows()
	if err != nil || least < 2 {
		return err
	}
	for _, size := range []struct {
		name  string
		value int
	}{{"train.batch", o.Batch}, {"train.micro_batch", o.MicroBatch},
		{"adaptive_batch.max_device_batch", o.AdaptiveBatch.DeviceMost}, {"the number of training images", count}} {
		if size.value == 1 {
			return fmt.Errorf("%s is 1; must be at least 2, because %s has only one value per channel and image "+
				"to normalize", size.name, norm)
		}
	}
	return nil
}

// stepWork returns a step of a network on a batch, for a clock.
func (o Options) stepWork(n *model.Network, batch, devices int) clock.Work {
	return clock.Work{Kind: clock.Steps, Count: 1, Rows: batch, Part: o.microBatch(n, batch, devices), Network: n,
		Devices: devices}
}
