package execute

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"graft/cluster/node"
)

// Exit codes with a meaning: 75 is EX_TEMPFAIL of sysexits.h, by which graft's commands ask to run again; 137 is a
// shell's code for a program killed by SIGKILL.
const (
	againCode     = 75
	unstartedCode = 126
	missingCode   = 127
	signalCode    = 128
	killedCode    = signalCode + int(syscall.SIGKILL)
)

// finish handles the end of an attempt.
func (x *executor) finish(e exit) {
	t, a := e.task, e.attempt
	joules, method := x.worked(a)
	x.cancel(&a.grace)
	delete(x.live, t.ID)
	if a.ending == stopped {
		x.leaving[a.device]--
	}
	if e.dropped > 0 || e.unlogged != nil {
		x.emit(Event{Kind: Truncated, Task: t.ID, Attempt: a.number, Device: a.device, Bytes: e.dropped,
			Reason: e.logReason(x.o.LogLimit)})
	}
	end, delay := x.judge(e)
	event := Event{
		Kind: Ended, Task: t.ID, Attempt: a.number, Device: a.device, End: end, Exit: e.code(), Delay: delay,
		Joules: joules, Method: method, Reason: e.reason(),
	}
	if e.status.Signaled() {
		event.Signal = unix.SignalName(e.status.Signal())
	}
	x.emit(event)
	x.follow(t, end, delay)
}

// judge determines the consequence of an end. A task that saves its state reports completion by exit code 0, even after
// SIGTERM; other tasks may exit with 0 after SIGTERM without having completed.
func (x *executor) judge(e exit) (End, time.Duration) {
	ok := e.start == nil && e.status.Exited() && e.status.ExitStatus() == 0
	failures := x.account.Jobs[e.task.ID].Failures + 1
	switch {
	case ok && (e.ending == byItself || e.job.Checkpoint && e.ending != timedOut):
		return Done, 0
	case e.ending == cancelled:
		return Interrupted, 0
	case e.ending == stopped:
		return Stopped, 0
	case e.ending == byItself && e.job.Checkpoint && e.status.Exited() && e.status.ExitStatus() == againCode:
		return Again, e.job.Backoff
	case failures <= e.job.Retries:
		return Retried, e.job.backoff(failures)
	}
	return Failed, 0
}

// follow changes the machine's state after an end.
func (x *executor) follow(t *node.Task, end End, delay time.Duration) {
	if end != Stopped && end != Again {
		x.spent[t.ID] = 0
	}
	switch end {
	case Done:
		x.over(t, node.Done)
	case Failed:
		x.over(t, node.Failed)
	case Retried, Again:
		x.again(t, delay)
	case Stopped:
		x.touch(t) // it may have been restarted meanwhile
	}
}

// code returns the exit code of an attempt as a shell reports it: the command's code, 128 plus the number of the signal
// that ended it, 127 if the program does not exist, or 126 if it cannot be started.
func (e *exit) code() int {
	switch {
	case errors.Is(e.start, fs.ErrNotExist) || errors.Is(e.start, exec.ErrNotFound):
		return missingCode
	case e.start != nil:
		return unstartedCode
	case e.status.Signaled():
		return signalCode + int(e.status.Signal())
	}
	return e.status.ExitStatus()
}

// reason describes why an attempt ended; empty if it completed.
func (e *exit) reason() string {
	text := e.cause()
	if e.left != nil {
		text += "; " + e.left.Error()
	}
	return text
}

func (e *exit) cause() string {
	switch {
	case e.start != nil:
		return fmt.Sprintf("start failed: %v", e.start)
	case e.oom:
		return fmt.Sprintf("out of memory: exceeded the limit of %g MiB", e.job.MemoryLimit)
	case e.ending == timedOut:
		return fmt.Sprintf("timed out after %v", e.job.Timeout)
	case e.ending == cancelled:
		return "the executor was stopped"
	case e.ending == stopped:
		return "stopped by the scheduler"
	case e.status.Signaled() && e.status.Signal() == syscall.SIGKILL:
		return "killed by SIGKILL: out of memory, or killed by a user"
	case e.status.Signaled():
		return "killed by " + unix.SignalName(e.status.Signal())
	case e.status.ExitStatus() == killedCode:
		return fmt.Sprintf("exit code %d: out of memory or killed", killedCode)
	case e.status.ExitStatus() != 0:
		return fmt.Sprintf("exit code %d", e.status.ExitStatus())
	}
	return ""
}

// logReason describes why a log is missing bytes.
func (e *exit) logReason(limit int64) string {
	if e.unlogged != nil {
		return fmt.Sprintf("write log: %v", e.unlogged)
	}
	return fmt.Sprintf("the log reached its limit of %d bytes", limit)
}

// over ends a task in the machine's state, and the tasks that never run because it failed.
func (x *executor) over(t *node.Task, as node.State) {
	x.left--
	for _, skipped := range x.m.Finish(t, as) {
		x.left--
		if !x.account.Jobs[skipped.ID].Skipped {
			x.emit(Event{Kind: Skipped, Task: skipped.ID, Device: -1, Reason: fmt.Sprintf("task %s failed", t.Name)})
		}
		skipped.Ended = x.account.Jobs[skipped.ID].Ended
	}
}

// again makes a task arrive after a delay.
func (x *executor) again(t *node.Task, after time.Duration) {
	x.m.Withdraw(t)
	x.queued[t.ID] = false
	x.schedule(after, arrives, t)
}
