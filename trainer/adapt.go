package trainer

import (
	"context"
	"errors"
	"fmt"
	"math"

	"graft/decider"
	"graft/net2net"
	"graft/torch"
)

// heed does what a change of the allocation asks for, and saves it where somebody
// waits for that.
func (j *Job) heed(a Allocation) error {
	standing := j.Scheduler.Standing()
	j.Past, j.Live = standing.Past, standing.Live
	if err := errors.Join(j.reallocate(a), j.abandon()); err != nil || a.Settled == nil {
		return err
	}
	if err := j.save(); err != nil {
		return err
	}
	j.show(j.told.Phase) // before anybody is told that it is so
	a.Settled()
	return nil
}

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
		if err := j.shrink(); err != nil {
			return err
		}
		return j.afresh(-1)
	}
	return j.Book.Note(j.note("devices"))
}

// adapt asks the decider and does what it says. Both take time of the budget.
func (j *Job) adapt(ctx context.Context) error {
	j.show(Decides)
	began := j.Clock.Now()
	j.Clock.Begin()
	decision, err := j.Decider.Decide(ctx, decider.State{Network: j.Network, Left: j.Scheduler.Left(), Budget: j.Scheduler.Budget(),
		Decisions: j.Decisions, Accuracy: j.Validation.Accuracy, Step: j.Clock.Cost(j.work(1))})
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
		j.show(Operates)
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
	return j.afresh(1)
}

// afresh divides the learning rate so many times more, and begins with a new optimizer
// and schedule, as far as that is asked for.
func (j *Job) afresh(divide int) error {
	j.Divided += divide
	if !j.Adapt.Reset {
		return nil
	}
	j.Rate = 0
	return j.renew()
}

// first is the learning rate that the schedule begins with.
func (j *Job) first() float64 {
	return j.Optimizer.LR / math.Pow(j.Adapt.Divide, float64(j.Divided))
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
	j.told.Layers = 0 // the network is another
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
	began, note := j.Clock.Now(), j.note("shrink")
	if !j.Distill.Off {
		if err := j.teach(); err != nil {
			return err
		}
	}
	j.show(Operates)
	j.Clock.Begin()
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
	j.enrol()
	note.Took, note.Parameters = j.Clock.Now()-began, j.Network.Parameters()
	if j.lessons != nil {
		note.Lessons = j.Course
	}
	return j.Book.Note(note)
}

// dearest is the most of the time left that a teacher's lessons may take: with less
// time, steps are worth more. At a tenth and more of the time left lessons gained
// nothing or lost.
const dearest = 0.1

// teach asks the network what it thinks of the training images, which takes time of
// the budget. Its thoughts stay when it goes, so that nothing of it has to fit where
// it does not any more.
func (j *Job) teach() error {
	j.dismiss()
	asking := j.looking(j.Data.Train)
	if float64(j.Clock.Cost(asking)) > dearest*float64(j.last()-j.Clock.Now()) {
		return nil
	}
	if err := j.ready(); err != nil {
		return err
	}
	j.Clock.Begin()
	if err := torch.With(j.ask); err != nil {
		return fmt.Errorf("ask the larger network for lessons: %w", err)
	}
	j.Clock.Spend(asking)
	return nil
}

// ask fills in the lessons.
func (j *Job) ask(s *torch.Scope) error {
	var parts []*torch.Tensor
	s.NoGrad(func() {
		for from := 0; from < j.Data.Train.Count; from += j.EvalBatch {
			images := s.Narrow(j.Data.Train.Images, 0, from, min(j.EvalBatch, j.Data.Train.Count-from))
			parts = append(parts, j.program.Forward(s, images, false, nil))
		}
	})
	lessons := s.Cat(0, parts...)
	if s.Err() != nil {
		return s.Err()
	}
	s.Keep(j.s, lessons)
	j.lessons = lessons
	j.team.stale()
	return nil
}

// enrol begins what follows a shrinking: the schedule of the learning rate, and the
// teacher's course, as long as the clock knows steps to take.
func (j *Job) enrol() {
	j.Lessons, j.Taught, j.Course = 0, 0, j.perEpoch()
	if !j.Distill.Keep {
		j.Rate = 0
	}
	if one := j.Clock.Cost(j.work(1)); one > 0 {
		j.Course = max(1, int(j.Distill.Span*float64(j.last()-j.Clock.Now())/float64(one)))
	}
}

// lesson is what the teacher has in a step: less with every one.
func (j *Job) lesson() torch.Teacher {
	if j.lessons == nil {
		return torch.Teacher{}
	}
	whole := j.Distill.Share * math.Pow(1-j.Distill.Decay, float64(j.Lessons))
	fall := whole / float64(j.Course)
	return torch.Teacher{Logits: j.lessons, Temperature: j.Distill.Temperature, Share: whole - fall*float64(j.Taught), Fall: fall}
}

// learned counts steps with a teacher, who leaves when there is no more to say.
func (j *Job) learned(steps int) {
	if j.lessons == nil {
		return
	}
	if j.Taught += steps; j.Taught >= j.Course {
		j.dismiss()
	}
}

// dismiss forgets the teacher.
func (j *Job) dismiss() {
	if j.lessons != nil {
		j.s.Free(j.lessons)
		j.lessons = nil
	}
}
