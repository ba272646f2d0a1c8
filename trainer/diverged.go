package trainer

import (
	"errors"
	"fmt"
	"math"

	"graft/model"
	"graft/results"
	"graft/torch/weights"
)

// ErrDiverged means that a loss or a weight became infinite or not a number. The last
// checkpoint, which is from before, is kept.
var ErrDiverged = errors.New("training diverged")

// diverged is the error of a loss that is not finite.
func (j *Job) diverged(step int, loss float64) error {
	return fmt.Errorf("%w: at a learning rate of %.3g the loss of step %d of epoch %d is %v; the last checkpoint, if there is one, is from before; begin again with a lower learning rate, or with a warm-up", ErrDiverged, j.LR, step, j.Epoch, loss)
}

// saved is a network's tensors, or an error where one is not finite: the steps since the
// last look at the loss can have spoiled the weights.
func saved(n *model.Network) (*weights.Set, error) {
	set, err := n.Save()
	if err != nil {
		return nil, err
	}
	for _, t := range set.Tensors {
		if t.DType != weights.Float32 {
			continue
		}
		values, err := t.Float32s()
		if err != nil {
			return nil, err
		}
		for _, v := range values {
			if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
				return nil, fmt.Errorf("%w: %s has the value %v, and is not saved; the last checkpoint, if there is one, is from before; begin again with a lower learning rate", ErrDiverged, t.Name, v)
			}
		}
	}
	return set, nil
}

// lowRate is the part of the first rate below which training hardly changes weights any more,
// and lateShare the part of the budget from which on that is what a schedule is meant to do.
const (
	lowRate   = 1e-3
	lateShare = 0.9
)

// noteLowRate records once that the rate has become low long before the end.
func (j *Job) noteLowRate() error {
	share := float64(j.Clock.Now()) / float64(j.Scheduler.Budget())
	if j.LowRate || share >= lateShare || j.Steps <= int64(j.Schedule.WarmUp) || share < j.Schedule.WarmUpShare || j.LR >= lowRate*j.Optimizer.LR {
		return nil
	}
	j.LowRate = true
	n := j.note(results.EventLowRate)
	n.Why = fmt.Sprintf("it is %.3g, of %.3g at first, after %.0f %% of the budget", j.LR, j.Optimizer.LR, 100*share)
	return j.Book.Note(n)
}
