package trainer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"graft/decider"
	"graft/model"
	"graft/net2net"
	"graft/results"
	"graft/trainer/clock"
)

// adaptation asks the decider after an up, or at the times of another rule, and reverts to the smaller network after a
// down.
type adaptation struct {
	*core
	growth
	decider      decider.Decider
	distillation *distillation
	moments      []time.Duration // times of decisions that are known in advance
}

// growth is the part of a checkpoint's position for adaptation.
type growth struct {
	Asked     int               `json:"asked"`   // decisions since the last up event, or of the job; see Adapt.When
	Asking    bool              `json:"asking"`  // a decision is due
	Changes   []*net2net.Change `json:"changes"` // changes that were not reverted
	Divided   int               `json:"divided"` // number of divisions of the learning rate
	Levels    []int             `json:"levels"`  // number of changes at each up event
	Deciding  time.Duration     `json:"deciding_ns"`
	Operating time.Duration     `json:"operating_ns"`
	Skipped   int               `json:"skipped,omitempty"` // actions that could not be executed
	Late      int               `json:"late,omitempty"`    // actions that no training step could follow
	Plateau   plateau           `json:"plateau,omitzero"`  // history of the accuracy, with WhenPlateau
	// number of steps of the job after which no parameter warms up; zero means that none does
	WarmUntil int64 `json:"warm_until,omitempty"`
}

// onDevices reports whether the up events of the timeline ask for decisions.
func (a *adaptation) onDevices() bool { return a.Adapt.Kind().Name == WhenDevices }

// moment returns the time of the next decision, if it is known in advance.
func (a *adaptation) moment() (at time.Duration, known bool) {
	if a.Asked < len(a.moments) {
		return a.moments[a.Asked], true
	}
	return 0, false
}

// look asks for a decision if its time has come.
func (a *adaptation) look() {
	if at, known := a.moment(); known && at <= a.Clock.Now() {
		a.Asking = true
	}
}

// afterEpoch asks for a decision at the end of an epoch, if the options say so.
func (a *adaptation) afterEpoch(accuracy float64) {
	switch a.Adapt.Kind().Name {
	case WhenDevices:
		a.Asking = a.Adapt.Every && a.Asked > 0 && a.Asked < a.Adapt.MaxDecisions // ask again in each epoch after an up
	case WhenPlateau:
		a.Asking = a.Plateau.observe(accuracy, a.Adapt.MinGain, a.Adapt.Window) && a.Asked < a.Adapt.MaxDecisions
	}
}

func (a *adaptation) reallocate(to Allocation) error {
	a.settle()
	a.Devices = to.Devices
	if to.Change != Same {
		a.restart(RestartOnDevices)
	}
	switch to.Change {
	case Up:
		a.Levels = append(a.Levels, len(a.Changes))
		if a.onDevices() {
			a.Asked, a.Asking = 0, true
		}
		return a.Book.Note(a.note(results.EventUp))
	case Down:
		if err := a.Book.Note(a.note(results.EventDown)); err != nil {
			return err
		}
		before := len(a.Changes)
		if err := a.shrink(); err != nil {
			return err
		}
		if a.onDevices() {
			a.Asking, a.Asked = false, 0
			return a.reset(-min(1, a.Divided))
		}
		undone := before - len(a.Changes)
		if undone > 0 {
			a.Asking = false
			a.Plateau.restart()
		}
		return a.reset(-undone)
	}
	return a.Book.Note(a.note(results.EventDevices))
}

// adapt asks the decider and applies its action. Both take time of the budget.
func (a *adaptation) adapt(ctx context.Context) error {
	a.show(Decides)
	began, used := a.Clock.Now(), a.sums
	a.Clock.Begin()
	if err := a.pull(); err != nil {
		return err
	}
	decision, err := a.decider.Decide(ctx, decider.State{Network: a.Network, Left: a.Scheduler.Left(),
		Budget: a.Scheduler.Budget(), Decisions: a.Decisions, Accuracy: a.Validation.Accuracy,
		Step: a.stepOf(a.Network), StepOf: a.stepOf, Curve: a.Curve, Try: a.trying(), Gain: a.gaining()})
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return a.postpone(began, used)
	}
	if err != nil {
		return fmt.Errorf("decide how to adapt: %w", err)
	}
	a.Clock.Spend(clock.Work{Kind: clock.Deciding, Count: 1, Network: a.Network})
	decided := a.Clock.Now()
	a.Deciding += decided - began
	note := a.note(results.EventDecision)
	note.Action, note.Probabilities, note.Trials = decision.Action.String(), decision.Probabilities, decision.Trials
	note.Gains, note.Why = decision.Gains, decision.Why
	changed, err := a.act(decision.Action, &note)
	if err != nil {
		return err
	}
	if err := a.push(); err != nil {
		return err
	}
	if changed {
		a.Clock.Spend(clock.Work{Kind: clock.Surgery, Count: 1, Network: a.Network})
	}
	a.Operating += a.Clock.Now() - decided
	note.Took, note.Parameters = a.Clock.Now()-began, a.Network.Parameters()
	a.Decisions++
	a.Asked++
	a.Asking = false
	return a.Book.Note(note)
}

// act applies an action, unless it comes too late or is skipped, and completes the note of the decision.
func (a *adaptation) act(action net2net.Action, note *Note) (changed bool, err error) {
	if why := a.late(action); why != "" {
		note.Event, note.Why = results.EventLate, why
		a.Late++
		return false, a.reset(1) // as after the action none
	}
	err = a.operate(action)
	if errors.Is(err, errImpossible) && a.Adapt.OnError == SkipOnError {
		note.Event, note.Why = results.EventSkipped, err.Error()
		a.Skipped++
		return false, a.reset(1)
	}
	return err == nil && action.Kind != net2net.None, err
}

// postpone undoes the charges of a decision that was stopped, so the resumed job repeats the whole decision.
func (a *adaptation) postpone(began time.Duration, used sums) error {
	if v, ok := a.Clock.(*clock.Virtual); ok {
		v.Time = began
	}
	a.sums = used
	return nil
}

// errImpossible marks an action that cannot be done; the network is unchanged.
var errImpossible = errors.New("the action cannot be applied to this network")

// surgery returns the options of the decision that is due.
func (a *adaptation) surgery() net2net.Options {
	o := a.Adapt.Surgery
	o.Seed = uint64(a.Seed)*1_000_003 + uint64(a.Decisions)
	return o
}

func (a *adaptation) operate(action net2net.Action) error {
	if action.Kind != net2net.None {
		a.show(Operates)
		o := a.surgery()
		change, err := a.calibrated(a.Network, action, o, a.changeAverage)
		if err != nil {
			return err
		}
		if err := change.Remember(a.Network); err != nil {
			return err
		}
		a.Changes = append(a.Changes, change)
		a.Plateau.Grown = a.Adapt.When == WhenPlateau
		if err := a.follow(change); err != nil {
			return err
		}
		if a.Adapt.WarmUpNew > 0 {
			a.WarmUntil = a.Steps + int64(a.Adapt.WarmUpNew)
		}
		a.restart(RestartOnSurgery)
	}
	return a.reset(1)
}

// reset counts a division of the learning rate, and creates a new optimizer with Adapt.Reset.
func (a *adaptation) reset(divide int) error {
	a.Divided += divide
	if !a.Adapt.Reset {
		return nil
	}
	a.restart(a.Schedule.Restart)
	return a.renew()
}

// calibrated applies an action to a network, with training images to calibrate new normalizations and to start new
// units, and then calls also.
func (a *adaptation) calibrated(n *model.Network, action net2net.Action, o net2net.Options,
	also func(*net2net.Change, net2net.Options) error) (change *net2net.Change, err error) {
	if a.remote != nil {
		if a.Adapt.starts() {
			return nil, fmt.Errorf("%w: new_units is %q, but the network trains in a program; use new_units = %q",
				errImpossible, o.Start, net2net.Copies)
		}
		if change, err = net2net.Apply(n, action, o); err != nil {
			return nil, fmt.Errorf("%w: %w", errImpossible, err)
		}
		return change, also(change, o)
	}
	work := a.gradientWork(n.Sketch())
	err = a.sampled(n, o, func(o net2net.Options) error {
		err := a.steadily(a.Adapt.starts(), func() error {
			change, err = net2net.Apply(n, action, o)
			return err
		})
		if err != nil {
			return fmt.Errorf("%w: %w", errImpossible, err)
		}
		if a.Adapt.starting(action) {
			a.chargeGradient(work)
		}
		return also(change, o)
	})
	return change, err
}

// follow lets the optimizer follow a change of the network.
func (a *adaptation) follow(c *net2net.Change) (err error) {
	a.shown.Layers = 0 // recomputed later
	a.revision++
	a.Batching.Times = nil // measured with another network
	a.Fresh = true
	if a.optimizer, err = a.optimizer.Follow(a.scope, a.Network, c, a.following()); err != nil {
		return fmt.Errorf("update the optimizer after %s: %w", c.Action, err)
	}
	return a.stale()
}

// following returns what the optimizer does with the parameters that a change adds.
func (a *adaptation) following() net2net.Following {
	return net2net.Following{Moments: a.Adapt.Moments, Births: a.Adapt.WarmUpNew > 0, Step: a.Steps}
}

// warms reports whether new parameters warm up in the next step. It drops the births after the end of the warm-up.
func (a *adaptation) warms() bool {
	if a.WarmUntil > a.Steps {
		return true
	}
	if a.WarmUntil > 0 {
		a.WarmUntil = 0
		a.dropBirths()
	}
	return false
}

// renew creates a new optimizer. A warm-up continues.
func (a *adaptation) renew() (err error) {
	a.revision++
	born := a.optimizer.Born
	a.optimizer.Born = nil
	a.freeOptimizer()
	if a.optimizer, err = net2net.NewOptimizer(a.scope, a.Network, a.optimizerOptions()); err != nil {
		return err
	}
	a.optimizer.Born = born
	return nil
}

// shrink reverts to the network before the last up, which then learns from the larger one.
func (a *adaptation) shrink() error {
	if len(a.Levels) == 0 {
		return nil // the network never grew
	}
	keep := a.Levels[len(a.Levels)-1]
	a.Levels = a.Levels[:len(a.Levels)-1]
	if keep == len(a.Changes) {
		return nil
	}
	began, note := a.Clock.Now(), a.note(results.EventShrink)
	if err := a.pull(); err != nil {
		return err
	}
	if err := a.distillation.ask(); err != nil {
		return err
	}
	a.show(Operates)
	a.Clock.Begin()
	for len(a.Changes) > keep {
		last := len(a.Changes) - 1
		back, err := net2net.Revert(a.Network, a.Changes[last])
		if err == nil {
			err = a.revertAverage(a.Changes[last])
		}
		if err != nil {
			return err
		}
		a.Changes = a.Changes[:last]
		if err := a.follow(back); err != nil {
			return err
		}
	}
	if err := a.push(); err != nil {
		return err
	}
	a.Clock.Spend(clock.Work{Kind: clock.Surgery, Count: 1, Network: a.Network})
	a.Operating += a.Clock.Now() - began
	a.restart(RestartOnSurgery)
	a.distillation.begin()
	note.Took, note.Parameters = a.Clock.Now()-began, a.Network.Parameters()
	if a.distillation.teaches() {
		note.DistillationSteps = a.distillation.Length
	}
	return a.Book.Note(note)
}
