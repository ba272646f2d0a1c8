package trainer

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"time"

	"graft/dataset"
	"graft/decider"
	"graft/internal/files"
	"graft/model"
	"graft/net2net"
	"graft/torch"
	"graft/trainer/clock"
	"graft/trainer/team"
)

// Parts holds the inputs of a job other than its options.
type Parts struct {
	Network *model.Network // network with weights; the job changes it
	Data    *dataset.Set   // dataset on the network's device
	Clock   clock.Clock
	Decider decider.Decider
	// scheduler of devices and time, which uses the clock in the field Clock; nil means a scheduler that follows the
	// timeline of the options
	Scheduler Scheduler
	Recorder  Recorder // recorder of epochs, events and checkpoints; nil records nothing
	// Watch receives the job's progress before each operation. The job calls it on the training goroutine, so it must
	// return quickly. Nil means no calls.
	Watch func(Progress)
	// Now reads the wall clock. It determines when the job saves and reports; on a virtual clock no result depends on
	// it.
	Now func() time.Time
	// Threads finds the fastest number of LibTorch threads by trials. Threads applies only if a job trains in one
	// process on the CPU and Options.Steady is set, because then results do not depend on the number of threads. Nil
	// keeps the current number of threads.
	Threads *ThreadChooser
	// previous options of a job that resumes with another timeline; nil means that the options are unchanged
	Was        *Options
	Pretrained *Pretrained // earlier training of the network; nil means none
	// Starter starts the processes of a job that trains in parallel; required if Options.Parallel is on.
	Starter team.Starter
	// Files is the file system for the rendezvous of processes; required with Starter.
	Files files.FS
	// Program trains the network instead of this process. Data is then not used. Nil means that this process trains.
	Program *Program
}

// Job trains a network within a budget. New and Resume create it.
type Job struct {
	core
	adaptation   adaptation
	distillation distillation
	evaluation   evaluation
	team         *team.Team // nil if the job trains in one process
	pace         pace
	saves        saves
	speed        speed
}

// New begins a job. The scope owns the job's tensors and must also own the network's tensors.
func New(s *torch.Scope, p Parts, o Options) (*Job, error) {
	j, err := build(s, p, o, o.Fits)
	if err == nil {
		j.Devices, j.Time, j.sums.FLOP = o.Timeline.First(), p.Clock.Now(), new(big.Int)
		if j.remote != nil {
			j.remote.devices = j.Devices
		}
		if j.Precision == torch.Half {
			j.Scaler = torch.NewScaler()
		}
		j.optimizer, err = net2net.NewOptimizer(s, p.Network, j.optimizerOptions())
		err = errors.Join(err, j.beginAverage())
	}
	if err == nil {
		err = errors.Join(j.continueFrom(p.Pretrained), s.Err())
		if j.Adapt.When == WhenPlateau {
			j.adaptation.Plateau.Best, j.adaptation.Plateau.Before = j.Validation.Accuracy, j.Validation.Accuracy
		}
	}
	if err != nil {
		return nil, fmt.Errorf("start a job: %w", err)
	}
	return j, nil
}

// build checks the parts and sets up a job without an optimizer. Fits checks the network's memory; a resumed job skips
// the check, because a network that has grown may exceed the limit.
func build(s *torch.Scope, p Parts, o Options, fits func(*model.Network) error) (*Job, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if err := p.validate(); err != nil {
		return nil, err
	}
	if err := p.supports(o, fits); err != nil {
		return nil, err
	}
	if p.Recorder == nil {
		p.Recorder = discard{}
	}
	var err error
	if p.Scheduler, err = schedulerFor(p, o); err != nil {
		return nil, err
	}
	j := &Job{core: core{replica: &replica{Options: o, Network: p.Network, Data: p.Data, scope: s},
		Clock: p.Clock, Scheduler: p.Scheduler, Book: p.Recorder, Watch: p.Watch, Now: p.Now}}
	if j.team, err = team.New(leader{&j.core}, o.Parallel, p.Starter, p.Files); err != nil {
		return nil, err
	}
	if p.Program != nil {
		j.remote = &remote{Program: p.Program, behind: true}
	}
	j.crew = j.team.Crew
	j.distillation = distillation{core: &j.core}
	j.adaptation = adaptation{core: &j.core, decider: p.Decider, distillation: &j.distillation, moments: o.Moments()}
	j.evaluation = evaluation{core: &j.core, team: j.team}
	if o.Steady && j.team == nil && p.Program == nil && p.Network.Placement().Device == torch.CPU {
		j.chooser = p.Threads
	}
	return j, j.setUp()
}

// schedulerFor returns the scheduler of a job: the given one, or one that follows the timeline.
func schedulerFor(p Parts, o Options) (Scheduler, error) {
	if p.Scheduler == nil && !o.Parallel.Elastic {
		return NewPlanned(o.Timeline, p.Clock), nil
	}
	if p.Scheduler == nil {
		p.Scheduler = NewLive(o.Timeline, p.Clock)
	}
	if live, ok := p.Scheduler.(*Live); ok && o.Parallel.Elastic {
		live.Present(1)
	} else if o.Parallel.Elastic {
		return nil, errors.New("parallel.elastic changes the devices during the job, but the job's device scheduler " +
			"does not support such changes; set parallel.elastic to false")
	}
	return p.Scheduler, nil
}

// validate checks that all required parts are present and match each other.
func (p *Parts) validate() (err error) {
	if p.Program != nil && p.Network != nil {
		if p.Data, err = p.Program.Data(p.Network); err != nil {
			return err
		}
	}
	if p.Network == nil || p.Network.Scope() == nil || p.Data == nil || p.Clock == nil || p.Decider == nil ||
		p.Now == nil {
		return errors.New("a job requires Network (with weights), Data, Clock, Decider and Now")
	}
	if p.Program != nil {
		return nil
	}
	if p.Data.Train.Count == 0 || p.Data.Validation.Count == 0 {
		return fmt.Errorf("%s has %d training and %d validation images; expected at least one of each", p.Data.Name,
			p.Data.Train.Count, p.Data.Validation.Count)
	}
	return Matches(p.Network, p.Data)
}

// supports returns an error if the options do not suit the network and its device.
func (p *Parts) supports(o Options, fits func(*model.Network) error) error {
	if p.Program != nil {
		return nil
	}
	return errors.Join(o.On(p.Network.Placement().Device), fits(p.Network), o.Computes(p.Network),
		o.Normalizes(p.Network, p.Data.Train.Count),
		o.Runs(p.Network, p.Data.Train.Count, p.Data.Validation.Count))
}

// Takes returns an error if a network does not accept examples of the given shape. The length of sequences may differ
// from the length in the network's file.
func Takes(n *model.Network, name string, shape []int, tokens bool) error {
	if tokens != n.Tokens() {
		return fmt.Errorf("the network expects %s, but %s has %s; choose another network, or other data",
			kindOf(n.Tokens()), name, kindOf(tokens))
	}
	if !n.TakesShape(shape) {
		return fmt.Errorf("the network expects input %v, but the %s of %s have shape %v; change the network's input, "+
			"or the data", n.Input, kindOf(tokens), name, model.Shape(shape))
	}
	return nil
}

// Answers returns an error if a network's vocabulary is smaller than the data's, or if its number of outputs does not
// match the number of classes. Outputs are per example or per token, depending on the task. If fixed is true, the
// number of outputs cannot be changed, because the weights are given.
func Answers(n *model.Network, name string, f dataset.Facts, fixed bool) error {
	out, err := n.Output()
	if err != nil {
		return err
	}
	switch {
	case f.Task == dataset.NextToken && (len(out) != 2 || out[1] < f.Classes):
		return fmt.Errorf("the network's output is %v, but the text of %s has %d different tokens; "+
			"the network needs one output for each of them", out, name, f.Classes)
	case f.Task == dataset.TokenLabel && (len(out) != 2 || f.Classes > 0 && out[1] != f.Classes):
		return fmt.Errorf("the network's output is %v, but each token of %s has one of %d labels; "+
			"use an encoder with one output per label for each token", out, name, f.Classes)
	case f.Task == dataset.TextLabel && (len(out) != 1 || f.Classes > 0 && out[0] != f.Classes):
		return fmt.Errorf("the network's output is %v, but each text of %s has one of %d labels; "+
			"use an encoder such as SmallBERT with one class per label", out, name, f.Classes)
	case f.Task == dataset.ImageLabel && (len(out) != 1 || f.Classes > 0 && out[0] != f.Classes):
		return fmt.Errorf("the network's output is %v, but %s has %d classes; %s", out, name, f.Classes,
			remedyOfClasses(n, out, name, cmp.Or(f.Classes, 10), fixed))
	}
	if rows := n.Vocabulary(); rows > 0 && rows < f.Vocabulary {
		return fmt.Errorf("the network's vocabulary has %d tokens, but the text of %s uses %d; enlarge the "+
			"vocabulary, or use other tokens", rows, name, f.Vocabulary)
	}
	return nil
}

// remedyOfClasses says how a network and its data get the same number of classes.
func remedyOfClasses(n *model.Network, out model.Shape, name string, classes int, fixed bool) string {
	if _, err := n.WithClasses(classes); err == nil && !fixed {
		return fmt.Sprintf("set network.classes to %d, or use other data", classes)
	}
	if name == dataset.KindSynthetic && len(out) == 1 {
		return fmt.Sprintf("set data.synthetic.classes to %d, or use a network with %d outputs", out[0], classes)
	}
	return fmt.Sprintf("use a network with %d outputs, or other data", classes)
}

func kindOf(tokens bool) string {
	if tokens {
		return "tokens"
	}
	return "images"
}

// Matches returns an error if a network's input or output does not match a dataset.
func Matches(n *model.Network, data *dataset.Set) error {
	if err := Takes(n, data.Name, data.Shape, data.Tokens()); err != nil {
		return err
	}
	return Answers(n, data.Name, data.Facts(), false)
}

// Saving returns the number of checkpoints that this process has written, and their total wall-clock time. These values
// do not affect results.
func (j *Job) Saving() (checkpoints int, took time.Duration) { return j.saves.count, j.saves.took }

// Speed returns the number of images per second, by the wall clock, in this process's training calls. It returns zero
// before the first call. The value does not affect results.
func (j *Job) Speed() float64 { return j.speed.images / max(j.speed.took.Seconds(), 1e-9) }

func (j *Job) close() {
	j.team.Close()
	j.chooser.close()
	j.replica.close()
	j.evaluation.kept.close()
	j.evaluation.best.close()
	j.evaluation.kept, j.evaluation.best = nil, nil
}
