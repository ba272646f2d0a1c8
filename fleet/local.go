package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"graft/fleet/process"
	"graft/internal/files"
	"graft/internal/validate"
)

// local runs workers as processes of this machine. They die with the process that started them. Their states are files,
// so that other processes can read them.
type local struct {
	Tools
	host    string // of ThisHost
	mu      sync.Mutex
	running map[string]chan struct{} // by the path of its state file: closed once its end is written there
}

func newLocal(t Tools) Engine {
	return &local{Tools: t, host: ThisHost(t.Files), running: make(map[string]chan struct{})}
}

// localFolder is the folder of the workers' state files.
const localFolder = "workers"

// localState is the state file of a worker.
type localState struct {
	Process process.Process `json:"process"`
	Host    string          `json:"host"`             // of ThisHost
	Ended   bool            `json:"ended,omitempty"`  // by itself or by a signal
	Exit    int             `json:"exit,omitempty"`   // exit code
	Signal  int             `json:"signal,omitempty"` // signal that ended it
}

func statePath(folder string, worker int) string {
	return filepath.Join(folder, localFolder, fmt.Sprintf("worker-%d.json", worker))
}

func (l *local) Submit(ctx context.Context, b Batch) (Handle, error) {
	h := Handle{Engine: "local", Key: b.Key, Folder: b.Folder, Workers: b.Workers}
	err := b.ValidateFor("local")
	for _, name := range []string{logsName, localFolder} {
		if err == nil {
			err = l.Files.MkdirAll(filepath.Join(b.Folder, name))
		}
	}
	var states []WorkerState
	if err == nil {
		states, err = l.Poll(ctx, h)
	}
	if err == nil {
		err = l.startMissing(b, states)
	}
	if err != nil {
		return Handle{}, fmt.Errorf("start local workers of %s: %w", b.Key, err)
	}
	return h, nil
}

// local returns an error for each resource that local workers do not support.
func (r Resources) local() error {
	faults := validate.Faults{r.foreign("local workers")}
	faults.When(r.MemoryMB > 0, "memory_mb: local workers do not support memory limits; remove memory_mb")
	faults.When(r.Time > 0, "time_limit: local workers do not support time limits; remove time_limit")
	faults.When(r.GPUs > 0, "gpus: local workers do not support gpus; set devices, such as cuda:0")
	return errors.Join(faults...)
}

func (l *local) startMissing(b Batch, states []WorkerState) error {
	for _, worker := range b.chosen() {
		if states[worker].State.Live() {
			continue
		}
		// A worker that was killed may have left child processes.
		if err := l.sweep(b.Folder, worker); err != nil {
			return err
		}
		if err := l.start(b, worker); err != nil {
			return fmt.Errorf("worker %d: %w", worker, err)
		}
	}
	return nil
}

// Environment variables that identify the processes of a worker.
const (
	folderVariable = "GRAFT_FLEET"
	workerVariable = "GRAFT_WORKER"
)

// command returns the command line and environment of a worker.
func (b Batch) command(worker int) *exec.Cmd {
	c := exec.Command(b.Argv[0], b.Argv[1:]...)
	c.Dir = b.dir()
	threads := b.Resources.CPUs
	if threads == 0 {
		threads = max(1, runtime.NumCPU()/b.Workers)
	}
	c.Env = append(os.Environ(), b.Env...)
	c.Env = append(c.Env, folderVariable+"="+b.Folder, workerVariable+"="+strconv.Itoa(worker),
		"GRAFT_THREADS="+strconv.Itoa(threads))
	if devices := b.Resources.Devices; len(devices) > 0 {
		c.Env = append(c.Env, "GRAFT_DEVICE="+devices[worker%len(devices)])
	}
	// A separate process group lets a signal reach its children too. The kernel kills the worker when this process
	// dies; no result is lost.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return c
}

// start starts a worker, and returns when it runs or fails to start.
func (l *local) start(b Batch, worker int) error {
	log, err := l.Files.Append(LogPath(b.Folder, worker))
	if err != nil {
		return err
	}
	c := b.command(worker)
	c.Stdout, c.Stderr = log, log
	if file, ok := log.(*os.File); ok {
		c.Stdout, c.Stderr = file, file // without a pipe
	}
	c.WaitDelay = l.Grace
	path := statePath(b.Folder, worker)
	over := make(chan struct{})
	l.mu.Lock()
	l.running[path] = over
	l.mu.Unlock()
	started := make(chan error, 1)
	go func() {
		defer close(over)
		// The kernel sends Pdeathsig when the thread that started the process ends, so
		// this thread lives as long as the process.
		runtime.LockOSThread()
		l.supervise(c, path, log, started)
	}()
	return <-started
}

// supervise starts a process, waits for its end, and writes both to its state file.
func (l *local) supervise(c *exec.Cmd, path string, log io.Closer, started chan<- error) {
	defer log.Close()
	err := c.Start()
	if err == nil {
		state := localState{Host: l.host, Process: process.Process{ID: c.Process.Pid}}
		if p, err := process.Named(l.Files, c.Process.Pid); err == nil {
			state.Process = p
		}
		if err = l.writeState(path, state); err == nil {
			started <- nil
			_ = c.Wait()
			status, _ := c.ProcessState.Sys().(syscall.WaitStatus)
			state.Ended, state.Exit = true, max(status.ExitStatus(), 0)
			if status.Signaled() {
				state.Signal = int(status.Signal())
			}
			_ = l.writeState(path, state) // otherwise the end is unknown, and the worker is restarted
			return
		}
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		_ = c.Wait()
	}
	started <- err
}

func (l *local) writeState(path string, state localState) error {
	err := files.WriteAtomic(l.Files, path, func(w io.Writer) error { return json.NewEncoder(w).Encode(state) })
	if errors.Is(err, files.ErrNotDurable) {
		return nil // after a power failure no process is left
	}
	return err
}

// readState reads the state file of a worker; false if there is none.
func (l *local) readState(folder string, worker int) (localState, bool, error) {
	var state localState
	text, err := files.ReadAll(l.Files, statePath(folder, worker), maxText)
	if errors.Is(err, fs.ErrNotExist) {
		return state, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &state)
	}
	return state, err == nil, err
}

func (l *local) Poll(_ context.Context, h Handle) ([]WorkerState, error) {
	states := h.blank()
	for k := range states {
		supervised := l.supervises(statePath(h.Folder, k))
		state, known, err := l.readState(h.Folder, k)
		if err != nil {
			return nil, fmt.Errorf("read the state of worker %d of %s: %w", k, h.Key, err)
		}
		if known {
			l.describe(state, &states[k], supervised)
		}
	}
	return states, nil
}

// supervises reports whether this process started a worker whose end is not written yet.
func (l *local) supervises(path string) bool {
	l.mu.Lock()
	over := l.running[path]
	l.mu.Unlock()
	if over == nil {
		return false
	}
	select {
	case <-over:
		return false
	default:
		return true
	}
}

func (l *local) describe(s localState, w *WorkerState, supervised bool) {
	host, _, _ := strings.Cut(s.Host, " ")
	w.Host = host
	switch {
	case s.Signal == int(syscall.SIGTERM):
		w.State, w.Detail = Stopped, "terminated by SIGTERM"
	case s.Signal != 0:
		w.State, w.Detail = Failed, "terminated by signal "+syscall.Signal(s.Signal).String()
	case s.Ended:
		w.State, w.Exit = ended(s.Exit), s.Exit
	case supervised || s.Process.Alive(l.Files) && s.Host == l.host:
		w.State, w.Detail = Running, fmt.Sprintf("process %d", s.Process.ID)
	case s.Host != l.host:
		w.Detail = "started on another machine, or before a reboot of this machine"
	default:
		w.Detail = "died together with the process that started it"
	}
}

func (l *local) Cancel(ctx context.Context, h Handle) error {
	err := l.end(ctx, h)
	for k := range h.Workers {
		err = errors.Join(err, l.sweep(h.Folder, k))
	}
	if err == nil {
		err = l.settle(ctx, h)
	}
	if err != nil {
		return fmt.Errorf("cancel workers of %s: %w", h.Key, err)
	}
	return nil
}

// end sends SIGTERM to the process groups of all workers, and SIGKILL after Grace.
func (l *local) end(ctx context.Context, h Handle) error {
	groups, err := l.groups(h)
	if err != nil {
		return err
	}
	for _, p := range groups {
		_ = syscall.Kill(-p.ID, syscall.SIGTERM)
	}
	const look = 50 * time.Millisecond
	alive := func(p process.Process) bool { return p.Alive(l.Files) }
	for end := l.Clock.Now() + l.Grace; slices.ContainsFunc(groups, alive) && l.Clock.Now() < end; {
		if l.Clock.Wait(ctx, look) != nil {
			break // without time to wait, kill them
		}
	}
	for _, p := range groups {
		if alive(p) {
			_ = syscall.Kill(-p.ID, syscall.SIGKILL)
		}
	}
	return nil
}

// groups returns the live workers of this machine; each leads a process group.
func (l *local) groups(h Handle) (groups []process.Process, err error) {
	for k := range h.Workers {
		state, known, err := l.readState(h.Folder, k)
		if err != nil {
			return nil, err
		}
		if known && !state.Ended && state.Host == l.host && state.Process.Alive(l.Files) {
			groups = append(groups, state.Process)
		}
	}
	return groups, nil
}

// settle waits until the ends of this process's workers are written.
func (l *local) settle(ctx context.Context, h Handle) error {
	for k := range h.Workers {
		l.mu.Lock()
		over := l.running[statePath(h.Folder, k)]
		l.mu.Unlock()
		if over == nil {
			continue
		}
		select {
		case <-over:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// sweep kills remaining processes that a worker started, also in other process groups.
func (l *local) sweep(folder string, worker int) error {
	variables := []string{folderVariable + "=" + folder, workerVariable + "=" + strconv.Itoa(worker)}
	return process.Sweep(l.Clock, func() ([]process.Found, error) { return process.With(l.Files, variables) })
}
