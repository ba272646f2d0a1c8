package trainer

import (
	"math"
	"time"

	"graft/dataset"
	"graft/decider"
	"graft/model"
	"graft/results"
	"graft/torch"
	"graft/trainer/clock"
)

// core is the state that the parts of a job share.
type core struct {
	*replica
	progress
	batching
	sums
	Clock     clock.Clock
	Scheduler Scheduler
	Book      Recorder
	Watch     func(Progress)
	Now       func() time.Time
	crew      func() int     // number of processes that currently train together
	chooser   *ThreadChooser // nil keeps the number of threads
	shown     Progress       // progress last passed to Watch
}

// progress is the part of a checkpoint's position for the loop.
type progress struct {
	Epoch     int           `json:"epoch"`              // current epoch
	Step      int           `json:"step"`               // steps completed in the epoch
	Steps     int64         `json:"steps"`              // total number of completed steps
	Rate      int           `json:"rate"`               // epochs since the learning rate schedule began
	LR        float64       `json:"lr"`                 // learning rate of the last step
	Restarted time.Duration `json:"restarted_ns"`       // time of the last start of that schedule
	LowRate   bool          `json:"low_rate,omitempty"` // EventLowRate is recorded
	Time      time.Duration `json:"time_ns"`            // time on the clock at the last save or change of devices
	Spent     time.Duration `json:"spent_ns"`           // budget used at the last evaluation or the end
	Past      int           `json:"past"`               // number of timeline events taken
	Live      []LiveChange  `json:"live,omitempty"`     // changes outside the timeline
	Devices   int           `json:"devices"`            // current number of devices
	Decisions int           `json:"decisions"`          // total number of decisions
	Loss      float64       `json:"loss"`               // sum over the epoch's steps
	Correct   int           `json:"correct"`            // correct images of the epoch; negative means unknown
	Seen      int           `json:"seen"`               // images of the epoch
	// images of Seen that a program's batches lacked, because they were not full
	Missing int `json:"missing,omitempty"`
	// whether steps or surgery changed the network since the last evaluation
	Fresh      bool          `json:"fresh"`
	Validation Score         `json:"validation"`       // last score
	Curve      decider.Curve `json:"curve,omitzero"`   // curve of the last whole epoch
	Abandoned  int           `json:"abandoned"`        // abandoned epochs
	Started    bool          `json:"started"`          // the start event is recorded
	Over       bool          `json:"over"`             // training has ended
	Ended      bool          `json:"ended"`            // the end event is recorded
	Scaler     *torch.Scaler `json:"scaler,omitempty"` // loss scaler for float16
}

// Score is the result of an evaluation on one split of the dataset.
type Score struct {
	Loss     float64 `json:"loss"`     // mean loss, in nats
	Accuracy float64 `json:"accuracy"` // accuracy between 0 and 1
}

// perEpoch is the number of steps of the current epoch: steps done plus steps left.
func (c *core) perEpoch() int {
	return c.Step + torch.Pieces(c.Data.Train.Count-c.Seen, c.batch(), c.least)
}

// work is a number of steps, for the clock.
func (c *core) work(steps int) clock.Work {
	w := c.workOn(c.Network, c.batch())
	w.Count = steps
	return w
}

// workOn is a step of a network on a batch.
func (c *core) workOn(n *model.Network, batch int) clock.Work {
	w := c.stepWork(n, batch, c.devices())
	w.Devices = c.sharing()
	return w
}

// stepOf is the time of a step with a network; zero if the clock cannot tell it.
func (c *core) stepOf(n *model.Network) time.Duration {
	w := c.workOn(n, c.batch())
	if clock.Knows(c.Clock, w) != nil {
		return 0
	}
	return c.Clock.Cost(w)
}

// StepTime returns the time of a step with the current network, or zero if the time is unknown.
func (c *core) StepTime() time.Duration { return c.stepOf(c.Network) }

func (c *core) evaluating(split dataset.Split) clock.Work {
	return clock.Work{Kind: clock.Batches, Count: (split.Count + c.EvalBatch - 1) / c.EvalBatch, Rows: c.EvalBatch,
		Network: c.Network, Devices: c.sharing()}
}

// sharing is the number of devices among which the clock divides work. On the wall clock it is the number of devices of
// running processes, because the clock measures their time: the allocation may have more devices, or there may be no
// processes at all.
func (c *core) sharing() int {
	if virtual(c.Clock) || c.crew == nil {
		return c.Devices
	}
	return c.crew()
}

// deadline is the time at which training must end: the end of the budget, minus the time of the last evaluation unless
// Overrun is set.
func (c *core) deadline() time.Duration {
	if c.Overrun {
		return c.Scheduler.Budget()
	}
	return c.Scheduler.Budget() - c.Clock.Cost(c.evaluating(c.Data.Validation))
}

// lastStep is the time at which the last step must end: the deadline or, if it is earlier, Timeline.Stop. Unlike the
// deadline, a stop reserves no time for the evaluation, so that all steps before it are steps of the job.
func (c *core) lastStep() time.Duration {
	if c.Timeline.Stop == 0 {
		return c.deadline()
	}
	return min(c.deadline(), c.Timeline.Stop)
}

// prepare makes missing programs and the seed of the epoch's order. It fails if a virtual clock lacks the cost of their
// work.
func (c *core) prepare() error {
	c.seed = c.Seed*1_000_003 + int64(c.Epoch) + int64(c.Abandoned)<<32
	if c.scratch != nil {
		return nil
	}
	if err := clock.Knows(c.Clock, c.work(1), c.evaluating(c.Data.Validation)); err != nil {
		return err
	}
	return c.compileStep()
}

func (c *core) note(event results.JobEvent) Note {
	p := c.Network.Parameters()
	return Note{Event: event, Time: c.Clock.Now(), Epoch: c.Epoch, Step: c.Step, Devices: c.Devices, Parameters: p,
		Before: p, Accuracy: c.Validation.Accuracy}
}

// labelsSeen is the number of labels of the epoch's examples. If only some labels count, it is estimated from the mean
// number per example.
func (c *core) labelsSeen() float64 {
	return float64(c.Seen) * (float64(c.Data.Labels(c.Data.Train, 0, c.Data.Train.Count)) / float64(c.Data.Train.Count))
}

// accuracy returns the training accuracy of the epoch. It is NaN if a program does not count its correct predictions.
func (c *core) accuracy() float64 {
	if c.Correct < 0 {
		return math.NaN()
	}
	return float64(c.Correct) / (c.labelsSeen() - float64(c.Missing))
}

func (c *core) row() Row {
	now := c.Clock.Now()
	used := c.resources(now)
	r := Row{Epoch: c.Epoch, Time: now, Steps: c.Steps, Validation: c.Validation, Rate: c.LR,
		Parameters: c.Network.Parameters(), Devices: c.Devices, Images: used.Images, FLOP: used.FLOP,
		DeviceTime: used.DeviceTime, BatchRates: c.batchRates()}
	if c.Step > 0 {
		r.Loss, r.Accuracy = c.Loss/float64(c.Step), c.accuracy()
	}
	return r
}
