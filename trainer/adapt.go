package trainer

import (
	"context"
	"fmt"
	"math"

	"graft/decider"
	"graft/model"
	"graft/net2net"
	"graft/torch"
)

// reallocate heeds a change of the allocation.
func (j *Job) reallocate(a Allocation) error {
	j.Devices = a.Devices
	switch a.Change {
	case Up:
		j.Levels = append(j.Levels, len(j.Changes))
		j.Asked, j.Asking = 0, true
		return j.Book.Note(j.note("up"))
	case Down:
		j.Asking, j.Asked = false, 0
		if err := j.Book.Note(j.note("down")); err != nil {
			return err
		}
		return j.shrink()
	}
	return j.Book.Note(j.note("devices"))
}

// adapt asks the decider and does what it says. Both take time of the budget.
func (j *Job) adapt(ctx context.Context) error {
	began := j.Clock.Now()
	j.Clock.Begin()
	decision, err := j.Decider.Decide(ctx, decider.State{Network: j.Network, Left: j.scheduler.Left(), Budget: j.scheduler.Budget(),
		Decisions: j.Decisions, Accuracy: j.Validation.Accuracy})
	if err != nil {
		return fmt.Errorf("decide how to adapt: %w", err)
	}
	j.Clock.Spend(Work{Kind: Deciding, Count: 1, Network: j.Network})
	decided := j.Clock.Now()
	j.Deciding += decided - began
	note := j.note("decision")
	note.Action, note.Probabilities = decision.Action.String(), decision.Probabilities
	if err := j.operate(decision.Action); err != nil {
		return err
	}
	j.Clock.Spend(Work{Kind: Surgery, Count: 1, Network: j.Network})
	j.Operating += j.Clock.Now() - decided
	note.Took, note.Parameters = j.Clock.Now()-began, j.Network.Parameters()
	j.Decisions++
	j.Asked++
	j.Asking = false
	return j.Book.Note(note)
}

// operate does an action, and lets the optimizer follow.
func (j *Job) operate(a net2net.Action) error {
	if a.Kind != net2net.None {
		o := j.Adapt.Surgery
		o.Seed = uint64(j.Seed)*1_000_003 + uint64(j.Decisions)
		change, err := j.calibrated(a, o)
		if err != nil {
			return err
		}
		if err := change.Remember(j.Network); err != nil {
			return err
		}
		j.Changes = append(j.Changes, change)
		if err := j.follow(change); err != nil {
			return err
		}
	}
	if !j.Adapt.Reset {
		return nil
	}
	j.Rate = 0
	return j.renew()
}

// calibrated operates with training images for new normalisations.
func (j *Job) calibrated(a net2net.Action, o net2net.Options) (change *net2net.Change, err error) {
	err = torch.With(func(s *torch.Scope) error {
		place := j.Network.Placement()
		rows := min(j.Adapt.Rows, j.Data.Train.Count)
		order := s.Permutation(j.Data.Train.Count, s.NewGenerator(torch.CPU, int64(o.Seed)))
		picked := s.IndexSelect(j.Data.Train.Images, 0, s.To(s.Narrow(order, 0, 0, rows), torch.Int64, place.Device))
		images := s.Scale(s.To(picked, torch.Float32, place.Device), 1.0/255, 0)
		o.Batch = s.To(s.Div(s.Sub(images, j.mean), j.deviation), place.DType, place.Device)
		if s.Err() != nil {
			return s.Err()
		}
		change, err = net2net.Apply(j.Network, a, o)
		return err
	})
	return change, err
}

// follow takes the optimizer along.
func (j *Job) follow(c *net2net.Change) (err error) {
	j.team.stale()
	if j.optimizer, err = j.optimizer.Follow(j.s, j.Network, c); err != nil {
		return fmt.Errorf("the optimizer after %s: %w", c.Action, err)
	}
	return j.stale()
}

// renew begins with a new optimizer.
func (j *Job) renew() (err error) {
	j.team.stale()
	j.optimizer.Close()
	for _, slot := range j.optimizer.Slots {
		for _, t := range []*torch.Tensor{slot.First, slot.Second} {
			if t != nil {
				j.s.Free(t)
			}
		}
	}
	j.s.Free(j.optimizer.Steps)
	j.optimizer, err = net2net.NewOptimizer(j.s, j.Network, j.optimizerOptions())
	return err
}

// shrink returns to the network from before the last up, which learns from the
// larger one from then on.
func (j *Job) shrink() error {
	if len(j.Levels) == 0 {
		return nil // it never grew
	}
	keep := j.Levels[len(j.Levels)-1]
	j.Levels = j.Levels[:len(j.Levels)-1]
	if keep == len(j.Changes) {
		return nil
	}
	if !j.Distill.Off {
		if err := j.teach(j.Network); err != nil {
			return err
		}
	}
	began := j.Clock.Now()
	note := j.note("shrink")
	for len(j.Changes) > keep {
		last := len(j.Changes) - 1
		back, err := net2net.Revert(j.Network, j.Changes[last])
		if err != nil {
			return err
		}
		j.Changes = j.Changes[:last]
		if err := j.follow(back); err != nil {
			return err
		}
	}
	j.Clock.Spend(Work{Kind: Surgery, Count: 1, Network: j.Network})
	j.Operating += j.Clock.Now() - began
	note.Took, note.Parameters = j.Clock.Now()-began, j.Network.Parameters()
	return j.Book.Note(note)
}

// teacher is a larger network that a smaller one learns from.
type teacher struct {
	scope   *torch.Scope
	network *model.Network
	program *torch.Program
}

func (t *teacher) close() {
	if t != nil {
		_ = t.scope.Close()
	}
}

// teach keeps a copy of a network as the teacher.
func (j *Job) teach(n *model.Network) error {
	j.teacher.close()
	j.team.stale()
	t := &teacher{scope: torch.NewScope()}
	j.teacher, j.Lessons = t, 0
	var err error
	if t.network, err = n.Clone(t.scope); err != nil {
		return err
	}
	t.program, err = j.compile(t.scope, t.network)
	return err
}

// lesson is what the teacher has in a step, less with every epoch.
func (j *Job) lesson() torch.Teacher {
	if j.teacher == nil {
		return torch.Teacher{}
	}
	share := j.Distill.Share * math.Pow(1-j.Distill.Decay, float64(j.Lessons))
	return torch.Teacher{Program: j.teacher.program, Temperature: j.Distill.Temperature, Share: share}
}
