package trainer

import (
	"context"
	"time"

	"graft/model"
	"graft/torch"
)

// between does what comes before the next step is thought of, where epochs count as a
// whole: a change that came in the meantime is heeded in the next one. It says whether
// there was anything to do.
func (j *Job) between(ctx context.Context) (bool, error) {
	switch {
	case !j.Abandon:
		return false, nil
	case j.Step == j.perEpoch():
		return true, j.endEpoch()
	case j.Asking:
		return true, j.adapt(ctx)
	}
	return false, nil
}

// abandon leaves the epoch under way, where that is asked for: its steps stay in the
// weights, and nothing else of it.
func (j *Job) abandon() error {
	if !j.Abandon || j.Step == 0 {
		return nil
	}
	j.Abandoned++
	j.Step, j.Loss, j.Correct, j.Seen = 0, 0, 0, 0
	return j.stale()
}

// fitting is how many steps may begin before the budget, or what is kept back of it,
// is used up. One that takes nothing yet is tried alone.
func (j *Job) fitting(one time.Duration) int {
	left := j.last() - j.Clock.Now()
	switch {
	case left <= 0:
		return 0
	case one <= 0:
		return 1
	case j.Overrun:
		return int((left-1)/one) + 1 // the last one may end later
	}
	return int(left / one)
}

// kept is a network as it was when it was last evaluated.
type kept struct {
	scope   *torch.Scope
	network *model.Network
}

func (k *kept) close() {
	if k != nil {
		_ = k.scope.Close()
	}
}

// keep remembers the network that was just evaluated, where that is what counts in the
// end.
func (j *Job) keep() (err error) {
	if !j.Overrun {
		return nil
	}
	j.kept.close()
	j.kept = &kept{scope: torch.NewScope()}
	j.kept.network, err = j.Network.Clone(j.kept.scope)
	return err
}

// result is the network that counts in the end.
func (j *Job) result() *model.Network {
	if j.kept != nil {
		return j.kept.network
	}
	return j.Network
}
