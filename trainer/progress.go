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
	Operates  Phase = "operates" // changes the network
	Evaluates Phase = "evaluates"
	Ended     Phase = "ended"
)

// Progress is an immutable snapshot of a running job.
type Progress struct {
	Phase      Phase         // empty before the job runs
	Epoch      int           // current epoch, from 0
	Step       int           // steps done in the epoch
	PerEpoch   int           // steps of an epoch
	Steps      int64         // steps done in total
	Loss       float64       // mean training loss over the epoch's steps, in nats; zero before the first step
	Accuracy   float64       // training accuracy over the epoch's steps; zero before the first step
	Validation Score         // last validation score
	Evaluated  bool          // Validation is known
	Rate       float64       // learning rate of the last step
	Time       time.Duration // budget used
	Budget     time.Duration // total budget
	Left       time.Duration // remaining budget
	Devices    int           // current number of devices
	Parameters int           // parameters of the network
	Layers     int           // layers of the network that have parameters
	Decisions  int           // decisions in total
	Next       Event         // next event, as in Scheduler.Next
	Live       []LiveChange  // changes outside the timeline
	Resources                // resources used so far
	BatchRates               // rates of the epoch
}

// Progress returns a snapshot of the job. Call it only on the goroutine that runs the job; others receive it by Watch.
func (c *core) Progress() Progress {
	p := &c.shown
	p.Epoch, p.Step, p.PerEpoch, p.Steps = c.Epoch, c.Step, c.perEpoch(), c.Steps
	if c.Step > 0 { // otherwise keep the values of the epoch before
		p.Loss, p.Accuracy = c.Loss/float64(c.Step), float64(c.Correct)/c.labelsSeen()
	}
	p.Validation, p.Evaluated, p.Rate = c.Validation, c.Validation != Score{}, c.LR
	p.Time, p.Budget, p.Left = c.Clock.Now(), c.Scheduler.Budget(), c.Scheduler.Left()
	p.Devices, p.Decisions, p.Next, p.Live = c.Devices, c.Decisions, c.Scheduler.Next(), c.Live
	p.Resources = c.resources(p.Time)
	if now := c.batchRates(); now.Throughput > 0 || p.Batch != now.Batch { // otherwise keep the rates of the last epoch
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
