package trainer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"graft/dataset"
	"graft/decider"
	"graft/model"
	"graft/net2net"
	"graft/torch"
)

// Parts are what a job is made of. All but Given, Scheduler, Book and Watch are required.
type Parts struct {
	Network *model.Network // with weights; the job takes it over
	Data    *dataset.Set   // on the network's device
	Clock   Clock
	Decider decider.Decider
	// Scheduler gives the job its devices and its time, on Clock. Nil follows the
	// timeline of the options.
	Scheduler Scheduler
	Book      Book // nil writes nothing down
	// Watch is called with where the job stands, before all that it does. It is
	// called by the goroutine that trains, which waits for it. Nil is nobody.
	Watch func(Progress)
	// Now is the machine's clock, for how often to save and to show; nothing that a
	// virtual clock decides depends on it.
	Now func() time.Time
	// Given is what is known of a network that was trained before; nil is nothing.
	Given *Given
	// Starter starts the processes of a job that trains in several; nil where it does
	// not.
	Starter Starter
}

// Job is a network in training. It is made by New or Resume.
type Job struct {
	Options
	Parts
	s *torch.Scope
	position
	optimizer *net2net.Optimizer
	random    *torch.Generator // of augmentation and dropout
	order     *torch.Tensor    // of this epoch's images
	program   *torch.Program
	scratch   *torch.Scope  // of order and program; made anew with them
	lessons   *torch.Tensor // logits of a larger network on the training images; nil is none
	kept      *kept         // as last evaluated, where that counts; nil where it does not
	mean      *torch.Tensor
	deviation *torch.Tensor
	saved     time.Time // when a checkpoint was last written, by Now
	pace      struct {  // of the last call that trained, by Now
		steps int // zero before there was one
		took  time.Duration
	}
	saves struct { // checkpoints that were written, and what they took, by Now
		count int
		took  time.Duration
	}
	told Progress // what was last shown
	team *team    // nil where the job trains in one process
}

// position is where a job stands: with the tensors, all that its future depends on.
type position struct {
	Epoch      int               `json:"epoch"`          // the one under way
	Step       int               `json:"step"`           // done in it
	Steps      int64             `json:"steps"`          // done in all
	Rate       int               `json:"rate"`           // epochs that the learning rate has seen
	LR         float64           `json:"lr"`             // of the last step
	Used       float64           `json:"used"`           // of the budget, when the epoch began
	Time       time.Duration     `json:"time_ns"`        // on the clock
	Spent      time.Duration     `json:"spent_ns"`       // of the budget, when it was last evaluated or ended
	Past       int               `json:"past"`           // events of the timeline
	Live       []Taken           `json:"live,omitempty"` // changes beside the timeline
	Devices    int               `json:"devices"`        // now
	Asked      int               `json:"asked"`          // questions since the last up
	Asking     bool              `json:"asking"`         // an up wants a question still
	Decisions  int               `json:"decisions"`      // in all
	Loss       float64           `json:"loss"`           // summed over the epoch's steps
	Correct    int               `json:"correct"`        // images of the epoch
	Seen       int               `json:"seen"`           // images of the epoch
	Fresh      bool              `json:"fresh"`          // steps since the last evaluation
	Validation Score             `json:"validation"`
	Changes    []*net2net.Change `json:"changes"`   // that the network went through and still has
	Abandoned  int               `json:"abandoned"` // epochs
	Divided    int               `json:"divided"`   // how often the learning rate was
	Levels     []int             `json:"levels"`    // how many changes there were at each up
	Lessons    int               `json:"lessons"`   // epochs since the last shrinking
	Taught     int               `json:"taught"`    // steps that the teacher has taught
	Course     int               `json:"course"`    // steps that it teaches in all
	Deciding   time.Duration     `json:"deciding_ns"`
	Operating  time.Duration     `json:"operating_ns"`
	Started    bool              `json:"started"` // the beginning is written down
	Over       bool              `json:"over"`    // nothing is left to train
	Ended      bool              `json:"ended"`   // the end is written down
}

// Score is how well a network does on a split.
type Score struct {
	Loss     float64 `json:"loss"`     // the mean, in nats
	Accuracy float64 `json:"accuracy"` // between 0 and 1
}

// New begins a job. Scope s owns what it makes; it must own the network as well.
func New(s *torch.Scope, p Parts, o Options) (*Job, error) {
	j, err := build(s, p, o)
	if err != nil {
		return nil, err
	}
	j.Devices = 1
	j.Time = p.Clock.Now()
	j.optimizer, err = net2net.NewOptimizer(s, p.Network, j.optimizerOptions())
	if err != nil {
		return nil, err
	}
	if err := j.goOn(p.Given); err != nil {
		return nil, err
	}
	return j, s.Err()
}

// build checks the parts and makes what new and resumed jobs have in common.
func build(s *torch.Scope, p Parts, o Options) (*Job, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("begin a job: %w", err)
	}
	if err := fits(p); err != nil {
		return nil, fmt.Errorf("begin a job: %w", err)
	}
	if p.Book == nil {
		p.Book = nothing{}
	}
	if p.Scheduler == nil {
		p.Scheduler = NewPlanned(o.Timeline, p.Clock)
	}
	j := &Job{Options: o, Parts: p, s: s}
	var err error
	if j.team, err = newTeam(j); err != nil {
		return nil, fmt.Errorf("begin a job: %w", err)
	}
	return j, j.furnish()
}

// furnish makes the generator, and what images are normalised with.
func (j *Job) furnish() error {
	j.random = j.s.NewGenerator(j.Network.Placement().Device, j.Seed)
	return j.prepare()
}

// prepare puts what images are normalised with on the device.
func (j *Job) prepare() error {
	device, channels := j.Network.Placement().Device, len(j.Data.Mean)
	j.mean = j.s.To(torch.From(j.s, j.Data.Mean, channels, 1, 1), torch.Float32, device)
	j.deviation = j.s.To(torch.From(j.s, j.Data.Deviation, channels, 1, 1), torch.Float32, device)
	return j.s.Err()
}

// fits checks that network and data belong together.
func fits(p Parts) error {
	if p.Network == nil || p.Network.Scope() == nil || p.Data == nil || p.Clock == nil || p.Decider == nil || p.Now == nil {
		return errors.New("it needs a network with weights, data, a clock, a decider and the machine's clock")
	}
	if p.Data.Train.Count == 0 || p.Data.Validation.Count == 0 {
		return fmt.Errorf("%s has %d training and %d validation images; both are needed", p.Data.Name, p.Data.Train.Count, p.Data.Validation.Count)
	}
	return belong(p.Network, p.Data)
}

// belong checks that a network takes the images and tells their classes apart.
func belong(n *model.Network, data *dataset.Set) error {
	if shape := data.Shape; !n.Input.Same(shape[:]) {
		return fmt.Errorf("the network takes %v and the images of %s are %v; give the network that input, or other images", n.Input, data.Name, model.Shape(shape[:]))
	}
	out, err := n.Output()
	if err != nil {
		return err
	}
	if len(out) != 1 || out[0] != len(data.Classes) {
		return fmt.Errorf("the network gives %v and %s has %d classes; say so with the network's classes", out, data.Name, len(data.Classes))
	}
	return nil
}

func (j *Job) optimizerOptions() torch.OptimizerOptions {
	o := j.Optimizer
	o.Fused = !j.Exact
	return o
}

// perEpoch is the steps of an epoch.
func (j *Job) perEpoch() int { return (j.Data.Train.Count + j.Batch - 1) / j.Batch }

// ErrStopped says that a job was asked to stop and has saved all that it did.
var ErrStopped = errors.New("the job was stopped, and its progress is saved")

// Run works until the budget is used up, or until ctx is cancelled: then it saves
// the job and returns ErrStopped. Where the decider leaves a decision open it saves
// the job as well, and returns decider.ErrOpen.
func (j *Job) Run(ctx context.Context) (o *Outcome, err error) {
	defer j.close()
	defer func() { j.Scheduler.End(err) }()
	j.show(Starts)
	j.saved = j.Now()
	if !j.Started {
		j.Started = true
		if err := j.Book.Note(j.note("start")); err != nil {
			return nil, err
		}
	}
	for !j.Over {
		if err := j.team.gather(ctx); err != nil {
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
		if err := j.maybeSave(); err != nil {
			return nil, err
		}
	}
	return j.finish()
}

// turn does what comes next: heed the scheduler, adapt, train some steps, or end
// the epoch or the job.
func (j *Job) turn(ctx context.Context) error {
	if done, err := j.between(ctx); done {
		return err
	}
	if a := j.Scheduler.Allocation(); a.Change != Same || a.Devices != j.Devices {
		return j.heed(a)
	}
	if j.Asking {
		return j.adapt(ctx)
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

func (j *Job) close() {
	j.team.close()
	_ = j.stale()
	j.dismiss()
	j.kept.close()
	j.kept = nil
}
