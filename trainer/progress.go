package trainer

import (
	"time"

	"graft/model"
)

// Phase names the current activity of a job.
type Phase string

// Phases of a job.
const (
	Starts    Phase = "starts"
	Trains    Phase = "trains"
	Decides   Phase = "decides"
	Operates  Phase = "operates" // surgery on the network
	Evaluates Phase = "evaluates"
	Ended     Phase = "ended"
)

// Progress is an immutable snapshot of a running job.
type Progress struct {
	Phase      Phase         // current phase; empty before the job runs
	Epoch      int           // current epoch, from 0
	Step       int           // number of steps done in the epoch
	PerEpoch   int           // number of steps per epoch
	Steps      int64         // total number of steps done
	Loss       float64       // mean training loss in the epoch so far, in nats; zero before the first step
	Accuracy   float64       // training accuracy in the epoch so far; zero before the first step
	Validation Score         // last validation score
	Evaluated  bool          // a validation score is known
	Rate       float64       // learning rate of the last step
	Time       time.Duration // used part of the budget
	Budget     time.Duration // total budget
	Left       time.Duration // remaining budget
	Devices    int           // current number of devices
	Parameters int           // number of parameters of the network
	Layers     int           // number of layers with parameters
	Decisions  int           // total number of decisions
	Next       Event         // next known event, as Scheduler.Next returns it
	Live       []LiveChange  // changes of devices outside of the timeline
	Resources                // resources used so far
	BatchRates               // batch, throughput and efficiency of the epoch
}

// Progress returns a snapshot of the job. Call it only on the goroutine that runs the job; other goroutines receive
// snapshots through Watch.
func (c *core) Progress() Progress {
	p := &c.shown
	p.Epoch, p.Step, p.PerEpoch, p.Steps = c.Epoch, c.Step, c.perEpoch(), c.Steps
	if c.Step > 0 { // otherwise keep the values of the epoch before
		p.Loss, p.Accuracy = c.Loss/float64(c.Step), c.accuracy()
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
