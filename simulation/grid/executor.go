package grid

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"graft/dataset"
	"graft/decider"
	"graft/model"
	"graft/net2net"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
)

// SegmentVersion is a part of the keys of outcomes. It must be incremented whenever the code that computes segments
// gives other results; a test of package main fails then.
const SegmentVersion = 4

// Executor runs segments. Watch, Program and Threads are optional.
type Executor struct {
	Options trainer.Options // options for every job; the run sets the seed
	Data    *dataset.Set    // dataset on the device
	Device  torch.Device
	// Begin creates the initial network and its weights from the seed of a run. The scope owns the network's tensors.
	Begin func(s *torch.Scope, seed int64) (*model.Network, *trainer.Pretrained, error)
	// Clock creates a job's clock. The argument at is the initial time of the clock, counted from the start of the
	// budget.
	Clock func(at time.Duration) clock.Clock
	// Now is the wall clock. Results do not depend on this clock.
	Now func() time.Time
	// Provenance holds the versions and the profile that are copied to each outcome.
	Provenance Outcome
	// Watch receives each job's progress, as trainer.Parts.Watch does. Nil disables the callback.
	Watch func(trainer.Progress)
	// Program starts an external program that trains the network with the given seed on the given number of devices. It
	// returns a function that ends the program. Nil means that this process trains; otherwise Begin and Data are not
	// used.
	Program func(ctx context.Context, seed int64, devices int) (*trainer.Program, func(), error)
	// Gains returns the choices at a decision whose gains are computed before the decision, as a policy that reads
	// gains does. Nil computes no gains.
	Gains func(n *model.Network) ([]net2net.Action, error)
	// Threads chooses the number of threads, as trainer.Parts.Threads does. All jobs use the same chooser.
	Threads *trainer.ThreadChooser
}

// sequenceDecider takes the actions of a sequence one by one and leaves the next decision open. After the last decision
// of the sequence it leaves the network unchanged.
type sequenceDecider struct {
	actions   []net2net.Action
	decisions int
	seen      *Outcome                                         // records each decision
	gains     func(n *model.Network) ([]net2net.Action, error) // as Executor.Gains
}

// Decide returns the next action of the sequence. After the last action, it makes no decision.
func (c *sequenceDecider) Decide(_ context.Context, s decider.State) (decider.Decision, error) {
	if s.Decisions >= c.decisions {
		return decider.Decision{}, nil
	}
	if s.Decisions == len(c.seen.Left) { // otherwise an earlier segment has recorded it
		c.seen.Left = append(c.seen.Left, s.Left.Seconds())
		c.seen.Step = append(c.seen.Step, s.Step.Seconds())
		c.seen.Before = append(c.seen.Before, s.Accuracy)
		c.seen.Loss, c.seen.Fall, c.seen.Gap = append(c.seen.Loss, s.Curve.Loss), append(c.seen.Fall, s.Curve.Fall),
			append(c.seen.Gap, s.Curve.Gap)
		c.seen.Networks = append(c.seen.Networks, net2net.Fingerprint(s.Network))
	}
	if s.Decisions >= len(c.actions) {
		return decider.Decision{}, decider.ErrOpen
	}
	a := c.actions[s.Decisions]
	if c.gains != nil && s.Decisions == len(c.seen.Gain) {
		gain, err := c.gain(s, a)
		if err != nil {
			return decider.Decision{}, err
		}
		c.seen.Gain = append(c.seen.Gain, gain)
	}
	return decider.Decision{Action: a}, nil
}

// gain computes the gains of all choices, because a policy pays for all of them, and returns the gain of the taken one;
// zero if it has none.
func (c *sequenceDecider) gain(s decider.State, taken net2net.Action) (gain float64, err error) {
	rated, err := c.gains(s.Network)
	if err != nil {
		return 0, err
	}
	for _, a := range rated {
		g, err := s.Gain(a)
		if errors.Is(err, decider.ErrNoTime) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		if a == taken {
			gain = g
		}
	}
	return gain, nil
}

// memoryBook records a job in memory.
type memoryBook struct {
	rows  []trainer.Row
	saved state
}

// Epoch appends the row of an epoch.
func (b *memoryBook) Epoch(r trainer.Row) error {
	b.rows = append(b.rows, r)
	return nil
}

// Note does nothing, because the sequence already contains all decisions.
func (b *memoryBook) Note(trainer.Note) error { return nil }

// Keep does nothing.
func (b *memoryBook) Keep(time.Duration, []trainer.Section) error { return nil }

// Save stores a checkpoint.
func (b *memoryBook) Save(sections []trainer.Section) error {
	b.saved = state{}
	for _, s := range sections {
		b.saved[s.Name] = s.Data
	}
	return nil
}

// run runs a segment from the state before it, and returns its outcome and its last state. Decisions is the number of
// decisions in a sequence. A stopped segment returns the state to resume from, and an error that wraps
// trainer.ErrStopped.
func (l *Executor) run(ctx context.Context, segment Segment, decisions int, before *Outcome,
	from state) (*Outcome, state, error) {
	o, book := l.outcome(segment, before), &memoryBook{}
	if err := o.goOn(from); err != nil {
		return nil, nil, err
	}
	choices, err := l.choices(segment, decisions, o)
	if err != nil {
		return nil, nil, err
	}
	parts := trainer.Parts{Data: l.Data, Decider: choices, Recorder: book, Now: l.Now, Watch: l.Watch,
		Threads: l.Threads}
	done, err := l.start(ctx, &parts, segment.Seed, from)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	end, err := l.train(ctx, o, parts, from)
	o.addEpochs(book.rows)
	switch {
	case errors.Is(err, decider.ErrOpen):
		return o, book.saved, nil
	case errors.Is(err, trainer.ErrStopped) && book.saved != nil:
		return nil, book.saved, errors.Join(err, o.interrupt(book.saved))
	case err != nil:
		return nil, nil, fmt.Errorf("simulate %s: %w", segment, err)
	}
	return o, nil, o.end(end, decisions)
}

// choices returns the decider of a segment, which records its decisions in an outcome.
func (l *Executor) choices(segment Segment, decisions int, seen *Outcome) (*sequenceDecider, error) {
	c := &sequenceDecider{decisions: decisions, seen: seen, gains: l.Gains}
	for _, text := range segment.Sequence {
		a, err := net2net.ParseAction(text)
		if err != nil {
			return nil, err
		}
		c.actions = append(c.actions, a)
	}
	return c, nil
}

// start starts the program of a job, if there is one. It returns a function that ends the program.
func (l *Executor) start(ctx context.Context, p *trainer.Parts, seed int64, from state) (done func(), err error) {
	if l.Program == nil {
		return func() {}, nil
	}
	devices, err := l.devices(from)
	if err != nil {
		return nil, err
	}
	p.Program, done, err = l.Program(ctx, seed, devices)
	return done, err
}

// train trains a segment, and adds its steps, its network and its time on the wall clock to an outcome.
func (l *Executor) train(ctx context.Context, o *Outcome, p trainer.Parts, from state) (end *trainer.Outcome,
	err error) {
	began := l.Now()
	err = torch.With(func(s *torch.Scope) error {
		job, err := l.job(ctx, s, o.Seed, p, from)
		if err != nil {
			return err
		}
		o.Steps -= job.Progress().Steps
		end, err = job.Run(ctx)
		o.Steps += job.Progress().Steps
		if err == nil {
			o.Networks = append(o.Networks, net2net.Fingerprint(job.Network))
			o.LastStep = job.StepTime().Seconds()
		}
		return err
	})
	o.Seconds += l.Now().Sub(began).Seconds()
	return end, err
}

// addEpochs adds the epochs of a segment. The first one shows the accuracy after the last decision.
func (o *Outcome) addEpochs(rows []trainer.Row) {
	for _, r := range rows {
		o.Epochs = append(o.Epochs, Epoch{r.Time.Seconds(), r.Loss, r.Validation.Accuracy})
	}
	if len(o.Sequence) > 0 && len(o.Epochs) > 0 && len(o.After) < len(o.Sequence) {
		o.After = append(o.After, o.Epochs[0].Accuracy)
	}
}

// devices is the number of devices at the start of a segment.
func (l *Executor) devices(from state) (int, error) {
	if from == nil {
		return l.Options.Timeline.First(), nil
	}
	saved, err := trainer.ReadSavedJob(from)
	if err != nil {
		return 0, err
	}
	return saved.Devices()
}

// segmentSection is the section of a stopped state with the outcome so far.
const segmentSection = "leg.json"

// outcomeSection is the section of a state with the outcome of the run that led to it. On the wall clock a segment that
// two workers ran has two outcomes, and the cache keeps one of them. The next segment continues from the outcome in its
// state.
const outcomeSection = "outcome.json"

// keep adds the outcome of the run that led to a state.
func (st state) keep(o *Outcome) (err error) {
	st[outcomeSection], err = json.Marshal(o)
	return err
}

// outcome returns the outcome of the run that led to a state. It is nil at the beginning of a run and for a stopped
// segment, whose state holds its outcome so far.
func (st state) outcome() (*Outcome, error) {
	if st[outcomeSection] == nil {
		return nil, nil
	}
	o := &Outcome{}
	if err := json.Unmarshal(st[outcomeSection], o); err != nil {
		return nil, fmt.Errorf("read the outcome of the previous leg: %w", err)
	}
	return o, nil
}

// interrupt adds the outcome so far to a stopped state.
func (o *Outcome) interrupt(st state) (err error) {
	st[segmentSection], err = json.Marshal(o)
	return err
}

// goOn continues from the outcome in a stopped state.
func (o *Outcome) goOn(st state) error {
	if st[segmentSection] == nil {
		return nil
	}
	if err := json.Unmarshal(st[segmentSection], o); err != nil {
		return fmt.Errorf("resume a stopped leg (the training between two decisions): %w", err)
	}
	return nil
}

// outcome returns the outcome of a segment before it begins.
func (l *Executor) outcome(segment Segment, before *Outcome) *Outcome {
	o := l.Provenance
	o.Sequence, o.Seed = append([]string{}, segment.Sequence...), segment.Seed
	o.Left, o.Step, o.Before, o.Networks, o.Epochs = []float64{}, []float64{}, []float64{}, []string{}, []Epoch{}
	if before != nil {
		o.Left, o.Step, o.Before = append(o.Left, before.Left...), append(o.Step, before.Step...),
			append(o.Before, before.Before...)
		o.Networks = append(o.Networks, before.Networks...)
		o.Loss, o.Fall, o.Gap = slices.Clone(before.Loss), slices.Clone(before.Fall), slices.Clone(before.Gap)
		o.After, o.Gain = slices.Clone(before.After), slices.Clone(before.Gain)
	}
	return &o
}

func (o *Outcome) end(e *trainer.Outcome, decisions int) error {
	if n := len(o.Sequence); n != decisions || len(o.Left) != decisions {
		return fmt.Errorf("simulate %s: the budget ended before decision %d of %d; move the \"up\" events "+
			"earlier, or lower simulate.decisions", o.Segment(), len(o.Left)+1, decisions)
	}
	o.Ended, o.Accuracy, o.Test, o.Weights = true, e.Validation.Accuracy, e.Test.Accuracy, e.Digest
	return nil
}

func (l *Executor) job(ctx context.Context, s *torch.Scope, seed int64, p trainer.Parts,
	from state) (*trainer.Job, error) {
	o := l.Options
	o.Seed = seed
	o.Checkpoint.Off = true // a segment is saved at its end, and when it is stopped
	if from == nil {
		var err error
		if p.Program != nil {
			p.Network, err = p.Program.Begin(ctx, s, nil)
		} else {
			p.Network, p.Pretrained, err = l.Begin(s, seed)
		}
		if err != nil {
			return nil, err
		}
		p.Clock = l.Clock(o.Timeline.Start)
		return trainer.New(s, p, o)
	}
	stopped, err := trainer.ReadSavedJob(from)
	if err == nil && p.Program != nil {
		_, err = p.Program.Begin(ctx, s, stopped)
	}
	if err != nil {
		return nil, err
	}
	if p.Program != nil { // another number of processes may have another batch
		p.Program.SetOptions(&o)
	}
	p.Clock = l.Clock(stopped.Time)
	return trainer.Resume(s, stopped, p, model.Placement{Device: l.Device, Random: s.NewGenerator(torch.CPU, seed)}, o)
}
