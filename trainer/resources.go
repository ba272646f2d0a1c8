package trainer

import (
	"fmt"
	"math/big"
	"time"

	"graft/model"
)

// Resources counts the work of a job so far. It excludes work that was lost when the process was killed, because the
// job repeats that work. It includes the work of an abandoned epoch. All values are zero for a job that was started by
// a version of graft that did not count work.
type Resources struct {
	Images int64 `json:"images"` // number of training images; an image counts once per epoch
	// number of floating-point operations; a multiply-add counts as two, and a step as three forward passes
	FLOP float64 `json:"flop"`
	// device time: the job's time multiplied by the number of devices that the job holds or, on the wall clock, that
	// its processes use
	DeviceTime time.Duration `json:"device_ns"`
	// energy in joules, estimated from the power in the clock's device profile; zero means unknown
	Joules float64 `json:"joules,omitempty"`
}

// Forward passes per training step. A backward pass computes two matrix products for each product of a forward pass:
// for the gradients of the inputs and of the weights. A step therefore counts as three forward passes (Kaplan et al.,
// Scaling Laws for Neural Language Models, 2020, section 2.1). The computation of the optimizer, augmentation, surgery
// with its calibration, and the decider is small and not counted. The evaluation on the test images is not counted
// either; it takes no time of the budget.
const (
	forwardPass = 1
	trainPasses = 3
)

// sums is the part of a checkpoint's position for resources.
type sums struct {
	Images int64 `json:"images"`
	// exact number of floating-point operations, independent of how work is grouped into calls; nil means that work was
	// not counted from the start of the job
	FLOP *big.Int `json:"flop"`
	// Held is the job's device time up to progress.Time, the time on the clock when it was last counted.
	Held time.Duration `json:"device_ns"`
}

// countPasses counts floating-point operations of passes of the network over images.
func (c *core) countPasses(passes, images int) error {
	return c.countPassesOf(c.Network, passes, images)
}

func (c *core) countPassesOf(n *model.Network, passes, images int) error {
	one, err := n.Operations()
	if err != nil {
		return fmt.Errorf("count floating-point operations: %w", err)
	}
	if c.sums.FLOP != nil {
		product := new(big.Int).Mul(big.NewInt(int64(passes)*int64(images)), big.NewInt(one))
		c.sums.FLOP = product.Add(product, c.sums.FLOP)
	}
	return nil
}

// held is the device time from the last change of devices to a time of the clock. Devices of the allocation that no
// process can use are not charged.
func (c *core) held(at time.Duration) time.Duration {
	return c.Held + (at-c.Time)*time.Duration(c.devices())
}

// settle adds up the device time before a change of devices and before the job is saved.
func (c *core) settle() {
	now := c.Clock.Now()
	c.Held, c.Time = c.held(now), now
}

// resources returns the resources used up to a time of the clock.
func (c *core) resources(at time.Duration) Resources {
	if c.sums.FLOP == nil {
		return Resources{}
	}
	r := Resources{Images: c.sums.Images, DeviceTime: c.held(at)}
	r.FLOP, _ = new(big.Float).SetInt(c.sums.FLOP).Float64()
	if clock, ok := c.Clock.(interface{ Watts() float64 }); ok {
		r.Joules = clock.Watts() * r.DeviceTime.Seconds()
	}
	return r
}
