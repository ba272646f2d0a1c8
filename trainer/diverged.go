package trainer

import (
	"errors"
	"fmt"
	"slices"

	"graft/internal/stat"
	"graft/model"
	"graft/results"
	"graft/torch"
	"graft/torch/weights"
)

// ErrDiverged reports that a loss or a weight became infinite or NaN. The last checkpoint before this point is kept.
var ErrDiverged = errors.New("training diverged")

// diverged returns the error for a loss that is not finite.
func (c *core) diverged(of string, loss float64) error {
	return fmt.Errorf("%w: at a learning rate of %.3g, the %s of epoch %d is %v; the last checkpoint, "+
		"if any, was kept; restart with a lower learning rate or a warm-up", ErrDiverged, c.LR,
		of, c.Epoch, loss)
}

// floats are the types of tensors that can diverge.
var floats = []weights.DType{weights.Float64, weights.Float32, weights.Float16, weights.BFloat16}

// saved returns a network's tensors, or an error if one is not finite: steps since the last check of the loss can have
// spoiled the weights.
func saved(n *model.Network) (*weights.Set, error) {
	set, err := n.Save()
	if err != nil {
		return nil, err
	}
	for _, t := range set.Tensors {
		if !slices.Contains(floats, t.DType) {
			continue
		}
		values, err := t.Float64s()
		if err != nil {
			return nil, err
		}
		for _, v := range values {
			if !stat.Finite(v) {
				return nil, fmt.Errorf("%w: %s has the value %v, so the network was not saved; the last checkpoint, "+
					"if any, was kept; restart with a lower learning rate", ErrDiverged, t.Name, v)
			}
		}
	}
	return set, nil
}

// unspoiled returns an error if a tensor has a value that is not finite. Statistics can overflow and stay so while
// losses are finite; without this check a job would spend its budget and then fail to save.
func unspoiled(n *model.Network) error {
	return torch.With(func(s *torch.Scope) error {
		for _, e := range n.State() {
			if info, err := e.Tensor.Info(); err != nil || !info.DType.Floating() {
				continue
			}
			zero, err := torch.Values[float64](s.To(s.Sum(s.Scale(s.Detach(e.Tensor), 0, 0)), torch.Float64, torch.CPU))
			if err != nil {
				return err
			}
			if !stat.Finite(zero[0]) { // zero times infinity is NaN
				return fmt.Errorf("%w: %s has values that are not finite; the last checkpoint, if any, "+
					"was kept; restart with a lower learning rate", ErrDiverged, e.Name)
			}
		}
		return s.Err()
	})
}

// Limits of a warning about low learning rates: lowRate is the fraction of the initial rate below which training hardly
// changes the weights. From lateShare of the budget on, such a low rate is expected.
const (
	lowRate   = 1e-3
	lateShare = 0.9
)

// noteLowRate records once that the rate has become low long before the end.
func (j *Job) noteLowRate() error {
	share := float64(j.Clock.Now()) / float64(j.Scheduler.Budget())
	if j.remote != nil || j.LowRate || share >= lateShare || j.Steps <= int64(j.Schedule.WarmUp) ||
		share < j.Schedule.WarmUpShare || j.LR >= lowRate*j.Optimizer.LR {
		return nil
	}
	j.LowRate = true
	n := j.note(results.EventLowRate)
	n.Why = fmt.Sprintf("learning rate %.3g, initially %.3g, after %.0f %% of the budget", j.LR, j.Optimizer.LR,
		100*share)
	return j.Book.Note(n)
}
