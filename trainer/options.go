package trainer

import (
	"errors"
	"fmt"
	"time"

	"graft/net2net"
	"graft/torch"
)

// Options say how a job runs. EnsureDefaults fills in what zero stands for.
type Options struct {
	Seed      int64 // of the order of images, of what is drawn in training, and of surgery
	Batch     int   // images in a step; zero means 64
	EvalBatch int   // images in a batch of evaluation; zero means 128, which takes little memory
	// Epochs ends a job that has trained so many, even if there is time left; zero
	// means that only the budget ends it.
	Epochs    int
	Timeline  Timeline               // when devices come and go, and how long the job lasts; required
	Optimizer torch.OptimizerOptions // a rule of zero means Adam with a rate of 0.01
	Schedule  Schedule               // of the learning rate; zero is exponential
	Augment   torch.Augment          // of training images; zero is none
	Adapt     Adapt                  // when to adapt; zero asks once for each up
	Distill   Distill                // after a down; zero learns from the larger network
	// Exact keeps PyTorch's order of operations; false takes the fast path, whose
	// results are equal up to rounding.
	Exact bool
	// Steady gives the same bits whatever the number of threads, on the CPU, for
	// some of the speed; false may give others.
	Steady     bool
	Checkpoint Checkpoint // how often; zero is once a minute
	// Parallel trains in a process for each device; zero trains in one. A job that
	// goes on from a checkpoint may have another.
	Parallel Parallel `json:"-"`
}

// Adapt says when a decider is asked, and how its actions are done.
type Adapt struct {
	// Every asks again at the start of each epoch after an up; false asks once for
	// each up.
	Every bool
	// Most is how often an up leads to a question; zero means 3 with Every, else 1.
	Most int
	// Rows is how many training images calibrate new normalisations; zero means 256.
	Rows int
	// Reset begins with a new optimizer after every question, as the original did;
	// false lets its state follow.
	Reset   bool
	Surgery net2net.Options // noise, form and compatibility; batch and seed are the job's
}

// Distill says how a network that became smaller learns from the larger one.
type Distill struct {
	Off         bool    // return to the smaller network and nothing else
	Temperature float64 // zero means 2
	Share       float64 // of the teacher in the loss, at first; zero means 0.75
	Decay       float64 // what each epoch takes off the share; zero means 0.25 of it
	Epochs      int     // for which there is a teacher; zero means 4
}

// Checkpoint says how often a job is saved.
type Checkpoint struct {
	Every time.Duration // of the machine's time, between steps; zero means a minute
	Off   bool          // save at the end only
}

// EnsureDefaults fills in what zero stands for.
func (o *Options) EnsureDefaults() {
	whole := func(v *int, zero int) {
		if *v == 0 {
			*v = zero
		}
	}
	share := func(v *float64, zero float64) {
		if *v == 0 {
			*v = zero
		}
	}
	whole(&o.Batch, 64)
	whole(&o.EvalBatch, 128)
	whole(&o.Adapt.Rows, 256)
	whole(&o.Distill.Epochs, 4)
	share(&o.Distill.Temperature, 2)
	share(&o.Distill.Share, 0.75)
	share(&o.Distill.Decay, 0.25)
	if o.Adapt.Every {
		whole(&o.Adapt.Most, 3)
	}
	whole(&o.Adapt.Most, 1)
	if o.Optimizer.Rule == 0 {
		o.Optimizer.Rule = torch.Adam
		share(&o.Optimizer.LR, 0.01)
	}
	o.Optimizer.EnsureDefaults()
	o.Schedule.EnsureDefaults()
	o.Parallel.EnsureDefaults()
	if o.Checkpoint.Every == 0 {
		o.Checkpoint.Every = time.Minute
	}
}

// Validate lists all that is wrong.
func (o Options) Validate() error {
	faults := []error{o.Timeline.Validate(), o.Schedule.Validate(), o.Optimizer.Validate(), o.Augment.Validate(), o.Parallel.Validate()}
	for name, value := range map[string]int{"batch": o.Batch, "eval_batch": o.EvalBatch, "epochs": o.Epochs, "adapt.most": o.Adapt.Most,
		"adapt.rows": o.Adapt.Rows, "distill.epochs": o.Distill.Epochs} {
		if value < 0 {
			faults = append(faults, fmt.Errorf("%s is %d; it is not negative", name, value))
		}
	}
	d := o.Distill
	if d.Share < 0 || d.Share > 1 || d.Decay < 0 || d.Decay > 1 || d.Temperature < 0 {
		faults = append(faults, errors.New("distill: share and decay lie between 0 and 1, the temperature is above 0"))
	}
	return errors.Join(faults...)
}
