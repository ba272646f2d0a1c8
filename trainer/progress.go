package trainer

import (
	"time"

	"graft/model"
)

// Phase is the activity of a job.
type Phase string

// The phases.
const (
	Starts    Phase = "starts"
	Trains    Phase = "trains"
	Decides   Phase = "decides"
	Operates  Phase = "operates" // on the network
	Evaluates Phase = "evaluates"
	Ended     Phase = "ended"
)

// Progress is a snapshot of a running job. It does not change after it was shown.
type Progress struct {
	Phase      Phase         // empty before the job runs
	Epoch      int           // under way, from 0
	Step       int           // done in it
	PerEpoch   int           // steps of an epoch
	Steps      int64         // done in all
	Loss       float64       // of training, mean over the epoch's steps, in nats; zero before the first step
	Accuracy   float64       // of training, as Loss
	Validation Score         // last evaluated
	Evaluated  bool          // Validation is known
	Rate       float64       // learning rate of the last step
	Time       time.Duration // of the budget that has passed
	Budget     time.Duration // in all
	Left       time.Duration // of the budget
	Devices    int           // now
	Parameters int           // of the network
	Layers     int           // of the network, with parameters
	Decisions  int           // in all
	Next       Event         // as of Scheduler.Next
	Live       []LiveChange  // changes beside the timeline
	Resources                // used so far
	BatchRates               // of the epoch
}

// Progress is a snapshot of the job. Call it from the goroutine that runs the job;
// others receive it by Watch.
func (c *core) Progress() Progress {
	p := &c.shown
	p.Epoch, p.Step, p.PerEpoch, p.Steps = c.Epoch, c.Step, c.perEpoch(), c.Steps
	if c.Step > 0 { // else the epoch before stays
		p.Loss, p.Accuracy = c.Loss/float64(c.Step), float64(c.Correct)/c.labelsSeen()
	}
	p.Validation, p.Evaluated, p.Rate = c.Validation, c.Validation != Score{}, c.LR
	p.Time, p.Budget, p.Left = c.Clock.Now(), c.Scheduler.Budget(), c.Scheduler.Left()
	p.Devices, p.Decisions, p.Next, p.Live = c.Devices, c.Decisions, c.Scheduler.Next(), c.Live
	p.Resources = c.resources(p.Time)
	if now := c.batchRates(); now.Throughput > 0 || p.Batch != now.Batch { // else the epoch before stays
		p.BatchRates = now
	}
	if p.Layers == 0 {
		p.Layers, p.Parameters = size(c.Network)
	}
	return *p
}

func (c *core) show(phase Phase) {
	if c.Watch != nil {
		c.shown.Phase = phase
		c.Watch(c.Progress())
	}
}

// size counts layers with parameters, and their parameters.
func size(n *model.Network) (layers, parameters int) {
	for _, leaf := range n.Leaves() {
		if count, _ := model.Counts(leaf.Layer); count > 0 {
			layers, parameters = layers+1, parameters+count
		}
	}
	return layers, parameters
}
