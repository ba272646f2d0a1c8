package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"graft/internal/files"
	"graft/internal/registry"
)

// Engine starts workers and reports their states. It does not retry. It keeps all state in a Handle and in the batch's
// folder, so that any process can continue a batch that another process started.
type Engine interface {
	// Submit starts the workers of the batch that are not alive. Live workers of a batch with the same key keep
	// running.
	Submit(ctx context.Context, b Batch) (Handle, error)
	// Poll returns the state of each worker by number. An error means that the states are unknown, not that a worker is
	// lost.
	Poll(ctx context.Context, h Handle) ([]WorkerState, error)
	// Cancel ends all workers, first by a signal that they can handle, and returns when all workers have ended.
	Cancel(ctx context.Context, h Handle) error
}

// Handle identifies a batch for its engine. It is plain data, stored in the journal.
type Handle struct {
	Engine  string   `json:"engine"`
	Key     string   `json:"key"`
	Folder  string   `json:"folder"`
	Workers int      `json:"workers"`
	Jobs    []string `json:"jobs,omitempty"` // numbers of Slurm jobs, the latest last
}

// State is the status of a worker as reported by its engine, such as waiting or running.
type State string

// States of a worker.
const (
	Unknown State = "unknown" // unknown to the engine; must be started again
	Waiting State = "waiting" // waiting for resources
	Running State = "running"
	Done    State = "done"    // exited with code 0, since no task is left
	Again   State = "again"   // interrupted, or exited with a request for a restart; must be started again
	Failed  State = "failed"  // ended by another exit code, a signal or lack of memory
	Stopped State = "stopped" // cancelled
)

// Live reports whether a worker runs or waits to run.
func (s State) Live() bool { return s == Waiting || s == Running }

// WorkerState describes a worker at the time of a poll.
type WorkerState struct {
	Worker int    `json:"worker"`           // number of the worker, from 0
	State  State  `json:"state"`            // state of the worker; Unknown if the engine has no record of it
	Exit   int    `json:"exit,omitempty"`   // exit code, if the worker ended by itself
	Host   string `json:"host,omitempty"`   // machine on which the worker runs or ran
	Detail string `json:"detail,omitempty"` // reason of the state, as the engine reports it
	Log    string `json:"log"`              // path of the worker's log
}

// againCode is the exit code of a worker that asks to be restarted.
const againCode = 75

// ended returns the state of a worker that ended by itself.
func ended(code int) State {
	switch code {
	case 0:
		return Done
	case againCode:
		return Again
	}
	return Failed
}

// Tools holds the dependencies of engines and fleets.
type Tools struct {
	// Files is the file system. Required.
	Files files.FS
	// Clock measures time. Required.
	Clock Clock
	// Grace is the time between SIGTERM and SIGKILL for a cancelled worker. Zero means 10 s. Slurm uses its own setting
	// KillWait instead.
	Grace time.Duration
	// CommandTimeout is the timeout of a Slurm command. Zero means 30 s.
	CommandTimeout time.Duration
}

// ensureDefaults sets zero fields to their defaults.
func (t *Tools) ensureDefaults() {
	if t.Grace == 0 {
		t.Grace = 10 * time.Second
	}
	if t.CommandTimeout == 0 {
		t.CommandTimeout = 30 * time.Second
	}
}

// kind is a registered engine.
type kind struct {
	name, about string // one-line description
	make        func(Tools) Engine
	refuse      func(Resources) error // returns the resources that the engine does not support
}

// engines are all registered engines. To add one, add a file and a line here.
var engines = registry.List[kind]{
	{"local", "worker processes on this machine", newLocal, Resources.local},
	{"slurm", "workers as a Slurm job array", newSlurm, Resources.slurm},
}

// Listing returns the name and the one-line description.
func (k kind) Listing() (name, about string) { return k.name, k.about }

// Engines returns the names of all engines.
func Engines() []string { return engines.Names() }

// About describes an engine in one line.
func About(engine string) string {
	e, _ := engines.Find(engine)
	return e.about
}

// NewEngine creates an engine by its name.
func NewEngine(name string, t Tools) (Engine, error) {
	e, ok := engines.Find(name)
	if !ok {
		return nil, noEngine(name)
	}
	if t.Files == nil || t.Clock == nil {
		return nil, errors.New("create an engine: the file system or the clock is missing; set both")
	}
	t.ensureDefaults()
	return e.make(t), nil
}

func noEngine(name string) error {
	return fmt.Errorf("unknown engine %q; expected one of: %s", name, strings.Join(Engines(), ", "))
}

// ValidateFor returns an error that lists every reason why an engine cannot run a batch, such as unsupported resources.
func (b Batch) ValidateFor(engine string) error {
	e, ok := engines.Find(engine)
	if !ok {
		return errors.Join(noEngine(engine), b.Validate())
	}
	return errors.Join(b.Validate(), e.refuse(b.Resources))
}

// blank returns the state of workers that are unknown to the engine.
func (h Handle) blank() []WorkerState {
	states := make([]WorkerState, h.Workers)
	for k := range states {
		states[k] = WorkerState{Worker: k, State: Unknown, Log: LogPath(h.Folder, k)}
	}
	return states
}
