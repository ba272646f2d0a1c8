package trainer

import (
	"context"
	"errors"
	"math"

	"graft/decider"
	"graft/results"
)

// ErrStopped reports that a job was cancelled and has saved its progress.
var ErrStopped = errors.New("the job was stopped, and its progress is saved")

// Run trains until the budget is used up, or until ctx is cancelled. On cancellation, Run saves the job and returns
// ErrStopped. If the decider makes no decision, Run saves the job and returns decider.ErrOpen.
func (j *Job) Run(ctx context.Context) (o *Outcome, err error) {
	defer j.close()
	defer func() { j.Scheduler.End(err) }()
	if err := j.start(); err != nil {
		return nil, err
	}
	for !j.Over {
		if err := j.team.Gather(ctx); err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, errors.Join(ErrStopped, j.save())
		}
		err := j.turn(ctx)
		if errors.Is(err, decider.ErrOpen) {
			return nil, errors.Join(decider.ErrOpen, j.save())
		}
		if err != nil {
			return nil, err
		}
		if err := errors.Join(j.keepIfDue(), j.saveIfDue()); err != nil {
			return nil, err
		}
	}
	return j.finish()
}

func (j *Job) start() error {
	j.show(Starts)
	j.saves.last, j.saves.next = j.Now(), nextMultiple(j.Checkpoint.Keep, j.Clock.Now())
	if j.Started {
		return nil
	}
	j.Started = true
	return j.Book.Note(j.note(results.EventStart))
}

// turn does the work that is due: a change of the allocation, a decision, the end of the epoch, some steps, or the end
// of the job. With Abandon, a due decision or the end of an epoch comes before a change. After the stop of the timeline
// there is no change and no decision.
func (j *Job) turn(ctx context.Context) error {
	if j.Timeline.Stopped(j.Clock.Now()) {
		return j.stop()
	}
	j.adaptation.look()
	between := j.adaptation.Asking || j.Step == j.perEpoch()
	if !j.Abandon || !between {
		if a := j.Scheduler.Allocation(); a.Change != Same || a.Devices != j.Devices {
			return j.reallocate(a)
		}
	}
	if j.adaptation.Asking {
		return j.adaptation.adapt(ctx)
	}
	if j.Step == j.perEpoch() {
		return j.endEpoch()
	}
	n := j.allowed()
	if n == 0 {
		return j.end()
	}
	return j.train(n)
}

// reallocate follows a change of the allocation, and saves the job if a request waits for it.
func (j *Job) reallocate(a Allocation) error {
	if err := j.saveBefore(a); err != nil {
		return err
	}
	standing := j.Scheduler.Standing()
	j.Past, j.Live = standing.Past, standing.Live
	if err := errors.Join(j.adaptation.reallocate(a), j.abandon(), j.chooseBatch()); err != nil {
		return err
	}
	if err := j.regroup(); err != nil || a.Settled == nil {
		return err
	}
	if err := j.save(); err != nil {
		return err
	}
	j.show(j.shown.Phase) // before Settled reports the change
	a.Settled()
	return nil
}

// abandon drops the current epoch, with Abandon. Its steps stay in the weights.
func (j *Job) abandon() error {
	if !j.Abandon || j.Step == 0 {
		return nil
	}
	j.Abandoned++
	j.Step, j.Loss, j.Correct, j.Seen, j.Missing = 0, 0, 0, 0, 0
	j.Batching.Busy, j.Batching.Images = 0, 0
	return j.reorder()
}

// endEpoch evaluates, records the epoch and begins the next one.
func (j *Job) endEpoch() error {
	if err := j.evaluation.validate(); err != nil {
		return err
	}
	row := j.row()
	if err := j.Book.Epoch(row); err != nil {
		return err
	}
	gap := row.Accuracy - row.Validation.Accuracy
	if math.IsNaN(gap) {
		gap = 0
	}
	j.Curve = j.Curve.Next(row.Loss, gap)
	j.Epoch, j.Step, j.Loss, j.Correct, j.Seen, j.Missing = j.Epoch+1, 0, 0, 0, 0, 0
	j.Batching.Busy, j.Batching.Images = 0, 0
	j.Rate++
	if err := j.noteLowRate(); err != nil {
		return err
	}
	j.adaptation.afterEpoch(row.Validation.Accuracy)
	j.distillation.Age++
	if j.Epochs > 0 && j.Epoch >= j.Epochs || j.Timeline.Reached(row.Validation.Loss) {
		j.Over = true
	}
	return errors.Join(j.chooseIfDue(), j.reorder())
}

// stop handles the stop of the timeline: it evaluates a complete epoch, or the network. Devices and network stay.
func (j *Job) stop() error {
	if j.Step > 0 && j.Step == j.perEpoch() {
		return j.endEpoch()
	}
	return j.end()
}

// end handles the end of the budget: it evaluates a network that changed since the last evaluation.
func (j *Job) end() error {
	j.Over, j.Spent = true, j.Clock.Now()
	if j.evaluation.kept != nil || !j.Fresh && j.Epoch > 0 {
		return nil
	}
	if err := j.evaluation.validate(); err != nil {
		return err
	}
	return j.Book.Epoch(j.row())
}
