package execute

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"graft/cluster/node"
	"graft/internal/events"
	"graft/internal/words"
	"graft/results"
)

// executor is the state of Run. One goroutine uses it; each attempt has its own goroutine.
type executor struct {
	o        Options
	jobs     []Job
	folder   string // absolute path of the run folder
	id       string // id of this process, for Guard
	m        *node.Machine
	s        node.Scheduler
	slicer   node.Slicer // nil if the scheduler has no slices
	lines    *results.Lines
	account  *Account
	groups   *cgroups // nil if none exist
	refused  error    // a process could not be put into its group; nil if none failed
	sweeper  *sweeper
	origin   time.Duration // clock time at which m.Now is zero
	timers   events.Kernel[timer]
	live     map[int]*attempt // by task
	exits    chan exit
	pending  []exit
	touched  []*node.Task // decided tasks, and tasks that wait for their device
	leaving  []int        // attempts being ended by a stop, by device
	spent    []time.Duration
	queued   []bool // by task: reported to the observer
	left     int    // number of tasks that are not over
	unsynced bool
	err      error // ends the run
}

// Run executes jobs until each job has completed or failed, and returns their outcome. If the run folder has a journal,
// Run resumes from the journal. When ctx ends, Run sends SIGTERM to all tasks and, after the grace period, SIGKILL. A
// later call with the same folder and jobs resumes the run. If ctx ends while tasks remain, Run returns the outcome so
// far and an error that wraps the error of ctx. A failed task does not cause an error.
func Run(ctx context.Context, o Options, jobs []Job) (*Result, error) {
	o, jobs, err := prepare(o, jobs)
	if err == nil && (o.Run == nil || o.Clock == nil) {
		err = errors.New("the run folder or the clock is missing; set both")
	}
	if err != nil {
		return nil, err
	}
	x, err := open(o, jobs)
	if err != nil {
		return nil, fmt.Errorf("execute tasks: %w", err)
	}
	x.loop(ctx)
	x.shutdown()
	x.fail(x.groups.removeAll())
	if x.err == nil && x.left > 0 {
		x.err = ctx.Err()
	}
	if x.err != nil {
		err = fmt.Errorf("execute tasks: %w; %d of %s unfinished", x.err, x.left, words.Are(len(jobs), "task"))
	}
	return x.result(), err
}

// open restores the state of the journal and kills the remaining processes of an earlier executor.
func open(o Options, jobs []Job) (*executor, error) {
	x := &executor{
		o: o, jobs: jobs, id: thisExecutor(o.Files), s: o.Kind.New(o.Scheduling), account: NewAccount(jobs),
		live: make(map[int]*attempt), exits: make(chan exit), leaving: make([]int, len(o.Devices)),
		spent: make([]time.Duration, len(jobs)), queued: make([]bool, len(jobs)), left: len(jobs),
	}
	x.slicer, _ = x.s.(node.Slicer)
	study := o.study(jobs)
	study.EnsureDefaults()
	x.m = node.NewMachine(study.Options.Devices, study.Tasks, o.Rules)
	var err error
	if x.folder, err = filepath.Abs(o.Run.Path("")); err != nil {
		return nil, err
	}
	x.sweeper = &sweeper{fsys: o.Files, clock: o.Clock, folder: x.folder}
	if err := o.Files.MkdirAll(o.Run.Path(logsFolder)); err != nil {
		return nil, err
	}
	if x.lines, err = o.Run.Lines(journalName); err != nil {
		return nil, err
	}
	if err := Read(o.Files, x.folder, x.account.Replay); err != nil {
		return nil, err
	}
	return x, x.resume()
}

// loop runs until all tasks are over, ctx ends or an error occurs.
func (x *executor) loop(ctx context.Context) {
	for ctx.Err() == nil {
		x.tick()
		x.settle()
		x.sync()
		x.announce()
		x.decide()
		x.reconcile()
		switch {
		case x.left == 0 || x.err != nil:
			return
		case len(x.pending) > 0:
			continue
		case len(x.live) == 0 && x.timers.Len() == 0:
			x.fail(fmt.Errorf("no tasks are running and no more tasks will arrive, but %s waiting; the scheduler "+
				"must start a task", words.Are(x.left, "task")))
			return
		}
		x.wait(ctx)
	}
}

// tick advances to the present and handles all due timers.
func (x *executor) tick() {
	x.m.Now = max(x.m.Now, x.o.Clock.Now()-x.origin)
	x.fire()
}

// wait returns when an attempt has ended, when the next timer is due, or when ctx ends.
func (x *executor) wait(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if x.timers.Len() > 0 {
		due := x.timers.Next() - int64(x.m.Now)
		go func() {
			defer cancel()
			_ = x.o.Clock.Wait(ctx, time.Duration(due))
		}()
	}
	select {
	case e := <-x.exits:
		x.pending = append(x.pending, e)
	case <-ctx.Done():
	}
}

// shutdown ends all attempts.
func (x *executor) shutdown() {
	for _, t := range x.m.All {
		if a := x.live[t.ID]; a != nil && a.ending != cancelled {
			x.terminate(a, cancelled)
		}
	}
	for x.settle(); len(x.live) > 0; x.settle() {
		x.wait(context.Background())
		x.tick()
	}
	x.sync()
}

// settle handles ended attempts.
func (x *executor) settle() {
	for {
		select {
		case e := <-x.exits:
			x.pending = append(x.pending, e)
			continue
		default:
		}
		if len(x.pending) == 0 {
			return
		}
		e := x.pending[0]
		x.pending = x.pending[1:]
		x.finish(e)
	}
}

// announce reports newly queued tasks to the observer.
func (x *executor) announce() {
	for _, t := range x.m.Queue {
		if !x.queued[t.ID] {
			x.queued[t.ID] = true
			x.emit(Event{Kind: Queued, Task: t.ID, Device: -1})
		}
	}
}

// decide asks the scheduler until it makes no decision, and changes the machine's state.
func (x *executor) decide() {
	most := 2*len(x.jobs) + 1 // each task may be stopped and started once at a moment
	for range most {
		if x.err != nil {
			return
		}
		d := x.s.Decide(x.m)
		if d == (node.Decision{}) {
			return
		}
		err := x.m.Fault(d)
		if err == nil && d.Stop != nil && !x.o.Rules.Keep && !x.jobs[d.Stop.ID].Checkpoint {
			err = x.o.cannotStop(&x.jobs[d.Stop.ID])
		}
		if err != nil {
			x.fail(fmt.Errorf("scheduler %s: %w", x.o.Kind.Name, err))
			return
		}
		if d.Stop != nil {
			x.stop(d.Stop)
		}
		if d.Start != nil {
			x.m.Start(d.Start, d.On)
			x.touch(d.Start)
		}
	}
	x.fail(fmt.Errorf("scheduler %s made %d decisions at the same point in time; it must return an empty decision "+
		"when no more tasks can start or stop", x.o.Kind.Name, most))
}

// stop stops a task in the machine's state.
func (x *executor) stop(t *node.Task) {
	if a := x.live[t.ID]; a != nil {
		x.cancel(&a.slice)
	}
	x.m.Stop(t)
	t.Worked = time.Duration(float64(t.Ran) * x.m.Devices[t.Device].Speed)
	x.touch(t)
}

func (x *executor) touch(t *node.Task) { x.touched = append(x.touched, t) }
