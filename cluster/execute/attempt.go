package execute

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"graft/cluster/node"
	"graft/internal/events"
)

// cause is the reason why the executor ends an attempt.
type cause uint8

const (
	byItself  cause = iota // the executor does not end it
	stopped                // the scheduler stopped a task that saves its state
	timedOut               // it exceeded its time limit
	cancelled              // the executor is ending
)

// attempt is a live attempt of a task. Its goroutine reads only gone and fields that stay constant after the start.
type attempt struct {
	task    *node.Task
	job     *Job
	number  int
	device  int
	log     string  // path
	pid     int     // first process, the leader of its group
	group   *cgroup // nil if none
	reading Reading // nil if none
	paused  bool
	ending  cause
	since   time.Duration // time of the last start or continuation
	slice   events.Handle // zero means none, as for the other timers
	timeout events.Handle
	grace   events.Handle

	mu   sync.Mutex
	gone bool // no process can be signalled
}

// exit describes the end of an attempt.
type exit struct {
	*attempt
	status   syscall.WaitStatus
	start    error // error at start
	oom      bool  // the kernel killed it because of the memory limit
	left     error // error of processes that could not be killed
	dropped  int64 // bytes missing in the log
	unlogged error // error of writing the log
}

// launch starts an attempt. It returns when the program runs or has failed to start. The end of the attempt arrives on
// x.exits.
func (x *executor) launch(a *attempt) error {
	started := make(chan error, 1)
	go func() {
		// The kernel kills the process when the thread that started it ends. The thread has the task's affinity, so it
		// is never unlocked and ends with this goroutine.
		runtime.LockOSThread()
		x.supervise(a, started)
	}()
	return <-started
}

// supervise starts an attempt, copies its output to its log, waits for its end and kills its remaining processes.
func (x *executor) supervise(a *attempt, started chan<- error) {
	out, in, err := os.Pipe()
	if err != nil {
		started <- err
		return
	}
	cmd, err := x.begin(a, in)
	if err = errors.Join(err, in.Close()); err != nil {
		started <- errors.Join(err, out.Close())
		return
	}
	log := openLog(x.o.Files, a.log, x.o.LogLimit)
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.CopyBuffer(log, struct{ io.Reader }{out}, make([]byte, 16<<10))
	}()
	started <- nil
	e := exit{attempt: a, status: a.wait(cmd)}
	e.oom, e.left = a.group != nil && a.group.oomKilled(), x.clean(a)
	x.drain(out, copied)
	e.dropped, e.unlogged = log.Close()
	x.exits <- e
}

// begin starts the process. If it cannot be put into its cgroup, cgroups are off from then on.
func (x *executor) begin(a *attempt, output *os.File) (*exec.Cmd, error) {
	if cpus := x.o.Devices[a.device].CPUs; len(cpus) > 0 {
		var set unix.CPUSet
		for _, cpu := range cpus {
			set.Set(cpu)
		}
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			return nil, fmt.Errorf("set CPU affinity to cores %v: %w", cpus, err)
		}
	}
	cmd, err := x.start(a, output)
	if err == nil || a.group == nil {
		return cmd, err
	}
	_ = a.group.remove()
	a.group = nil
	cmd, again := x.start(a, output)
	if again == nil {
		x.refused = err
	}
	return cmd, again
}

func (x *executor) start(a *attempt, output *os.File) (*exec.Cmd, error) {
	cmd, err := x.command(a, output)
	if err != nil {
		return nil, err
	}
	if a.group != nil {
		folder, err := unix.Open(a.group.path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		defer unix.Close(folder)
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, folder
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	a.pid = cmd.Process.Pid
	return cmd, nil
}

// wait waits for the end of the first process and kills the others of its group. The first process stays a zombie until
// then, so that the group's number is not reused.
func (a *attempt) wait(cmd *exec.Cmd) syscall.WaitStatus {
	for errors.Is(unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = syscall.Kill(-a.pid, syscall.SIGKILL)
	_ = cmd.Wait() // the status has all information
	a.gone = true
	status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return status
}

// clean kills an attempt's remaining processes in other process groups.
func (x *executor) clean(a *attempt) error {
	if a.group != nil {
		return a.group.remove()
	}
	return x.sweeper.sweep(a.job.Name)
}

// drain waits until the output is copied. An escaped process may hold the pipe; it loses it after Grace.
func (x *executor) drain(out *os.File, copied <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		if x.o.Clock.Wait(ctx, x.o.Grace) == nil {
			_ = out.Close()
		}
	}()
	<-copied
	_ = out.Close()
}

// signal sends a signal to the process group.
func (a *attempt) signal(s syscall.Signal) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pid != 0 && !a.gone {
		_ = syscall.Kill(-a.pid, s)
	}
}

// halt stops all processes of an attempt, or continues them.
func (x *executor) halt(a *attempt, stop bool) {
	s := syscall.SIGCONT
	if stop {
		s = syscall.SIGSTOP
	}
	a.signal(s)
	if a.group != nil {
		a.group.freeze(stop)
		return
	}
	others, _ := x.sweeper.find(func(task string) bool { return task == a.job.Name })
	for _, p := range others {
		_ = syscall.Kill(p.ID, s)
	}
}
