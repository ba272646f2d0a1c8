package fleet

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// SuperviseOptions holds the options of Supervise. The zero value is ready to use.
type SuperviseOptions struct {
	// Every is the time between two polls of the workers. Zero means 1 s for local workers and 10 s for all other
	// workers.
	Every time.Duration
	// Failures is the maximum number of times that a failed worker is restarted. Each completed task resets the count.
	// Workers that request a restart do not count as failed. Zero means 3.
	Failures int
	// Grace is the maximum time for workers to end by themselves after the last task. After this time, Supervise
	// cancels the workers that are still running, and waits up to Grace once more. Zero means one minute.
	Grace time.Duration
	// ErrorTimeout is the time after which Supervise returns if every call to the engine fails. Zero means ten minutes.
	ErrorTimeout time.Duration
	// Note receives a sentence about each action, such as the restart of a worker. If Note is nil, the sentences are
	// discarded.
	Note func(text string)
	// Recount is called before workers are restarted, and returns the current number of tasks without a result. The
	// number that Supervise got from its argument left may be outdated, because workers may since have completed the
	// last tasks and ended. If Recount is nil, Supervise uses that number.
	Recount func() (int, error)
}

// ensureDefaults sets zero fields to their defaults.
func (o *SuperviseOptions) ensureDefaults(engine string) {
	if o.Every == 0 {
		o.Every = 10 * time.Second
		if engine == "local" {
			o.Every = time.Second
		}
	}
	if o.Failures == 0 {
		o.Failures = 3
	}
	if o.Grace == 0 {
		o.Grace = time.Minute
	}
	if o.ErrorTimeout == 0 {
		o.ErrorTimeout = 10 * time.Minute
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
}

// Validate returns an error for negative options.
func (o SuperviseOptions) Validate() error {
	if o.Every < 0 || o.Failures < 0 || o.Grace < 0 || o.ErrorTimeout < 0 {
		return fmt.Errorf("the options Every, Failures, Grace and ErrorTimeout are %v, %d, %v and %v; all must be "+
			"at least 0", o.Every,
			o.Failures, o.Grace, o.ErrorTimeout)
	}
	return nil
}

// Supervise keeps workers running until no task is left. It calls left to get the number of tasks without a result.
// Supervise restarts workers that are lost, are interrupted or request a restart. A worker that fails is restarted up
// to Failures times; each completed task resets the count.
//
// It returns nil when all tasks are done and all workers have ended. The error wraps ErrNoWorkers if no worker may be
// restarted, and ErrCancelled if the batch was cancelled. It also returns when ctx ends: local workers then end with
// the process, and other workers continue.
func (f *Fleet) Supervise(ctx context.Context, left func() (int, error), o SuperviseOptions) error {
	o.ensureDefaults(f.journal.Engine)
	err := o.Validate()
	if err == nil {
		err = f.hold()
	}
	if err == nil {
		t := &supervision{Fleet: f, o: o, left: left, heard: f.tools.Clock.Now()}
		err = t.run(ctx)
	}
	if err != nil {
		return fmt.Errorf("supervise batch %s: %w", f.journal.Batch.Key, err)
	}
	return nil
}

// supervision is the state of a call to Supervise.
type supervision struct {
	*Fleet
	o       SuperviseOptions
	left    func() (int, error)
	heard   time.Duration // time of the engine's last response
	through time.Duration // time at which no task was left for the first time
	finish  bool          // no task is left
}

func (t *supervision) run(ctx context.Context) error {
	for {
		over, err := t.look(ctx)
		if over || err != nil {
			return err
		}
		if err := t.tools.Clock.Wait(ctx, t.o.Every); err != nil {
			return err
		}
	}
}

// look polls once, and reports whether supervision is over.
func (t *supervision) look(ctx context.Context) (bool, error) {
	if t.cancelled() {
		return true, ErrCancelled
	}
	left, err := t.left()
	if err != nil {
		return true, fmt.Errorf("count remaining tasks: %w", err)
	}
	states, err := t.Workers(ctx)
	if recount := t.recount(states); err == nil && left > 0 && recount != nil {
		// Workers may have ended because the last task was done after the count.
		if left, err = recount(); err != nil {
			return true, fmt.Errorf("count remaining tasks: %w", err)
		}
	}
	if err == nil && left > 0 {
		t.finish = false
		err = t.again(ctx, states, left)
	} else if err == nil {
		var over bool
		if over, err = t.end(ctx, states); over && err == nil {
			return true, nil
		}
	}
	now := t.tools.Clock.Now()
	switch {
	case err == nil:
		t.heard = now
	case errors.Is(err, ErrNoWorkers), errors.Is(err, ErrCancelled), errors.Is(err, exec.ErrNotFound), ctx.Err() != nil,
		now-t.heard >= t.o.ErrorTimeout:
		return true, err
	default:
		t.o.Note(err.Error() + "; retrying")
	}
	return false, nil
}

// recount returns a function that recounts tasks after workers have ended; nil if not needed.
func (t *supervision) recount(states []WorkerState) func() (int, error) {
	switch {
	case t.o.Recount != nil && (!anyLive(states) || slices.ContainsFunc(states, t.mayStart)):
		return t.o.Recount
	case !anyLive(states):
		return t.left
	}
	return nil
}

// again restarts the workers that may be restarted.
func (t *supervision) again(ctx context.Context, states []WorkerState, left int) error {
	j := &t.journal
	if j.Least < 0 || left < j.Least {
		j.Least, j.Failures = left, nil
	}
	var start []int
	for _, w := range states {
		if t.mayStart(w) {
			start = append(start, w.Worker)
		}
	}
	switch {
	case len(start) > 0:
		return t.restart(ctx, states, start)
	case !anyLive(states):
		return fmt.Errorf("%w, but %d tasks have no result: %s", ErrNoWorkers, left, outcomes(states))
	}
	return t.remember(states)
}

func anyLive(states []WorkerState) bool {
	return slices.ContainsFunc(states, func(w WorkerState) bool { return w.State.Live() })
}

// mayStart reports whether to restart a worker.
func (t *supervision) mayStart(w WorkerState) bool {
	switch w.State {
	case Unknown, Again:
		return true
	case Failed, Done: // Done while tasks are left counts as a failure
		return t.journal.Failures[w.Worker] < t.o.Failures
	}
	return false
}

func (t *supervision) restart(ctx context.Context, states []WorkerState, start []int) error {
	j := &t.journal
	if j.Failures == nil {
		j.Failures = make(map[int]int)
	}
	for _, k := range start {
		if s := states[k].State; s == Failed || s == Done {
			j.Failures[k]++
		}
	}
	t.o.Note("restarting workers: " + outcomes(pick(states, start)))
	return t.submit(ctx, start)
}

// remember records observed ends that an engine may forget.
func (t *supervision) remember(states []WorkerState) error {
	j, news := &t.journal, false
	for _, w := range states {
		if w.State == Unknown || w.State.Live() || j.Ended[w.Worker] == w.State {
			continue
		}
		if j.Ended == nil {
			j.Ended = make(map[int]State)
		}
		j.Ended[w.Worker], news = w.State, true
	}
	if !news {
		return nil
	}
	return t.save()
}

// end waits for the workers once no task is left, and then cancels them.
func (t *supervision) end(ctx context.Context, states []WorkerState) (bool, error) {
	now := t.tools.Clock.Now()
	if !t.finish {
		t.finish, t.through = true, now
	}
	if !anyLive(states) {
		return true, t.remember(states)
	}
	if now-t.through < t.o.Grace {
		return false, t.remember(states)
	}
	t.o.Note(fmt.Sprintf("workers are still running %v after the last task; cancelling them", t.o.Grace))
	limited, giveBack := t.within(ctx, t.o.Grace)
	defer giveBack()
	err := t.engine.Cancel(limited, t.journal.Handle)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		// For example workers on a node that does not respond. They will find no task.
		t.o.Note(fmt.Sprintf("workers did not exit within %v of cancellation; continuing without them", t.o.Grace))
		return true, nil
	}
	return true, err
}

// within returns a context that ends after a time; cancel it to stop its goroutine.
func (t *supervision) within(ctx context.Context, d time.Duration) (limited context.Context, giveBack func()) {
	limited, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		if t.tools.Clock.Wait(limited, d) == nil {
			cancel()
		}
	}()
	return limited, func() {
		cancel()
		<-over
	}
}

func pick(states []WorkerState, workers []int) (picked []WorkerState) {
	for _, k := range workers {
		picked = append(picked, states[k])
	}
	return picked
}

// outcomes describes how workers ended.
func outcomes(states []WorkerState) string {
	const most = 5
	var said []string
	for _, w := range states[:min(most, len(states))] {
		text := fmt.Sprintf("worker %d: %s", w.Worker, w.State)
		switch {
		case w.Exit != 0:
			text += fmt.Sprintf(" (exit code %d)", w.Exit)
		case w.Detail != "":
			text += " (" + w.Detail + ")"
		}
		said = append(said, text+", log: "+w.Log)
	}
	if len(states) > most {
		said = append(said, fmt.Sprintf("and %d more", len(states)-most))
	}
	return strings.Join(said, "; ")
}
