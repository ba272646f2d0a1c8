package trainer

import (
	"errors"
	"fmt"
	"math"
	"time"

	"graft/internal/stat"
	"graft/torch"
)

// pace is the last training call, on the wall clock. No result depends on it.
type pace struct {
	steps int // zero before the first call
	took  time.Duration
}

// speed adds up the training calls.
type speed struct {
	images float64
	took   time.Duration // on the wall clock
}

func (s *speed) add(images int, took time.Duration) {
	s.images += float64(images)
	s.took += took
}

// callTime is the target wall-clock time of one call into LibTorch, short enough to notice stops and changes soon.
const callTime = 200 * time.Millisecond

// next is the number of steps that take about span: one at first, then at most twice the last number.
func (p pace) next(span time.Duration) int {
	if p.steps == 0 {
		return 1
	}
	fit := int(span * time.Duration(p.steps) / max(1, p.took))
	return max(1, min(fit, 2*p.steps))
}

// allowed is the number of steps until the end of the epoch, the next change of the allocation, the next decision or
// the evaluation.
func (j *Job) allowed() int {
	batch := j.batch()
	n := min(j.perEpoch()-j.Step, max(1, j.Data.Train.Most(batch)/batch), j.untilMeasured(),
		j.chooser.steps(j.Network.Parameters(), j.pace))
	one := j.Clock.Cost(j.work(1))
	fit := j.fitting(one)
	if one <= 0 {
		return min(n, fit)
	}
	next := j.Scheduler.Next().At
	if at, known := j.adaptation.moment(); known {
		next = min(next, at)
	}
	if at := j.nextKept(); at > 0 {
		next = min(next, at)
	}
	due := int(math.Ceil(float64(next-j.Clock.Now()) / float64(one)))
	return max(0, min(n, fit, max(1, due)))
}

// fitting is the number of steps before the end of the job. A step of unknown cost runs alone.
func (j *Job) fitting(one time.Duration) int {
	left := j.lastStep() - j.Clock.Now()
	switch {
	case left <= 0:
		return 0
	case one <= 0:
		return 1
	case j.Overrun:
		return int((left-1)/one) + 1
	}
	return int(left / one)
}

func (j *Job) train(n int) error {
	if err := j.prepare(); err != nil {
		return err
	}
	j.show(Trains)
	o := j.optimizer.Options(0)
	rates := j.rates(n)
	o.LR, j.LR = rates[0], rates[n-1]
	if err := j.optimizer.Configure(0, o); err != nil {
		return err
	}
	from, batch := j.Seen, j.batch()
	rows := j.rows(n)
	t := j.distillation.teacher()
	told := trainOrder{Seed: j.seed, From: from, Rows: rows, Rates: rates, Optimizer: o, Distill: t.Logits != nil,
		Temperature: t.Temperature, Share: t.Share, Past: t.Past, Length: t.Length,
		First: j.firstAverage(), Batch: batch, Part: j.microBatch(j.Network, batch, j.devices()),
		Measured: n == j.untilMeasured()}
	if j.adaptation.warms() {
		told.WarmUp, told.Taken = j.Adapt.WarmUpNew, j.Steps
	}
	own := told
	if j.Scaler != nil { // the call changes it
		state := *j.Scaler
		told.Scaler, own.Scaler = &state, j.Scaler
	}
	began, start := j.Now(), j.Clock.Now()
	j.Clock.Begin()
	if j.remote != nil {
		j.remote.devices = j.Devices
	}
	var f torch.Figures
	err := j.team.Call(order{Train: &told}, func(peers *torch.Peers) error {
		return j.chooser.train(j.Network.Parameters(), rows, rows < n*batch && j.Step > 0, func() (err error) {
			f, err = j.replica.train(own, t, peers)
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("train step %d of epoch %d: %w", j.Step, j.Epoch, err)
	}
	if j.remote != nil {
		j.LR = j.remote.rate
	}
	j.Clock.Spend(j.work(n))
	j.pace = pace{n, j.Now().Sub(began)}
	j.speed.add(rows, j.pace.took)
	j.learnNoise(f, rows, j.Clock.Now()-start)
	if rows == n*batch {
		j.learnTime(n, j.pace.took, f.Exchange)
	}
	missing := 0
	if j.remote != nil {
		missing = j.remote.missing
	}
	return errors.Join(j.countPasses(trainPasses, rows-missing), j.count(f, rows, missing))
}

// firstAverage reports whether no step has changed the weights yet. The first step that changes them starts their
// average.
func (j *Job) firstAverage() bool {
	return j.Steps == 0 || j.Scaler != nil && j.Scaler.Skipped == j.Steps
}

// rows is the number of images in the next n steps.
func (j *Job) rows(n int) int {
	left, before := j.Data.Train.Count-j.Seen, (n-1)*j.batch()
	return before + torch.Piece(left-before, j.batch(), j.least)
}

// count adds the figures of a call to the epoch's totals. Missing is the number of rows that a program did not have.
func (j *Job) count(f torch.Figures, rows, missing int) error {
	for k, loss := range f.Losses {
		if !stat.Finite(loss) {
			return j.diverged(fmt.Sprintf("loss of step %d", j.Step+k), loss)
		}
		j.Loss += loss
		if j.Correct += f.Correct[k]; f.Correct[k] < 0 {
			j.Correct = math.MinInt32 // unknown for the whole epoch
		}
	}
	j.Step += len(f.Losses)
	j.Steps += int64(len(f.Losses))
	j.Seen += rows
	j.Missing += missing
	j.sums.Images += int64(rows - missing)
	j.Fresh = true
	j.distillation.advance(len(f.Losses))
	return nil
}
