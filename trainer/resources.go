package trainer

import (
	"fmt"
	"math/big"
	"time"

	"graft/model"
)

// Resources counts the work of a job so far. Work that a kill lost is not in them, since the
// job repeats it; that of an abandoned epoch is. All are zero in a job that began before
// graft counted them.
type Resources struct {
	Images int64 `json:"images"` // of training, those of each epoch counted anew
	// floating-point operations; a multiply-add is two, and a step three forward passes
	FLOP float64 `json:"flop"`
	// on the clock, multiplied by the devices held; on the machine's clock by those that processes use
	DeviceTime time.Duration `json:"device_ns"`
	// device time at the power of the clock's profile; zero means that it is unknown
	Joules float64 `json:"joules,omitempty"`
}

// A backward pass has two products of matrices where a forward pass has one: for the
// gradients of the inputs and for those of the weights. So a step counts as three forward
// passes (Kaplan et al., Scaling Laws for Neural Language Models, 2020, section 2.1). What
// the optimizer, augmentation, surgery, its calibration and the decider compute is small
// and not counted, and neither is the evaluation on the test images, which takes no time of
// the budget.
const (
	forwardPass = 1
	trainPasses = 3
)

// sums are the resources' part of a checkpoint's position.
type sums struct {
	Images int64 `json:"images"`
	// exact, so that calls of any length add up to the same; nil means that the job began without counting
	FLOP *big.Int `json:"flop"`
	// Held is the device time at progress.Time.
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

// held is the device time at a time of the clock since the last change of devices. Devices of the allocation that no
// process can use are not charged.
func (c *core) held(at time.Duration) time.Duration {
	return c.Held + (at-c.Time)*time.Duration(c.devices())
}

// settle sums up the device time before a change of devices and before the job is saved.
func (c *core) settle() {
	now := c.Clock.Now()
	c.Held, c.Time = c.held(now), now
}

// resources returns the resources used until a time of the clock.
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
