package grid

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"graft/dataset"
	"graft/decider"
	"graft/model"
	"graft/net2net"
	"graft/torch"
	"graft/trainer"
)

// SegmentVersion is raised with every change after which a segment leads to another
// outcome.
const SegmentVersion = 1

// Executor runs segments: it holds what the jobs of all sequences have in common. All
// fields but Given are required.
type Executor struct {
	Options trainer.Options // of every job; the seed is the run's
	Data    *dataset.Set    // on the device
	Device  torch.Device
	// Begin makes the network of a run of a seed, with its first weights. The scope
	// owns it.
	Begin func(s *torch.Scope, seed int64) (*model.Network, *trainer.Pretrained, error)
	// Clock is a job's, which shows a time at first.
	Clock func(at time.Duration) trainer.Clock
	// Now is the machine's clock, which nothing is decided by.
	Now func() time.Time
	// Signed is what outcomes say of where they come from: versions and profile.
	Signed Outcome
	// Watch is called with where a job stands, as Parts.Watch; nil is nobody.
	Watch func(trainer.Progress)
	// ChooseThreads is Parts.ChooseThreads.
	ChooseThreads bool
}

// sequenceDecider takes the actions of a sequence one by one and leaves the next
// decision open, until the sequence has all its decisions; then it leaves the network as
// it is.
type sequenceDecider struct {
	actions   []net2net.Action
	decisions int
	seen      *Outcome // what is noted of each decision
}

// Decide takes the next action, or leaves it open.
func (c *sequenceDecider) Decide(_ context.Context, s decider.State) (decider.Decision, error) {
	if s.Decisions >= c.decisions {
		return decider.Decision{}, nil
	}
	if s.Decisions == len(c.seen.Left) { // otherwise an earlier leg has noted it
		c.seen.Left = append(c.seen.Left, s.Left.Seconds())
		c.seen.Step = append(c.seen.Step, s.Step.Seconds())
		c.seen.Before = append(c.seen.Before, s.Accuracy)
		c.seen.Networks = append(c.seen.Networks, net2net.Fingerprint(s.Network))
	}
	if s.Decisions < len(c.actions) {
		return decider.Decision{Action: c.actions[s.Decisions]}, nil
	}
	return decider.Decision{}, decider.ErrOpen
}

// memoryBook is a job's book in memory.
type memoryBook struct {
	rows  []trainer.Row
	saved state
}

// Epoch remembers a row.
func (b *memoryBook) Epoch(r trainer.Row) error {
	b.rows = append(b.rows, r)
	return nil
}

// Note does nothing: what counts is in the sequence.
func (b *memoryBook) Note(trainer.Note) error { return nil }

// Save remembers a checkpoint.
func (b *memoryBook) Save(sections []trainer.Section) error {
	b.saved = state{}
	for _, s := range sections {
		b.saved[s.Name] = s.Data
	}
	return nil
}

// run goes a leg, from where the one before it led to: its outcome and the state it
// ended in. Decisions is how many a sequence has. A leg that was stopped gives the
// state that it can go on from with an error that wraps trainer.ErrStopped.
func (l *Executor) run(ctx context.Context, leg Segment, decisions int, before *Outcome, from state) (*Outcome, state, error) {
	o, book := l.outcome(leg, before), &memoryBook{}
	if err := o.goOn(from); err != nil {
		return nil, nil, err
	}
	roads := &sequenceDecider{decisions: decisions, seen: o}
	for _, text := range leg.Sequence {
		a, err := net2net.ParseAction(text)
		if err != nil {
			return nil, nil, err
		}
		roads.actions = append(roads.actions, a)
	}
	began := l.Now()
	var end *trainer.Outcome
	err := torch.With(func(s *torch.Scope) error {
		job, err := l.job(s, leg.Seed, trainer.Parts{Data: l.Data, Decider: roads, Recorder: book, Now: l.Now, Watch: l.Watch, ChooseThreads: l.ChooseThreads}, from)
		if err != nil {
			return err
		}
		o.Steps -= job.Progress().Steps
		end, err = job.Run(ctx)
		o.Steps += job.Progress().Steps
		if err == nil {
			o.Networks = append(o.Networks, net2net.Fingerprint(job.Network))
		}
		return err
	})
	o.Seconds += l.Now().Sub(began).Seconds()
	o.addRows(book.rows)
	switch {
	case errors.Is(err, decider.ErrOpen):
		return o, book.saved, nil
	case errors.Is(err, trainer.ErrStopped) && book.saved != nil:
		return nil, book.saved, errors.Join(err, o.interrupt(book.saved))
	case err != nil:
		return nil, nil, fmt.Errorf("simulate %s: %w", leg, err)
	}
	return o, nil, o.end(end, decisions)
}

// legSection is of a state that was stopped: what its leg had come to.
const legSection = "leg.json"

// interrupt writes into a state what the leg has come to.
func (o *Outcome) interrupt(st state) (err error) {
	st[legSection], err = json.Marshal(o)
	return err
}

// goOn takes over what a leg had come to when it was stopped.
func (o *Outcome) goOn(st state) error {
	if st[legSection] == nil {
		return nil
	}
	if err := json.Unmarshal(st[legSection], o); err != nil {
		return fmt.Errorf("go on with a leg that was stopped: %w", err)
	}
	return nil
}

// outcome returns the outcome of a segment before it begins.
func (l *Executor) outcome(leg Segment, before *Outcome) *Outcome {
	o := l.Signed
	o.Sequence, o.Seed = append([]string{}, leg.Sequence...), leg.Seed
	o.Left, o.Step, o.Before, o.Networks, o.Epochs = []float64{}, []float64{}, []float64{}, []string{}, []Epoch{}
	if before != nil {
		o.Left, o.Step, o.Before = append(o.Left, before.Left...), append(o.Step, before.Step...), append(o.Before, before.Before...)
		o.Networks = append(o.Networks, before.Networks...)
	}
	return &o
}

// end fills in how a job ended.
func (o *Outcome) end(e *trainer.Outcome, decisions int) error {
	if n := len(o.Sequence); n != decisions || len(o.Left) != decisions {
		return fmt.Errorf("simulate %s: the budget ended after %d of %d decisions; let devices come earlier, or give simulate.decisions", o.Segment(), len(o.Left), decisions)
	}
	o.Ended, o.Accuracy, o.Test, o.Weights = true, e.Validation.Accuracy, e.Test.Accuracy, e.Digest
	return nil
}

// job begins a run, or goes on with one.
func (l *Executor) job(s *torch.Scope, seed int64, p trainer.Parts, from state) (*trainer.Job, error) {
	o := l.Options
	o.Seed = seed
	o.Checkpoint.Off = true // a leg is saved at its end, and when it is stopped
	if from == nil {
		var err error
		if p.Network, p.Pretrained, err = l.Begin(s, seed); err != nil {
			return nil, err
		}
		p.Clock = l.Clock(o.Timeline.Start)
		return trainer.New(s, p, o)
	}
	stopped, err := trainer.ReadSavedJob(from)
	if err != nil {
		return nil, err
	}
	p.Clock = l.Clock(stopped.Time)
	return trainer.Resume(s, stopped, p, model.Placement{Device: l.Device, Random: s.NewGenerator(torch.CPU, seed)}, o)
}
