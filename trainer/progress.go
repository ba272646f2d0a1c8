package trainer

import (
	"time"

	"graft/model"
)

// Phase is what a job does at a moment.
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

// Progress is where a job stands. Nothing in it changes once it has been shown.
type Progress struct {
	Phase      Phase         // what it does; empty before it runs
	Epoch      int           // the one under way, from 0
	Step       int           // done in it
	PerEpoch   int           // steps of an epoch
	Steps      int64         // done in all
	Loss       float64       // of training, the mean over the epoch's steps; zero before the first step
	Accuracy   float64       // of training, as Loss
	Validation Score         // when it was last evaluated
	Evaluated  bool          // it has been
	Rate       float64       // the learning rate of the last step
	Time       time.Duration // of the budget, that has passed
	Budget     time.Duration // in all
	Left       time.Duration // of the budget
	Devices    int           // now
	Parameters int           // of the network
	Layers     int           // of the network, that have parameters
	Decisions  int           // in all
	Next       Event         // as Scheduler's
	Live       []Taken       // changes that were taken beside the timeline
}

// Progress is where the job stands. It is for the goroutine that runs it; others are
// told by Watch.
func (j *Job) Progress() Progress {
	p := &j.told
	p.Epoch, p.Step, p.PerEpoch, p.Steps = j.Epoch, j.Step, j.perEpoch(), j.Steps
	if j.Step > 0 { // else that of the epoch before is shown on
		p.Loss, p.Accuracy = j.Loss/float64(j.Step), float64(j.Correct)/float64(j.Seen)
	}
	p.Validation, p.Evaluated, p.Rate = j.Validation, j.Validation != Score{}, j.LR
	p.Time, p.Budget, p.Left = j.Clock.Now(), j.Scheduler.Budget(), j.Scheduler.Left()
	p.Devices, p.Decisions, p.Next, p.Live = j.Devices, j.Decisions, j.Scheduler.Next(), j.Live
	if p.Layers == 0 {
		p.Layers, p.Parameters = size(j.Network)
	}
	return *p
}

// show tells whoever watches where the job stands.
func (j *Job) show(phase Phase) {
	if j.Watch != nil {
		j.told.Phase = phase
		j.Watch(j.Progress())
	}
}

// size counts the layers that have parameters, and those.
func size(n *model.Network) (layers, parameters int) {
	for _, leaf := range n.Leaves() {
		if count, _ := model.Counts(leaf.Layer); count > 0 {
			layers, parameters = layers+1, parameters+count
		}
	}
	return layers, parameters
}
