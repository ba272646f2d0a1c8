package node

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"graft/internal/events"
	"graft/internal/words"
)

// World simulates a study. Call [World.Advance] until it returns false; after each call, execute any number of
// decisions with [World.Carry].
type World struct {
	*Machine
	// Spans holds the periods in which tasks ran, sorted by end time. If NoSpans is true, Spans stays empty.
	Spans   []Span
	NoSpans bool

	o          Options
	speed      Speed
	kernel     events.Kernel[event]
	boards     []board
	rates      []float64
	unfinished int           // tasks that have arrived
	waited     time.Duration // integral of unfinished over time
	since      time.Duration // time up to which waited is computed
	slicer     Slicer
}

// Span is a period in which a task runs on a device.
type Span struct {
	Task, Device int
	From, To     time.Duration
}

// event is an event of a task.
type event struct {
	kind uint8
	task *Task
}

// Kinds of events, in their order at one moment.
const (
	completes = iota
	expires
	arrives
)

// pace is the progress of a task in a simulation.
type pace struct {
	left    float64 // remaining work, ns
	rate    float64 // work per second
	watts   float64
	joules  float64
	settled time.Duration // time up to which left and joules are computed; later than now while the task is loaded
	end     events.Handle
	slice   events.Handle // zero if none exists
	stopped time.Duration // time of the last stop
	spans   int           // position of its last span, from 1
}

// board is the usage of a device in a simulation.
type board struct {
	watts, busy   float64 // current; busy is a share of cores
	joules, cores float64 // accumulated; cores in GPU seconds
	settled       time.Duration
}

// Prepared is a validated study that can be simulated many times.
type Prepared struct{ study Study }

// Prepare validates a study and fills in its defaults.
func (s Study) Prepare() (*Prepared, error) {
	s.EnsureDefaults()
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("simulate tasks: %w", err)
	}
	return &Prepared{s}, nil
}

// NewWorld validates a study and returns a simulation of it, in which no task has arrived yet.
func NewWorld(s Study) (*World, error) {
	p, err := s.Prepare()
	if err != nil {
		return nil, err
	}
	return p.World(), nil
}

// World returns a new simulation of the study, in which no task has arrived yet.
func (prepared *Prepared) World() *World {
	s := &prepared.study
	w := &World{Machine: NewMachine(s.Options.Devices, s.Tasks, s.Options.Rules()), o: s.Options, speed: s.Speed}
	w.boards, w.rates = make([]board, len(w.Devices)), make([]float64, 0, 8)
	for k := range w.boards {
		w.boards[k].watts = w.o.Power.at(0, 0)
	}
	for _, t := range w.All {
		t.pace.left, t.pace.stopped = float64(t.Work), -1
		w.kernel.Schedule(int64(t.Arrival), arrives, event{arrives, t})
	}
	return w
}

// Advance moves the clock to the next time at which tasks arrive, complete or use up their time slices. It returns
// false if no such event remains.
func (w *World) Advance() bool {
	at := w.kernel.Next()
	if at == events.Never {
		return false
	}
	w.waited += time.Duration(w.unfinished) * (time.Duration(at) - w.since)
	w.Now, w.since = time.Duration(at), time.Duration(at)
	for w.kernel.Next() == at {
		e, _ := w.kernel.Step()
		w.happen(e)
	}
	return true
}

func (w *World) happen(e event) {
	switch t := e.task; e.kind {
	case arrives:
		w.unfinished++
		w.Arrive(t)
	case expires:
		t.pace.slice = 0
		w.stop(t)
	case completes:
		w.settle(t.Device)
		w.record(t)
		t.Worked = t.Work
		t.pace.end = 0
		w.unslice(t)
		w.unfinished--
		w.Finish(t, Done)
		w.retime(t.Device)
	}
}

// Carry executes a scheduler's decision. It returns an error if the decision is invalid.
func (w *World) Carry(d Decision) error {
	if err := w.Fault(d); err != nil {
		return err
	}
	if d.Stop != nil {
		w.stop(d.Stop)
	}
	if d.Start != nil {
		w.start(d.Start, d.On)
	}
	return nil
}

func (w *World) start(t *Task, d *Device) {
	w.settle(d.ID)
	p := &t.pace
	p.settled = w.Now
	if t.Starts > 0 && (p.stopped != w.Now || t.Device != d.ID) {
		p.settled += w.o.Switch
	}
	w.Start(t, d)
	p.end = w.kernel.Schedule(math.MaxInt64>>2, completes, event{completes, t})
	w.retime(d.ID)
	if w.slicer == nil {
		return
	}
	if slice := w.slicer.Slice(t); slice > 0 {
		p.slice = w.kernel.Schedule(int64(p.settled+slice), expires, event{expires, t})
	}
}

func (w *World) stop(t *Task) {
	w.settle(t.Device)
	w.record(t)
	w.kernel.Cancel(t.pace.end)
	t.pace.end, t.pace.stopped = 0, w.Now
	t.Worked = max(0, t.Work-time.Duration(t.pace.left))
	w.unslice(t)
	w.Stop(t)
	w.retime(t.Device)
}

func (w *World) unslice(t *Task) {
	if t.pace.slice != 0 {
		w.kernel.Cancel(t.pace.slice)
		t.pace.slice = 0
	}
}

// settle updates a device and its tasks to the present.
func (w *World) settle(device int) {
	b := &w.boards[device]
	if elapsed := (w.Now - b.settled).Seconds(); elapsed > 0 {
		b.joules += b.watts * elapsed
		b.cores += b.busy * elapsed
	}
	b.settled = w.Now
	for _, t := range w.Devices[device].Tasks {
		p := &t.pace
		elapsed := max(0, w.Now-p.settled)
		p.left = max(0, p.left-float64(elapsed)*p.rate)
		p.joules += p.watts * elapsed.Seconds()
		p.settled += elapsed
	}
}

// retime recomputes the rates of a device's tasks, their ends and the power.
func (w *World) retime(device int) {
	d, b := w.Devices[device], &w.boards[device]
	w.rates = slices.Grow(w.rates[:0], len(d.Tasks))[:len(d.Tasks)]
	w.speed.Rates(d.Tasks, w.rates)
	b.busy = 0
	for k, t := range d.Tasks {
		b.busy += t.Cores / whole * w.rates[k]
	}
	b.watts = w.o.Power.at(len(d.Tasks), b.busy)
	for k, t := range d.Tasks {
		p := &t.pace
		p.rate = w.rates[k] * d.Speed
		p.watts = w.o.Power.Active / float64(len(d.Tasks))
		if b.busy > 0 {
			p.watts += (b.watts - w.o.Power.Active) * t.Cores / whole * w.rates[k] / b.busy
		}
		w.kernel.Reschedule(p.end, int64(max(w.Now, p.settled))+int64(math.Ceil(p.left/p.rate)))
	}
}

// record stores the running period of a task up to now.
func (w *World) record(t *Task) {
	if w.NoSpans {
		return
	}
	p := &t.pace
	if p.spans > 0 {
		if last := &w.Spans[p.spans-1]; last.To == t.Since && last.Device == t.Device {
			last.To = w.Now
			return
		}
	}
	w.Spans = append(w.Spans, Span{t.ID, t.Device, t.Since, w.Now})
	p.spans = len(w.Spans)
}

// Energy returns the energy that all devices have consumed so far, in joules.
func (w *World) Energy() (joules float64) {
	for k := range w.boards {
		b := &w.boards[k]
		joules += b.joules + b.watts*(w.Now-b.settled).Seconds()
	}
	return joules
}

// Waited returns the time from arrival to completion, or to now for unfinished tasks, summed over all tasks.
func (w *World) Waited() time.Duration { return w.waited }

// Unfinished returns the number of tasks that have arrived but have not ended.
func (w *World) Unfinished() int { return w.unfinished }

// Coming reports whether an event is pending, such as an arrival or a completion.
func (w *World) Coming() bool { return w.kernel.Len() > 0 }

// Run simulates a study under a scheduler.
func (s Study) Run(ctx context.Context, kind Kind, o SchedulerOptions) (*Result, error) {
	w, err := NewWorld(s)
	if err != nil {
		return nil, err
	}
	o.EnsureDefaults()
	if err := w.Run(ctx, kind.New(o)); err != nil {
		return nil, fmt.Errorf("simulate scheduler %s: %w", kind.Name, err)
	}
	return w.Result(kind.Name), nil
}

// Run simulates until no events remain.
func (w *World) Run(ctx context.Context, s Scheduler) error {
	w.slicer, _ = s.(Slicer)
	for w.Advance() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.decide(s); err != nil {
			return fmt.Errorf("at time %v: %w", w.Now, err)
		}
	}
	if w.unfinished > 0 {
		return fmt.Errorf("no tasks are running and no more tasks will arrive, but %s waiting, for example %s; the "+
			"scheduler must start a task", words.Are(w.unfinished, "task"), w.Queue[0].Name)
	}
	return nil
}

// decide asks a scheduler for decisions until it makes none. Each task may be stopped and started once at a moment, so
// that a scheduler that alternates forever fails with an error.
func (w *World) decide(s Scheduler) error {
	for range 2*len(w.All) + 1 {
		d := s.Decide(w.Machine)
		if d == (Decision{}) {
			return nil
		}
		if err := w.Carry(d); err != nil {
			return err
		}
	}
	return fmt.Errorf("the scheduler made %d decisions at the same point in time; it must return an empty decision "+
		"when no more tasks can start or stop", 2*len(w.All)+1)
}
