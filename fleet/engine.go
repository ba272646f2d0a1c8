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

// Engine starts workers and reports their states. It does not retry, and keeps its state
// in a Handle and in the batch's folder, so that any process can continue another's
// batch.
type Engine interface {
	// Submit starts the workers of the batch that are not alive. Those that live under
	// its key are found and kept.
	Submit(ctx context.Context, b Batch) (Handle, error)
	// Poll returns the state of each worker, by number. An error means that nothing is
	// known, not that a worker is lost.
	Poll(ctx context.Context, h Handle) ([]WorkerState, error)
	// Cancel ends all workers, first by a signal that they can handle, and returns when
	// none is left.
	Cancel(ctx context.Context, h Handle) error
}

// Handle identifies a batch for its engine. It is plain data and is kept in the journal.
type Handle struct {
	Engine  string   `json:"engine"`
	Key     string   `json:"key"`
	Folder  string   `json:"folder"`
	Workers int      `json:"workers"`
	Jobs    []string `json:"jobs,omitempty"` // Slurm's job numbers, the latest last
}

// State is the state of a worker.
type State string

// The states of a worker.
const (
	Unknown State = "unknown" // the engine does not know it: to be restarted
	Waiting State = "waiting" // it waits for resources
	Running State = "running"
	Done    State = "done"    // it exited with 0: no task is left
	Again   State = "again"   // it was interrupted or asked for it: to be restarted
	Failed  State = "failed"  // by its exit code, a signal or lack of memory
	Stopped State = "stopped" // it was cancelled
)

// Live reports whether a worker runs or waits to run.
func (s State) Live() bool { return s == Waiting || s == Running }

// WorkerState is the state of one worker.
type WorkerState struct {
	Worker int    `json:"worker"`           // from 0
	State  State  `json:"state"`            // Unknown if the engine does not know it
	Exit   int    `json:"exit,omitempty"`   // its exit code, if it has ended by itself
	Host   string `json:"host,omitempty"`   // machine on which it runs or ran
	Detail string `json:"detail,omitempty"` // the reason, in the engine's words
	Log    string `json:"log"`              // path of its log
}

// againCode is the exit code of a worker that asks to be restarted.
const againCode = 75

// ended is the state of a worker that ended by itself.
func ended(code int) State {
	switch code {
	case 0:
		return Done
	case againCode:
		return Again
	}
	return Failed
}

// Tools are the seams that engines and fleets need.
type Tools struct {
	// Files is the file system. Required.
	Files files.FS
	// Clock measures time. Required.
	Clock Clock
	// Grace is the time between SIGTERM and SIGKILL of a cancelled worker; zero is 10 s.
	// Slurm has a setting of its own.
	Grace time.Duration
	// CommandTimeout is the timeout of a command of Slurm's; zero is 30 s.
	CommandTimeout time.Duration
}

// ensureDefaults fills unset options.
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
	name, about string // one line about it
	make        func(Tools) Engine
	refuse      func(Resources) error // returns the resources that the engine does not support
}

// engines are all registered engines. A new one is a new file and a line here.
var engines = registry.List[kind]{
	{"local", "worker processes on this machine", newLocal, Resources.local},
	{"slurm", "workers as a job array of Slurm", newSlurm, Resources.slurm},
}

// Listing returns the name and the line of help.
func (k kind) Listing() (name, about string) { return k.name, k.about }

// Engines are the names of all engines.
func Engines() []string { return engines.Names() }

// About describes an engine in one line.
func About(engine string) string {
	e, _ := engines.Find(engine)
	return e.about
}

// NewEngine makes an engine by its name.
func NewEngine(name string, t Tools) (Engine, error) {
	e, ok := engines.Find(name)
	if !ok {
		return nil, noEngine(name)
	}
	if t.Files == nil || t.Clock == nil {
		return nil, errors.New("make an engine: files or clock are missing")
	}
	t.ensureDefaults()
	return e.make(t), nil
}

func noEngine(name string) error {
	return fmt.Errorf("there is no engine %q; there are %s", name, strings.Join(Engines(), ", "))
}

// ValidateFor returns all faults of a batch for an engine, resources that it does not
// support included.
func (b Batch) ValidateFor(engine string) error {
	e, ok := engines.Find(engine)
	if !ok {
		return errors.Join(noEngine(engine), b.Validate())
	}
	return errors.Join(b.Validate(), e.refuse(b.Resources))
}

// blank is the state of workers of which nothing is known.
func (h Handle) blank() []WorkerState {
	states := make([]WorkerState, h.Workers)
	for k := range states {
		states[k] = WorkerState{Worker: k, State: Unknown, Log: LogPath(h.Folder, k)}
	}
	return states
}
